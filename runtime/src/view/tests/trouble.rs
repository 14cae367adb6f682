//! Runs in which something went wrong: what the view says of it.

use mainstay_machine::{Command, Finding, Quarantine};
use mainstay_types::{CallId, Code, Failure, FailureKind, Millis, Payload, Sent, WorkerId};
use serde_json::{Value, json};

use super::story::{DRAFT, ITEM, POLICY, RELATED, Story};
use super::{json, told, view};

fn lost() -> Failure {
    Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent).provider_code("connection_reset")
}

fn permanent() -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::Answered).provider_code("501")
}

/// Item 0 lost its reply; item 1 was written.
fn in_doubt() -> Story {
    let mut story = Story::begin(1);
    story.draft();
    story.send_tickets();
    story.fail(610, (ITEM, 1), lost());
    story.answer(700, (CallId(5), 1), "\"T-18\"");
    story
}

#[test]
fn a_lost_reply_is_a_doubt_with_its_moments() {
    let mut story = in_doubt();
    story.look_up(900, 1, Finding::NotFound);
    let seen = view(&story);
    let shown = json(&seen);
    let item = &shown["calls"][4];
    assert_eq!(
        (&item["state"], &item["reason"]),
        (&json!("in_doubt"), &json!("WRITE_RESPONSE_LOST"))
    );
    let effect = &item["effect"];
    assert_eq!(effect["state"], "in_doubt");
    assert_eq!(effect["lookups"], 1);
    assert_eq!(effect["in_doubt_since"], "2026-11-30T09:38:20.610Z");
    assert_eq!(effect["absent_after"], "2026-11-30T09:38:26.510Z");
    assert_eq!(effect["next_lookup_at"], "2026-11-30T09:38:26.510Z");
    assert_eq!(shown["notices"], json!(["ticket_write[0] is in doubt"]));
    assert_eq!(
        shown["waiting_for"],
        json!([
            "ticket_write[0]: its effect is in doubt; the receiver is asked at \
                2026-11-30T09:38:26.510Z, \"not found\" counts from 2026-11-30T09:38:26.510Z"
        ])
    );
    assert_eq!(
        told(&seen, "AttemptSettled")[2],
        "ticket_write[0] attempt 1 failed: EFFECT_UNKNOWN, MAYBE_SENT, provider code \
         connection_reset, cost 0.1, after 100 ms"
    );
    assert_eq!(
        told(&seen, "EffectInDoubt"),
        [
            "ticket_write[0]: the effect is in doubt: WRITE_RESPONSE_LOST; the receiver is asked at \
          +0.610 s, \"not found\" counts from +6.510 s"
        ]
    );
    assert_eq!(
        told(&seen, "ControlSettled"),
        ["ticket_write[0]: look-up 1 says NOT_FOUND_INSIDE_HORIZON; the next is at +6.510 s"]
    );
}

#[test]
fn an_answer_that_was_later_stays_later_when_the_outcome_comes() {
    let mut story = in_doubt();
    story.tell(12_000, Command::Advance);
    let later = json!({
        "kind": "later",
        "why": "ANSWER_TIME_REACHED",
        "doubts": ["ticket_write[0]"],
        "keys": ["acme/ticket/id:mtg/item:0"],
        "expected_by": "2026-12-01T09:38:32.000Z",
    });
    let open = json(&view(&story));
    assert_eq!((&open["answer"], &open["outcome"]), (&later, &Value::Null));
    assert_eq!(open["state"], "waiting");
    assert_eq!(open["state_reason"], "EFFECT_IN_DOUBT");
    story.look_up(13_000, 1, Finding::Applied(Payload::from("\"T-17\"")));
    story.tell(
        13_100,
        Command::Assembled {
            result: Ok(Payload::from("{}")),
        },
    );
    let ended = view(&story);
    let shown = json(&ended);
    assert_eq!(
        (&shown["answer"], &shown["outcome"]),
        (&later, &json!("completed"))
    );
    assert_eq!(shown["calls"][4]["effect"]["reason"], "FOUND_APPLIED");
    assert_eq!(
        told(&ended, "AnsweredLater"),
        [
            "the caller was told \"later\": in doubt: ticket_write[0]; the outcome is expected by \
          +86412.000 s"
        ]
    );
}

#[test]
fn a_hand_off_carries_every_value_that_is_there() {
    let mut story = in_doubt();
    story.tell(12_000, Command::Advance);
    story.tell(86_412_000, Command::Advance);
    let shown = json(&view(&story));
    assert_eq!(
        (&shown["outcome"], &shown["reason"]),
        (&json!("handed_off"), &json!("DOUBT_WAIT_OVER"))
    );
    assert_eq!(shown["result"], Value::Null);
    assert_eq!(
        shown["package"],
        json!({
            "draft": {"actions": 2},
            "policy_rag": {"rule": 7},
            "related_tickets": [],
            "ticket_write[1]": "T-18",
        })
    );
    assert_eq!(shown["state"], "ended");
    assert_eq!(shown["waiting_for"].as_array().unwrap().len(), 1);
    story.look_up(86_500_000, 1, Finding::Applied(Payload::from("\"T-17\"")));
    let known = json(&view(&story));
    assert_eq!(
        known["addenda"],
        json!([{"call": "ticket_write[0]", "reason": "FOUND_APPLIED"}])
    );
    assert_eq!(
        (&known["state"], &known["waiting_for"]),
        (&json!("closed"), &json!([]))
    );
}

#[test]
fn a_fallback_and_an_omission_are_said() {
    let mut story = Story::begin(1);
    story.ask(10, RELATED);
    story.fail(20, (RELATED, 1), permanent());
    story.ask(30, POLICY);
    let busy = Failure::new(FailureKind::Overloaded, Sent::Answered)
        .provider_code("503")
        .message("try again")
        .retry_after(Millis::new(150));
    story.fail(40, (POLICY, 1), busy);
    story.leave(200, POLICY);
    story.fail(220, (POLICY, 2), permanent());
    story.leave(230, POLICY);
    story.answer(240, (POLICY, 3), "{}");
    let seen = view(&story);
    let shown = json(&seen);
    let (policy, related) = (&shown["calls"][0], &shown["calls"][1]);
    assert_eq!(
        (&policy["rung"], &policy["answered_by"]),
        (&json!(1), &json!("snapshot"))
    );
    let whom: Vec<&Value> = policy["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| &made["dependency"])
        .collect();
    assert_eq!(whom, ["policy", "policy", "snapshot"]);
    assert_eq!(
        (&related["state"], &related["reason"]),
        (&json!("omitted"), &json!("SAME_INPUT_FAILS"))
    );
    assert_eq!(
        shown["notices"],
        json!([
            "policy_rag answered by an approved snapshot, at most 20 min old",
            "related tickets not searched"
        ])
    );
    assert_eq!(
        shown["budget"]["retry_tokens"],
        json!({"limit": 4, "used": 1})
    );
    assert_eq!(
        told(&seen, "AttemptSettled")[1],
        "policy_rag attempt 1 failed: OVERLOADED, ANSWERED, provider code 503, cost 1, after \
         10 ms, asks to wait 150 ms"
    );
    let said: Vec<&str> = seen
        .timeline
        .iter()
        .filter_map(|row| row.said.as_deref())
        .collect();
    assert_eq!(said, ["try again"]);
    assert_eq!(
        told(&seen, "CallRescheduled"),
        [
            "policy_rag is tried again with policy from +0.190 s: RETRY_ALLOWED",
            "policy_rag is tried again with fallback 1 (snapshot) from +0.220 s: SAME_INPUT_FAILS"
        ]
    );
    assert_eq!(
        told(&seen, "AttemptStarted")[2],
        "policy_rag attempt 2 to policy may leave: timeout 3.0 s, cost 1 reserved, 1 retry token"
    );
}

#[test]
fn a_dead_process_leaves_interrupted_attempts_at_an_assumed_cost() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    let worker = WorkerId::from_bytes([2; 16]);
    let downtime = Millis::new(60_000);
    story.tell(60_010, Command::TakeOver { worker, downtime });
    let seen = view(&story);
    let shown = json(&seen);
    let attempt = &shown["calls"][0]["attempts"][0];
    assert_eq!(
        (&attempt["state"], &attempt["sent"]),
        (&json!("interrupted"), &json!("MAYBE_SENT"))
    );
    assert_eq!(attempt["ended_at"], "2026-11-30T09:39:20.010Z");
    assert_eq!(attempt["took_ms"], Value::Null, "nobody saw its end");
    assert_eq!(shown["budget"]["cost_units"]["assumed"], 1);
    assert_eq!(shown["budget"]["times"]["extended_ms"], 60_000);
    assert_eq!(shown["epoch"], 2);
    assert_eq!(
        told(&seen, "LeaseTaken"),
        [format!(
            "worker {worker} took the run over in epoch 2, 60.0 s after its last event; its times \
             move by 60.0 s"
        )]
    );
    assert_eq!(
        told(&seen, "AttemptInterrupted"),
        ["policy_rag attempt 1 was interrupted: its process is gone; cost 1, assumed"]
    );
}

#[test]
fn who_asked_to_stop_and_why_a_run_is_quarantined_is_seen() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    let (by, why) = ("uid 1000".to_owned(), "wrong minutes".to_owned());
    story.tell(20, Command::Cancel { by, why });
    let shown = json(&view(&story));
    assert_eq!(
        shown["cancel"],
        json!({"by": "uid 1000", "why": "wrong minutes"})
    );
    assert_eq!(
        (&shown["outcome"], &shown["package"]),
        (&json!("canceled"), &Value::Null)
    );

    let mut story = Story::begin(2);
    story.tell(
        10,
        Command::Quarantine(Quarantine {
            code: Code::CorruptTransition,
            message: "event LapEnded cannot follow".to_owned(),
        }),
    );
    let shown = json(&view(&story));
    assert_eq!(shown["state"], "quarantined");
    assert_eq!(
        shown["waiting_for"],
        json!(["a person: the run is quarantined: CORRUPT_TRANSITION"])
    );
}

#[test]
fn an_open_run_says_what_each_open_call_waits_for() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    let open = json(&view(&story));
    assert_eq!(
        open["waiting_for"],
        json!([
            "policy_rag: attempt 1 is out, until 2026-11-30T09:38:23.010Z at most",
            "related_tickets: its own code has to run"
        ])
    );
    assert_eq!(open["answer"], Value::Null);
    let cost = &open["calls"][0]["attempts"][0]["cost_units"];
    assert_eq!(
        (cost, &open["budget"]["cost_units"]["reserved"]),
        (&Value::Null, &json!(1))
    );
    story.answer(20, (POLICY, 1), "{}");
    story.ask(30, RELATED);
    story.answer(40, (RELATED, 1), "[]");
    story.tell(
        50,
        Command::Computed {
            call: DRAFT,
            result: Payload::from("{}"),
        },
    );
    story.tell(
        60,
        Command::Listed {
            call: super::story::TICKETS,
            items: Vec::new(),
        },
    );
    let all = json(&view(&story));
    assert_eq!(all["waiting_for"], json!(["its end to be recorded"]));
}
