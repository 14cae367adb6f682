//! A write whose reply is lost: in doubt, found, applied; it holds up nothing and writes nothing
//! twice.
//!
//! Each scenario runs four ways.

use mainstay_tests::scenario::Scenario;
use mainstay_tests::seen::{HORIZON_MS, Seen};
use mainstay_tests::ways::four_ways;

/// The item whose reply is lost.
const LOST: &str = "ticket_write[3]";
/// Its place in the list.
const LOST_AT: usize = 3;
/// Actions of the minutes: more than there are concurrency tokens, so that some wait for others.
const ACTIONS: usize = 7;
fn must_be_complete(seen: &Seen<'_>) {
    let told = || seen.told();
    assert_eq!(seen.outcome(), "completed", "{}", told());
    assert_eq!(seen.view.tickets().len(), ACTIONS, "{}", told());
    assert_eq!(seen.tickets().len(), ACTIONS, "{}", told());
    assert_eq!(seen.view.events("EffectInDoubt").len(), 1, "{}", told());
}

/// Item 3 was sent once, in doubt, looked up and found; every other item just answered.
fn must_be_found(seen: &Seen<'_>) {
    must_be_complete(seen);
    let told = || seen.told();
    let call = seen.view.call(LOST);
    assert_eq!(call["state"], "settled", "{}", told());
    assert_eq!(call["effect"]["state"], "applied", "{}", told());
    assert_eq!(call["effect"]["reason"], "FOUND_APPLIED", "{}", told());
    let [attempt] = &seen.view.attempts(LOST)[..] else {
        panic!("one attempt\n{}", told());
    };
    assert_eq!(attempt["state"], "failed", "{}", told());
    assert_eq!(attempt["sent"], "MAYBE_SENT", "{}", told());
    must_have_learned_it_in_order(seen);
    let looked_up = seen.asked_of(LOST).len() - seen.requests(LOST).len();
    assert!(0 < looked_up, "{}", told());
    for item in 0..ACTIONS {
        let item = format!("ticket_write[{item}]");
        assert_eq!(seen.requests(&item).len(), 1, "{item}\n{}", told());
    }
}

fn must_have_learned_it_in_order(seen: &Seen<'_>) {
    let events = [
        "AttemptStarted",
        "AttemptSettled",
        "EffectInDoubt",
        "EffectApplied",
    ];
    let places = |event: &&str| -> Vec<u64> {
        let rows = seen.view.events_of(event, LOST);
        rows.iter().filter_map(|row| row["seq"].as_u64()).collect()
    };
    let order: Vec<Vec<u64>> = events.iter().map(places).collect();
    let is_once = order.iter().all(|seqs| seqs.len() == 1);
    assert!(is_once && order.is_sorted(), "{order:?}\n{}", seen.told());
}

/// Every item behind item 3 was settled while item 3 was still in doubt.
fn must_not_be_held_up(seen: &Seen<'_>) {
    let found = seen.view.moment("EffectApplied", LOST);
    let found = found.unwrap_or_else(|| panic!("{LOST} is not settled\n{}", seen.told()));
    for item in LOST_AT + 1..ACTIONS {
        let settled = seen
            .view
            .moment("EffectApplied", &format!("ticket_write[{item}]"));
        let settled = settled.unwrap_or_else(|| panic!("item {item}\n{}", seen.told()));
        assert!(
            settled < found,
            "item {item} at {settled}, item 3 at {found}\n{}",
            seen.told()
        );
    }
}

#[test]
fn a_reply_dropped_after_the_commit_is_found_and_holds_up_no_other_item() {
    let test = a_reply_dropped_after_the_commit_is_found_and_holds_up_no_other_item;
    let expect = |seen: &Seen<'_>| {
        must_be_found(seen);
        must_not_be_held_up(seen);
    };
    // The first look-ups get no answer either, so that the doubt lasts.
    four_ways(&Scenario::of(test, ACTIONS, expect).tickets(&[
        "commit_then_drop:1@3",
        "drop:2,method=GET,path=/tickets/by-key",
    ]));
}

#[test]
fn a_reply_lost_by_the_fault_flag_is_found_by_its_key() {
    let test = a_reply_lost_by_the_fault_flag_is_found_by_its_key;
    four_ways(
        &Scenario::of(test, ACTIONS, must_be_found)
            .flag("--fault", "ticket_write[3]=effect_unknown:1"),
    );
}

#[test]
fn a_reply_dropped_before_the_commit_is_proven_absent_and_the_same_key_is_sent_again() {
    let test = a_reply_dropped_before_the_commit_is_proven_absent_and_the_same_key_is_sent_again;
    let expect = |seen: &Seen<'_>| {
        must_be_complete(seen);
        must_not_be_held_up(seen);
        assert_eq!(seen.view.attempts(LOST).len(), 2, "{}", seen.told());
        let [absent] = seen.view.events_of("EffectAbsent", LOST)[..] else {
            panic!("one proof\n{}", seen.told());
        };
        let sent = seen.view.attempts(LOST)[0]["at_ms"].as_u64();
        let waited = absent["at_ms"].as_u64().zip(sent);
        let waited = waited.map(|(absent, sent)| absent - sent);
        let is_late = waited.is_some_and(|waited| HORIZON_MS <= waited);
        assert!(is_late, "{waited:?} ms\n{}", seen.told());
    };
    four_ways(
        &Scenario::of(test, ACTIONS, expect)
            .tickets(&["drop_before_commit:1@3"])
            .waiting(),
    );
}
