//! The JSON shape, which others read, and the numbers in it.

use mainstay_machine::view::summary;
use serde_json::{Value, json};

use super::story::{self, Story};
use super::{RunView, json, told, view};
use crate::view::SummaryRow;

fn keys(value: &Value) -> String {
    let keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.join(" ")
}

#[test]
fn the_keys_of_a_view_are_those_that_readers_rely_on() {
    let seen = json(&view(&Story::completed(1, "{}")));
    assert_eq!(
        keys(&seen),
        "addenda answer budget calls cancel class ended_at epoch lap laps notices outcome package \
         reason result run_id start_key state state_reason tenant terminated timeline took_ms \
         waiting_for"
    );
    assert_eq!(keys(&seen["class"]), "fingerprint name version");
    assert_eq!(
        keys(&seen["budget"]),
        "caps concurrency_tokens cost_units retry_tokens times"
    );
    let lap = &seen["laps"][0];
    assert_eq!(
        keys(lap),
        "admission answer_by continued cost_units ended_at lap outcome raises reason \
         retry_tokens started_at"
    );
    assert_eq!(
        keys(&lap["admission"]),
        "deliver_ms left_ms need_ms observed path_ms queue_ms reconcile_ms synthesis_ms verdict"
    );
    let call = &seen["calls"][0];
    assert_eq!(
        keys(call),
        "answered_by attempts criticality dependency effect failure key_holder kind node path \
         reason rung state"
    );
    assert_eq!(
        keys(&call["attempts"][0]),
        "at_ms cost_units dependency ended_at epoch failure message no provider_code \
         reserved_units retry_tokens rung sent started_at state timeout_ms took_ms"
    );
    assert_eq!(
        keys(&seen["timeline"][0]),
        "at at_ms call epoch event said seq text"
    );
}

#[test]
fn a_completed_run_is_seen_whole() {
    let seen = json(&view(&Story::completed(1, "{}")));
    assert_eq!(seen["state"], "closed");
    assert_eq!(seen["waiting_for"], json!([]));
    assert_eq!(seen["answer"], json!({"kind": "ready"}));
    assert_eq!(seen["outcome"], "completed");
    assert_eq!(seen["reason"], "ALL_SETTLED");
    assert_eq!(seen["package"], Value::Null);
    assert_eq!(seen["ended_at"], "2026-11-30T09:38:20.900Z");
    assert_eq!(seen["took_ms"], 900);
    assert_eq!(
        seen["budget"]["times"],
        json!({
            "started_at": "2026-11-30T09:38:20.000Z",
            "answer_by": "2026-11-30T09:38:32.000Z",
            "work_by": "2026-11-30T09:38:31.600Z",
            "expires_at": null,
            "doubt_until": "2026-12-01T09:38:32.000Z",
            "extended_ms": 0,
            "on_downtime": {"kind": "extend", "ms_max": 3_600_000},
        })
    );
    let tokens = &seen["budget"]["concurrency_tokens"];
    assert_eq!(
        tokens,
        &json!({"limit": 5, "used": 2, "in_flight": 0, "held_until": []})
    );
    let paths: Vec<&Value> = seen["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["path"])
        .collect();
    assert_eq!(
        paths,
        [
            "policy_rag",
            "related_tickets",
            "draft",
            "ticket_write",
            "ticket_write[0]",
            "ticket_write[1]"
        ]
    );
}

#[test]
fn attempts_carry_when_they_began_and_ended_and_effects_their_keys() {
    let seen = json(&view(&Story::completed(1, "{}")));
    let attempt = &seen["calls"][0]["attempts"][0];
    assert_eq!(attempt["started_at"], "2026-11-30T09:38:20.010Z");
    assert_eq!(attempt["ended_at"], "2026-11-30T09:38:20.322Z");
    assert_eq!(
        (&attempt["at_ms"], &attempt["took_ms"]),
        (&json!(10), &json!(312))
    );
    assert_eq!(
        (&attempt["state"], &attempt["sent"]),
        (&json!("answered"), &json!("ANSWERED"))
    );
    let item = &seen["calls"][4];
    assert_eq!(
        (&item["kind"], &item["state"]),
        (&json!("item"), &json!("settled"))
    );
    assert_eq!(
        item["effect"],
        json!({
            "key": "acme/ticket/id:mtg/item:0",
            "state": "applied",
            "reason": "ANSWERED",
            "result": "T-17",
            "first_sent_at": "2026-11-30T09:38:20.510Z",
            "lookups": 0,
            "in_doubt_since": null,
            "next_lookup_at": null,
            "settled_by": null,
            "absent_after": null,
        })
    );
}

#[test]
fn amounts_and_results_reach_json_without_passing_through_a_double() {
    let result = r#"{"big":18446744073709551615,"small":0.1,"text":"회의"}"#;
    let text = serde_json::to_string(&view(&Story::completed(1, result))).unwrap();
    assert!(text.contains(&format!("\"result\":{result}")), "{text}");
    let costs = r#""cost_units":{"limit":18,"used":2.2,"reserved":0,"assumed":0}"#;
    assert!(text.contains(costs), "{text}");
    assert!(text.contains(r#""cost_units":0.1,"#), "{text}");
}

#[test]
fn stored_bytes_that_are_no_json_are_shown_as_a_text() {
    let seen = json(&view(&Story::completed(1, "{broken")));
    assert_eq!(seen["result"], "{broken");
}

#[test]
fn without_events_the_view_has_no_timeline_and_no_ends_of_attempts() {
    let story = Story::completed(1, "{}");
    let seen = json(&RunView::of(&story.run, &[]));
    assert_eq!(seen["timeline"], json!([]));
    let attempt = &seen["calls"][0]["attempts"][0];
    assert_eq!(
        (&attempt["ended_at"], &attempt["took_ms"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(attempt["state"], "answered");
}

#[test]
fn every_event_has_its_sentence_in_order() {
    let story = Story::completed(1, "{}");
    let seen = view(&story);
    assert_eq!(seen.timeline.len(), story.recorded.len());
    assert!((1..).zip(&seen.timeline).all(|(seq, row)| row.seq == seq));
    let first = "minutes v3 started for acme, key mtg-1: answer by +12.000 s, work by +11.600 s; \
                 4 retry tokens, 5 concurrency tokens, 18 cost units";
    assert_eq!(told(&seen, "RunStarted"), [first]);
    assert_eq!(
        told(&seen, "ListRecorded"),
        ["ticket_write: the list is fixed: 2 items"]
    );
    assert_eq!(
        told(&seen, "AttemptStarted")[0],
        "policy_rag attempt 1 to policy may leave: timeout 3.0 s, cost 1 reserved"
    );
    assert_eq!(
        told(&seen, "AttemptSettled")[2],
        "ticket_write[1] attempt 1 answered: cost 0.1, after 190 ms"
    );
    assert_eq!(
        told(&seen, "EffectIntended")[0],
        "ticket_write[0]: the effect is intended under key acme/ticket/id:mtg/item:0"
    );
    assert_eq!(
        told(&seen, "LapEnded"),
        ["the lap ended completed after 900 ms: ALL_SETTLED, result of 2 bytes"]
    );
}

#[test]
fn a_row_of_a_listing_needs_the_summary_alone() {
    let row = SummaryRow::of(&summary(&Story::completed(1, "{}").run).unwrap());
    assert_eq!(
        serde_json::to_value(&row).unwrap(),
        json!({
            "run_id": story::run_id(1).to_string(),
            "class": {
                "name": "minutes",
                "version": 3,
                "fingerprint": story::class().fingerprint().to_string(),
            },
            "tenant": "acme",
            "start_key": "mtg-1",
            "state": "closed",
            "state_reason": null,
            "lap": 1,
            "outcome": "completed",
            "in_doubt": 0,
            "started_at": "2026-11-30T09:38:20.000Z",
            "ended_at": "2026-11-30T09:38:20.900Z",
            "took_ms": 900,
        })
    );
}
