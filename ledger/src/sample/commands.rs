//! One sample of every inbox command, and of every shape inside it.
//!
//! Append only: each is a golden file of its own, under its name here.

use mainstay_machine::{
    AskCompensate, AskOrphan, AskRaise, AskSettle, AskTool, FoundByOther, OrphanWish, Ruling,
    SettleEnd,
};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, Digest, Failure, FailureKind, LapNo, Millis, NodeId, Payload,
    RunId, Sent,
};

use super::{at, effect_key};
use crate::inbox::InboxCommand;

/// Every sample command, with its name.
#[must_use]
pub fn commands() -> Vec<(&'static str, InboxCommand)> {
    let person = || ("uid 1000".to_owned(), "too late".to_owned());
    let settle = |end| InboxCommand::Settle {
        call: CallId(301),
        attempt: AttemptNo(2),
        end,
    };
    let answered = SettleEnd::Answered {
        result: Payload::from(r#"{"id":"T-1"}"#),
        cost: Some(CostUnits::milli(100)),
        client_retries: 1,
    };
    let failure = Failure::new(FailureKind::RateLimited, Sent::Answered)
        .provider_code("429")
        .retry_after(Millis::from_secs(2));
    let ((by, why), from) = (person(), LapNo(1));
    let continued = InboxCommand::Continue { from, by, why };
    let (by, why) = person();
    let terminated = InboxCommand::Terminate { by, why };
    let (by, why) = person();
    let key = effect_key("mtg-4711", 4);
    let raise = super::events::raise();
    let raised = AskRaise {
        lap: LapNo(1),
        after: 2,
        more: raise.more,
        by: raise.by,
        why: raise.why,
    };
    let settled = AskSettle {
        call: CallId(301),
        attempt: AttemptNo(2),
        ruling: Ruling::Applied,
        result: Payload::from(r#"{"id":"T-1"}"#),
        by: "anna (uid:1000)".to_owned(),
        why: "it is in their list".to_owned(),
    };
    let undone = AskCompensate {
        call: CallId(301),
        after: 0,
        by: "anna (uid:1000)".to_owned(),
        why: "the customer changed their mind".to_owned(),
    };
    let asked = AskTool {
        tools: CallId(7),
        id: "call_1".to_owned(),
        tool: NodeId(6),
        prepared: super::events::prepared(r#"{"item":"desk"}"#, None),
        told: vec!["call_0".to_owned()],
    };
    vec![
        ("cancel", InboxCommand::Cancel { by, why }),
        ("terminate", terminated),
        ("continue", continued),
        ("settle-answered", settle(answered)),
        ("settle-failed", settle(SettleEnd::Failed(failure))),
        ("key-settled", InboxCommand::KeySettled { key }),
        ("raise", InboxCommand::Raise(raised)),
        ("settle-by-hand", InboxCommand::SettleByHand(settled)),
        ("compensate", InboxCommand::Compensate(undone)),
        ("tool-call", InboxCommand::ToolCall(Box::new(asked))),
        (
            "orphan-adopt",
            orphan(OrphanWish::Adopt { until: at(90_000) }),
        ),
        ("orphan-close", orphan(OrphanWish::Close)),
        ("found-by-other", found()),
        ("tools-done", InboxCommand::ToolsDone { call: CallId(7) }),
    ]
}

fn found() -> InboxCommand {
    InboxCommand::FoundByOther(Box::new(FoundByOther {
        key: effect_key("mtg-4711", 4),
        fingerprint: Digest::of(b"a request"),
        result: Payload::from(r#"{"id":"T-1"}"#),
        run: RunId::from_bytes([7; 16]),
        call: CallId(301),
        attempt: AttemptNo(2),
    }))
}

fn orphan(wish: OrphanWish) -> InboxCommand {
    InboxCommand::Orphan(AskOrphan {
        call: CallId(301),
        attempt: AttemptNo(2),
        wish,
        after: 1,
        by: "anna (uid:1000)".to_owned(),
        why: "it is our search".to_owned(),
    })
}
