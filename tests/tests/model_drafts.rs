//! The example with a model that drafts, well and badly: what becomes of it, and of its tickets.

use mainstay_tests::aimock::Aimock;
use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::model::{Says, ScriptedModel};
use mainstay_tests::place::Place;
use mainstay_tests::service::{Service, slow_writes};
use mainstay_tests::wait::until_true;
use serde_json::{Value, json};
use service_kit::Entry;

/// In answers that cannot be used; must be in nothing that is printed.
const CANARY: &str = "swordfish";

/// Minutes whose three actions anybody finds.
const MINUTES: &str = "# Sync 2026-03-04\n\n## Website\n\n- Avery will repaint the mural\n- Toby \
    will mail the printer\n- Kim will close the old repository\n";
const ACTIONS: [(u32, &str, &str); 3] = [
    (5, "Avery", "Avery will repaint the mural"),
    (6, "Toby", "Toby will mail the printer"),
    (7, "Kim", "Kim will close the old repository"),
];

/// A draft as a model may answer it: an action for each of the quotes, with titles of its own.
fn drafted(word: &str, quotes: &[(u32, &str, &str)]) -> Value {
    let action = |(line, owner, quote): &(u32, &str, &str)| {
        json!({
            "title": format!("{word}: {quote}"),
            "detail": quote,
            "owner": owner,
            "section": "somewhere",
            "evidence": {"line": line, "text": quote},
            "cue": "will",
        })
    };
    let draft = json!({
        "title": "a title of its own",
        "date": null,
        "summary_by": "somebody",
        "summary": [{"text": format!("{word} was talked about."), "section": ""}],
        "decisions": [],
        "decisions_left_out": 0,
        "actions": quotes.iter().map(action).collect::<Vec<_>>(),
        "actions_left_out": 0,
        "method": "magic",
    });
    let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 500, "total_tokens": 1_500});
    json!({"content": draft.to_string(), "usage": usage})
}

/// The fixture of the `nth` question for a draft.
fn draft_fixture(nth: u32, response: &Value) -> Value {
    json!({"match": {"userMessage": "Minutes:", "sequenceIndex": nth}, "response": response})
}

/// A run over [`MINUTES`] whose draft this server makes.
fn meeting(place: &Place, server: &Aimock) -> Meeting {
    Meeting::new(place.file("minutes.md", MINUTES), place.store())
        .with("--model-url", server.url())
        .with("--model", "small")
        .with("--model-key", "none")
        .with("--model-price", "1000000:2000000")
}

/// The titles of tickets, in the order of the draft's actions; they were written side by side.
fn titles(tickets: &[Value]) -> Vec<&str> {
    let mut tickets: Vec<&Value> = tickets.iter().collect();
    tickets.sort_by_key(|ticket| ticket["position"].as_u64());
    tickets
        .iter()
        .filter_map(|ticket| ticket["title"].as_str())
        .collect()
}

fn is_posted(service: &Service) -> bool {
    let is_write = |entry: &Entry| entry.subject.method == "POST";
    service.requests().iter().any(is_write)
}

#[test]
fn a_model_drafts_for_what_its_tokens_cost_and_its_actions_become_tickets() {
    let place = Place::new();
    let Some(server) = Aimock::serving(&[draft_fixture(0, &drafted("Model", &ACTIONS))]) else {
        return;
    };
    let command = meeting(&place, &server);
    let view = command.view();
    assert_eq!(
        (view.outcome(), view.from.code),
        ("completed", Some(0)),
        "{}",
        view.from
    );
    assert_eq!(view.text("/result/method"), "model small", "{}", view.from);
    assert_eq!(view.tickets().len(), ACTIONS.len(), "{}", view.from);
    // 1,000 tokens for 1 unit and 500 for 2 units a thousand.
    let cost = &view.attempts("draft")[0]["cost_units"];
    assert_eq!(cost, 2, "{}", view.from);
    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    let tickets = service.tickets_of(&minutes::source(&place.path("minutes.md")));
    assert_eq!(titles(&tickets)[0], "Model: Avery will repaint the mural");
    let again = command.view();
    assert_eq!(
        (again.reused(), again.run_id()),
        (true, view.run_id()),
        "{}",
        again.from
    );
    assert_eq!(server.requests().len(), 1, "the draft is asked for once");
}

#[test]
fn a_limit_of_the_model_costs_a_retry_and_the_wait_it_asks_for() {
    let limited = json!({"error": {"message": CANARY, "type": "rate_limit_error"}, "status": 429, "retryAfter": 1});
    let place = Place::new();
    let fixtures = [
        draft_fixture(0, &limited),
        draft_fixture(1, &drafted("Model", &ACTIONS)),
    ];
    let Some(server) = Aimock::serving(&fixtures) else {
        return;
    };
    let view = meeting(&place, &server).view();
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    assert_eq!(view.attempts("draft").len(), 2, "{}", view.from);
    assert!(!view.from.stdout.contains(CANARY), "{}", view.from);
}

#[test]
fn an_answer_that_breaks_its_schema_goes_to_a_person_and_no_ticket_is_written() {
    let place = Place::new();
    let content = json!({"title": CANARY, "actions": CANARY}).to_string();
    let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 0, "total_tokens": 1_000});
    let broken = json!({"content": content, "usage": usage});
    let fixtures = [
        draft_fixture(0, &broken),
        draft_fixture(1, &drafted("Model", &ACTIONS)),
    ];
    let Some(server) = Aimock::serving(&fixtures) else {
        return;
    };
    let command = meeting(&place, &server);
    let view = command.view();
    assert_eq!(
        (view.outcome(), view.from.code),
        ("handed_off", Some(3)),
        "{}",
        view.from
    );
    let failure = view.call("draft")["failure"].to_string();
    assert!(
        failure.contains("RESULT_INVALID"),
        "{failure}\n{}",
        view.from
    );
    let attempt = view.attempts("draft")[0].to_string();
    assert!(attempt.contains("ANSWER_BREAKS_SCHEMA"), "{attempt}");
    assert!(!view.from.stdout.contains(CANARY), "{}", view.from);
    assert!(view.tickets().is_empty() && view.events("EffectIntended").is_empty());
    // The same run again: its outcome stands, and the model is not asked a second time.
    assert_eq!(command.view().outcome(), "handed_off");
    assert_eq!(
        server.requests().len(),
        1,
        "mending an answer is another attempt"
    );
}

#[test]
fn actions_that_the_minutes_do_not_bear_out_are_left_out_or_end_the_draft() {
    let invented = [(5, "Mallory", "Mallory will burn the mural down")];
    let mixed = [ACTIONS[0], invented[0], ACTIONS[2]];
    let fixtures = [
        draft_fixture(0, &drafted("Model", &mixed)),
        draft_fixture(1, &drafted("Model", &invented)),
    ];
    let place = Place::new();
    let Some(server) = Aimock::serving(&fixtures) else {
        return;
    };
    let view = meeting(&place, &server).view();
    assert!(view.has_result(), "{}", view.from);
    assert_eq!(view.tickets().len(), 2, "{}", view.from);
    let missing = view.texts("/result/missing").join("\n");
    assert!(
        missing.contains("1 more action"),
        "{missing}\n{}",
        view.from
    );
    let elsewhere = Place::new();
    let view = meeting(&elsewhere, &server).view();
    assert_eq!(view.outcome(), "handed_off", "{}", view.from);
    assert!(
        view.attempts("draft")[0]
            .to_string()
            .contains("ANSWER_UNGROUNDED"),
        "{}",
        view.from
    );
}

#[test]
fn a_model_that_answers_differently_each_time_never_makes_a_second_ticket() {
    let place = Place::new();
    let fixtures: Vec<Value> = ["First", "Second", "Third"]
        .iter()
        .zip(0..)
        .map(|(word, nth)| draft_fixture(nth, &drafted(word, &ACTIONS)))
        .collect();
    let Some(server) = Aimock::serving(&fixtures) else {
        return;
    };
    let service = Service::tickets(&place.path("tickets.db"), &[]);
    service.arm(&slow_writes(1_000));
    let command = meeting(&place, &server).with("--tickets", service.url());
    let source = minutes::source(&place.path("minutes.md"));
    // Killed while its tickets are on their way: the list of them is recorded by then.
    let run = command.start();
    until_true("a ticket on its way", || is_posted(&service));
    let killed = run.kill();
    assert_eq!(killed.code, None, "{killed}");
    service.clear();
    let view = command.view();
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    let tickets = service.tickets_of(&source);
    let expected: Vec<String> = ACTIONS
        .iter()
        .map(|(_, _, quote)| format!("First: {quote}"))
        .collect();
    assert_eq!(titles(&tickets), expected, "{}", view.from);
    assert_eq!(
        server.requests().len(),
        1,
        "the recorded draft is not asked for again"
    );
}

#[test]
fn a_run_killed_while_the_model_talks_asks_again_and_takes_what_it_is_told_then() {
    let place = Place::new();
    let second = drafted("Second", &ACTIONS)["content"]
        .as_str()
        .expect("text")
        .to_owned();
    let model = ScriptedModel::saying(vec![Says::Nothing, Says::Text(second)]);
    let service = Service::tickets(&place.path("tickets.db"), &[]);
    let command = Meeting::new(place.file("minutes.md", MINUTES), place.store())
        .with("--model-url", model.url())
        .with("--model-key", "none")
        .with("--tickets", service.url());
    let run = command.start();
    until_true("the model to be asked", || !model.asked().is_empty());
    let killed = run.kill();
    assert_eq!(killed.code, None, "{killed}");
    let view = command.view();
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    let tickets = service.tickets_of(&minutes::source(&place.path("minutes.md")));
    assert_eq!(tickets.len(), ACTIONS.len(), "{}", view.from);
    assert!(
        titles(&tickets)
            .iter()
            .all(|title| title.starts_with("Second: ")),
        "{tickets:?}"
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 2, "once in each life");
    assert_eq!(asked[0], asked[1], "the same request asks the same");
}

#[test]
fn a_model_without_its_key_is_refused_with_a_hint_before_anything_is_touched() {
    let place = Place::new();
    let file = place.file("minutes.md", MINUTES);
    let ended = Meeting::new(file, place.store())
        .with("--model-url", "http://models.example/v1")
        .with("--model-key", "MAINSTAY_TESTS_NO_SUCH_KEY")
        .run()
        .with_code(1);
    assert!(ended.stderr.contains("MODEL_KEY_MISSING"), "{ended}");
    assert!(
        ended
            .stderr
            .contains("MAINSTAY_TESTS_NO_SUCH_KEY is not set"),
        "{ended}"
    );
    assert!(ended.stderr.contains("hint: "), "{ended}");
    assert!(!place.store().exists(), "{ended}");
}
