//! What a view holds once its payloads are taken out of it.

use mainstay_machine::{Command, Quarantine};
use mainstay_types::{Code, Failure, FailureKind, Sent};
use serde_json::json;

use super::story::{ITEM, POLICY, RELATED, Story};
use super::{json, view};
use crate::view::RunView;
use crate::view::text::render;

/// What nobody may see who did not ask for it.
const CANARY: &str = "canary-5f1c";

/// The view as JSON and as text.
fn both(view: &RunView) -> String {
    format!("{}\n{}", json(view), render(view))
}

fn said(kind: FailureKind, provider_code: &str) -> Failure {
    Failure::new(kind, Sent::Answered)
        .provider_code(provider_code)
        .message(format!("the body was {CANARY}"))
}

#[test]
fn contents_go_and_facts_stay() {
    let mut failed = Story::begin(1);
    failed.ask(10, RELATED);
    let strange = format!("no code but {CANARY}");
    failed.fail(
        20,
        (RELATED, 1),
        said(FailureKind::PermanentProvider, &strange),
    );
    failed.ask(30, POLICY);
    failed.fail(40, (POLICY, 1), said(FailureKind::Overloaded, "BUSY_503"));
    let mut poisoned = Story::begin(2);
    let (code, message) = (Code::TurnPanicked, format!("index {CANARY}"));
    poisoned.tell(10, Command::Quarantine(Quarantine { code, message }));
    let completed = Story::completed(3, &format!("{{\"x\":\"{CANARY}\"}}"));
    for (story, facts) in [
        (&failed, ["PERMANENT_PROVIDER", "BUSY_503"]),
        (&poisoned, ["TURN_PANICKED", "RunQuarantined"]),
        (&completed, ["ALL_SETTLED", "[payload of 19 bytes]"]),
    ] {
        let whole = view(story);
        assert!(both(&whole).contains(CANARY));
        let shown = both(&whole.without_payloads());
        assert!(!shown.contains(CANARY), "{shown}");
        for fact in facts {
            assert!(shown.contains(fact), "{fact}: {shown}");
        }
    }
}

#[test]
fn an_answer_of_a_receiver_and_a_package_are_payloads_too() {
    let mut story = Story::begin(1);
    story.draft();
    story.send_tickets();
    story.answer(600, (ITEM, 1), &format!("\"{CANARY}\""));
    let whole = view(&story);
    assert_eq!(json(&whole)["calls"][4]["effect"]["result"], CANARY);
    let shown = json(&whole.without_payloads());
    let result = &shown["calls"][4]["effect"]["result"];
    assert_eq!(result, &json!("[payload of 13 bytes]"));

    let mut story = Story::begin(2);
    story.ask(10, POLICY);
    story.ask(10, RELATED);
    story.answer(200, (POLICY, 1), &format!("\"{CANARY}\""));
    story.tell(13_000, Command::Advance);
    let whole = view(&story);
    assert_eq!(json(&whole)["package"]["policy_rag"], CANARY);
    let shown = json(&whole.without_payloads());
    assert_eq!(shown["package"]["policy_rag"], "[payload of 13 bytes]");
}
