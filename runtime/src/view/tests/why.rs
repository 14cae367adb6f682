//! Why a run stands where it stands: what is told of runs in trouble, and that the numbers it names
//! are enough.

use mainstay_graph::{Contract, Criticality, NodeKind, OnLimit, TaskClass};
use mainstay_machine::{Command, Finding, Quarantine};
use mainstay_types::{CallId, Code, CostUnits, Failure, FailureKind, Millis, Sent, Tokens};
use serde_json::{Value, json};

use super::story::{ITEM, POLICY, RELATED, Story, class};
use crate::view::text::render_why;
use crate::view::why::WhyView;

fn why(story: &Story) -> WhyView {
    WhyView::of(&story.run, &story.recorded, story.at)
}

pub(super) fn seen(story: &Story) -> Value {
    serde_json::from_str(&serde_json::to_string(&why(story)).unwrap()).unwrap()
}

pub(super) fn overloaded() -> Failure {
    Failure::new(FailureKind::Overloaded, Sent::Answered)
}

pub(super) fn contract(class: &mut TaskClass, node: usize) -> &mut Contract {
    let NodeKind::Read { contract } = &mut class.nodes[node].kind else {
        panic!("node {node} is no read");
    };
    contract
}

fn transient() -> Failure {
    let failure = Failure::new(FailureKind::TransientTransport, Sent::NotSent);
    failure
        .provider_code("refused")
        .message("words of a provider")
}

fn keys(value: &Value) -> Vec<&str> {
    let keys = value.as_object().expect("an object").keys();
    keys.map(String::as_str).collect()
}

/// What is soft is out of the way.
pub(super) fn without_related(story: &mut Story) {
    story.ask(10, RELATED);
    story.answer(15, (RELATED, 1), "[]");
}

/// The class with less to spend, which waits at a limit.
pub(super) fn pausing(change: impl FnOnce(&mut TaskClass)) -> TaskClass {
    let mut class = class();
    class.on_limit = OnLimit::Pause;
    change(&mut class);
    class
}

pub(super) fn row<'v>(seen: &'v Value, list: &str, call: &str) -> &'v Value {
    let rows = seen[list].as_array().expect("a list");
    let found = rows.iter().find(|row| row["call"] == call);
    found.unwrap_or_else(|| panic!("{call} in {list}: {seen:#}"))
}

pub(super) fn change<'v>(seen: &'v Value, number: &str) -> &'v Value {
    let rows = seen["changes"].as_array().expect("a list");
    let found = rows.iter().find(|row| row["number"] == number);
    found.unwrap_or_else(|| panic!("{number}: {seen:#}"))
}

#[test]
fn the_keys_of_an_explanation_are_those_that_readers_rely_on() {
    let mut story = Story::begin_of(1, pausing(|class| class.budget.retry_tokens = Tokens::ZERO));
    story.ask(10, POLICY);
    story.fail(20, (POLICY, 1), transient());
    let seen = seen(&story);
    let (blocked, spent) = (row(&seen, "blocked", "policy_rag"), &seen["spent"]);
    for (value, expected) in [
        (
            &seen,
            "admission at because blocked blocked_more changes class lap next outcome run_id spent \
             state state_reason uncertain",
        ),
        (
            blocked,
            "call code decided numbers on_hard_path page state until why",
        ),
        (&seen["changes"][0], "calls command how is needs number"),
        (
            spent,
            "caps concurrency_tokens cost_units on retry_tokens time",
        ),
        (
            &spent["on"][0],
            "answered attempts cost_units dependency failed in_flight interrupted node \
             reserved_units retry_tokens",
        ),
        (&seen["next"][0], "at call what"),
    ] {
        assert_eq!(keys(value).join(" "), expected);
    }
}

#[test]
fn an_attempt_that_is_out_is_told_with_its_end_and_what_follows_without_an_answer() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    story.ask(10, RELATED);
    let seen = seen(&story);
    assert_eq!(seen["state"], "running");
    assert_eq!(seen["because"], "it moves: 2 attempts are out");
    let policy = row(&seen, "blocked", "policy_rag");
    assert_eq!(
        policy["why"],
        "attempt 1 to policy is out since 2026-11-30T09:38:20.010Z"
    );
    assert_eq!(policy["until"], "2026-11-30T09:38:23.010Z");
    assert_eq!(policy["code"], Value::Null);
    let next = row(&seen, "next", "policy_rag");
    assert_eq!(
        (&next["at"], &next["what"]),
        (
            &json!("2026-11-30T09:38:23.010Z"),
            &json!("attempt 1 is over by then; without an answer the call is to be tried again")
        )
    );
    let last = seen["next"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["at"], &last["what"]),
        (
            &json!("2026-11-30T09:38:32.000Z"),
            &json!("if nothing else happens, the lap ends handed_off: ANSWER_TIME_REACHED")
        )
    );
    assert_eq!(seen["changes"], json!([]));
}

#[test]
fn what_was_spent_is_told_by_node_and_dependency_and_adds_up() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    story.ask(10, RELATED);
    story.fail(20, (POLICY, 1), transient());
    story.leave(400, POLICY);
    story.answer(500, (RELATED, 1), "[]");
    let spent = &seen(&story)["spent"];
    let on = |node: &str| {
        let rows = spent["on"].as_array().unwrap();
        rows.iter().find(|row| row["node"] == node).unwrap().clone()
    };
    assert_eq!(
        on("policy_rag"),
        json!({
            "node": "policy_rag", "dependency": "policy", "attempts": 2, "answered": 0,
            "in_flight": 1, "interrupted": 0, "failed": {"TRANSIENT_TRANSPORT": 1},
            "retry_tokens": 1, "cost_units": 0, "reserved_units": 1,
        })
    );
    assert_eq!(
        (
            &on("related_tickets")["answered"],
            &on("related_tickets")["cost_units"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        spent["retry_tokens"],
        json!({"limit": 4, "used": 1, "left": 3})
    );
    assert_eq!(
        spent["concurrency_tokens"],
        json!({"limit": 5, "used": 1, "left": 4})
    );
    assert_eq!(
        spent["cost_units"],
        json!({"limit": 18, "used": 2, "left": 16})
    );
    assert_eq!(
        spent["time"],
        json!({"since_start_ms": 500, "to_answer_by_ms": 11_500, "to_work_by_ms": 11_100})
    );
}

#[test]
fn a_doubt_is_what_nobody_knows_and_no_number_helps() {
    let mut story = Story::begin(1);
    story.draft();
    story.send_tickets();
    let lost = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
    story.fail(610, (ITEM, 1), lost);
    story.answer(700, (CallId(5), 1), "\"T-18\"");
    story.look_up(900, 1, Finding::NotFound);
    let told = seen(&story);
    assert_eq!(
        (&told["state"], &told["state_reason"]),
        (&json!("waiting"), &json!("EFFECT_IN_DOUBT"))
    );
    let doubt = row(&told, "uncertain", "ticket_write[0]");
    assert_eq!(
        doubt,
        &json!({
            "call": "ticket_write[0]",
            "what": "whether its effect happened: WRITE_RESPONSE_LOST, asked 1 times",
            "key": "acme/ticket/id:mtg/item:0",
            "next_lookup_at": "2026-11-30T09:38:26.510Z",
            "absent_after": "2026-11-30T09:38:26.510Z",
        })
    );
    let helps = &told["changes"][0];
    assert_eq!(
        (&helps["number"], &helps["calls"]),
        (&Value::Null, &json!(["ticket_write[0]"]))
    );
    let run = story.run.head().unwrap().run;
    assert_eq!(
        helps["command"],
        format!("mainstay effects --run {run} --in-doubt")
    );
    assert_eq!(
        row(&told, "next", "ticket_write[0]")["what"],
        "its receiver is asked what became of it, time 2"
    );
}

/// Proven absent when it is too late to send it again under its key.
#[test]
fn a_key_that_is_too_old_is_told_with_the_memory_that_its_receiver_would_need() {
    let mut story = Story::begin_of(1, {
        let mut class = class();
        for node in &mut class.nodes {
            if let NodeKind::Each { effect, .. } = &mut node.kind {
                effect.receiver_key_ttl = Some(Millis::new(13_000));
            }
        }
        class
    });
    story.draft();
    story.send_tickets();
    let lost = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
    story.fail(610, (ITEM, 1), lost);
    story.answer(700, (CallId(5), 1), "\"T-18\"");
    story.look_up(6_510, 1, Finding::NotFound);
    let told = seen(&story);
    let helps = change(&told, "receiver_key_ttl, in ms");
    assert_eq!(helps["calls"], json!(["ticket_write[0]"]), "{told}");
    assert_eq!(helps["is"], 13_000);
    assert!(13_000 < helps["needs"].as_i64().unwrap(), "{helps}");
    let run = story.run.head().unwrap().run;
    assert_eq!(helps["command"], format!("mainstay effects --run {run}"));
}

#[test]
fn a_run_that_is_over_tells_what_stopped_it_and_that_a_lap_may_follow() {
    let mut story = Story::begin_of(1, {
        let mut class = class();
        class.budget.retry_tokens = Tokens::ZERO;
        // No snapshot to fall back to.
        class.nodes[0] = class.nodes[1].clone();
        class.nodes[0].name = mainstay_types::NodeName::new("policy_rag").unwrap();
        class.nodes[0].criticality = Criticality::Hard;
        class
    });
    without_related(&mut story);
    story.ask(20, POLICY);
    story.fail(30, (POLICY, 1), transient());
    let told = seen(&story);
    assert_eq!(told["outcome"], "handed_off");
    let policy = row(&told, "blocked", "policy_rag");
    assert_eq!(policy["code"], "RETRY_TOKENS_EXHAUSTED");
    let decided = policy["decided"].as_str().unwrap();
    assert!(decided.contains("retries allowed: run 0"), "{decided}");
    let tokens = change(&told, "retry_tokens");
    assert_eq!((&tokens["is"], &tokens["needs"]), (&json!(0), &json!(1)));
    assert_eq!(
        tokens["command"],
        Value::Null,
        "a lap that is over is not raised"
    );
    let last = told["changes"].as_array().unwrap().last().unwrap();
    let run = story.run.head().unwrap().run;
    assert_eq!(
        last["command"],
        format!("mainstay run continue {run} --by WHO --why WHY")
    );
    let completed = seen(&Story::completed(1, "{}"));
    assert_eq!(
        (&completed["changes"], &completed["next"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(
        completed["because"],
        "it is over: lap 1 ended completed: ALL_SETTLED"
    );
}

#[test]
fn a_run_that_does_not_fit_its_time_tells_what_its_admission_compared() {
    let mut class = class();
    class.times.answer_by = Millis::new(700);
    let story = Story::begin_of(1, class);
    let told = seen(&story);
    assert_eq!(told["outcome"], "rejected", "{told:#}");
    assert_eq!(told["admission"]["verdict"], "rejected");
    let time = change(&told, "time to answer_by, in ms");
    assert_eq!(
        (&time["is"], &time["needs"]),
        (&told["admission"]["left_ms"], &told["admission"]["need_ms"])
    );
    assert!(time["is"].as_u64() < time["needs"].as_u64());
}

#[test]
fn a_quarantined_run_and_one_without_code_say_who_has_to_act() {
    let mut story = Story::begin(1);
    story.tell(
        10,
        Command::Quarantine(Quarantine {
            code: Code::TurnPanicked,
            message: "words of a panic".to_owned(),
        }),
    );
    let told = seen(&story);
    assert_eq!(
        told["because"],
        "it is quarantined and not driven until a person looks: TURN_PANICKED"
    );
    assert!(!told.to_string().contains("words of a panic"));
    assert_eq!(told["next"], json!([]));
    let driven = why(&Story::begin(1)).without_code(Code::ClassUnknown, "minutes v3");
    assert_eq!((driven.state, driven.next.len()), ("waiting_for_code", 0));
    assert!(driven.changes[0].how.contains("minutes v3"));
}

#[test]
fn the_text_says_all_of_it_and_no_word_of_a_provider() {
    let mut story = Story::begin_of(1, pausing(|class| class.budget.retry_tokens = Tokens::ZERO));
    without_related(&mut story);
    story.ask(20, POLICY);
    story.fail(30, (POLICY, 1), transient());
    story.tell(2_500, Command::Advance);
    let text = render_why(&why(&story));
    for said in [
        "paused: RETRY_TOKENS_EXHAUSTED",
        "what it waits for",
        "policy_rag (hard, ready)",
        "what comes next",
        "what would have to change",
        "retry_tokens is 0, needs 1",
        "--retries 1",
        "0 of 0, 0 left",
        "1 TRANSIENT_TRANSPORT",
    ] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
    assert!(!text.contains("words of a provider"));
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn what_a_provider_reports_is_added_up_without_an_end() {
    for failure in [overloaded().client_retries(u32::MAX), {
        let mut dear = overloaded();
        dear.cost = Some(CostUnits::micros(u64::MAX));
        dear
    }] {
        let mut story = Story::begin_of(
            1,
            pausing(|class| class.budget.retry_tokens = Tokens::new(1)),
        );
        without_related(&mut story);
        story.ask(20, POLICY);
        story.fail(30, (POLICY, 1), failure);
        story.tell(2_500, Command::Advance);
        let told = seen(&story);
        assert_eq!(told["state"], "paused");
        assert!(!told["changes"].as_array().unwrap().is_empty(), "{told:#}");
    }
}

#[test]
fn a_run_that_waits_for_a_place_of_a_dead_attempt_says_so() {
    let mut story = Story::begin_of(1, {
        let mut class = class();
        class.budget.concurrency_tokens = Tokens::new(1);
        class
    });
    story.ask(10, POLICY);
    story.take_over(500);
    story.prepare(600, RELATED);
    let told = seen(&story);
    assert_eq!(
        told["because"],
        "nothing of it may start now: see what each call waits for"
    );
    let policy = row(&told, "blocked", "policy_rag");
    assert_eq!(
        (&policy["code"], &policy["until"]),
        (
            &json!("CONCURRENCY_EXHAUSTED"),
            &json!("2026-11-30T09:38:23.010Z")
        )
    );
    let place = told["next"].as_array().unwrap().iter();
    let mut place = place.filter(|row| row["at"] == "2026-11-30T09:38:23.010Z");
    assert!(
        place.any(|row| row["what"].as_str().unwrap().contains("a place is free")),
        "{told:#}"
    );
}
