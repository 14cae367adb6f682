//! A ticket service that is down, slow or busy: an outcome that the table allows, and never two
//! tickets for one action.
//!
//! Each scenario runs four ways.

use mainstay_tests::scenario::Scenario;
use mainstay_tests::seen::{HORIZON_MS, Seen};
use mainstay_tests::ways::four_ways;

/// Actions of the minutes.
const ACTIONS: usize = 3;
/// Actions where each of them is tried until nothing is left to try with.
const FEW: usize = 1;

/// As many tickets as actions, all known to the run.
fn must_be_complete(seen: &Seen<'_>) {
    assert_eq!(seen.outcome(), "completed", "{}", seen.told());
    let known = seen.view.ticket_ids().len();
    assert_eq!(known, ACTIONS, "{}", seen.told());
    assert_eq!(seen.tickets().len(), ACTIONS, "{}", seen.told());
}

/// Nothing was written, and a person is told.
fn must_be_handed_off(seen: &Seen<'_>) {
    let told = || seen.told();
    let ended = (seen.outcome(), seen.view.from.code);
    assert_eq!(ended, ("handed_off", Some(3)), "{}", told());
    let actions = seen.view.list("/package/draft/actions");
    assert_eq!(actions.len(), FEW, "{}", told());
    assert!(seen.view.ticket_ids().is_empty(), "{}", told());
    assert!(seen.tickets().is_empty(), "{}", told());
}

/// Its second attempt, after the first failed like this; the milliseconds between their starts.
fn must_have_been_tried_again(seen: &Seen<'_>, call: &str, failure: &str) -> u64 {
    let attempts = seen.view.attempts(call);
    assert_eq!(attempts.len(), 2, "{}", seen.told());
    assert_eq!(attempts[0]["failure"], failure, "{}", seen.told());
    let at = |n: usize| attempts[n]["at_ms"].as_u64().expect("a time");
    at(1) - at(0)
}

#[test]
fn a_service_that_is_not_there_hands_the_run_off_with_its_draft() {
    let test = a_service_that_is_not_there_hands_the_run_off_with_its_draft;
    let expect = |seen: &Seen<'_>| {
        must_be_handed_off(seen);
        let attempts = seen.view.attempts("ticket_write[0]");
        let mut attempts = attempts.iter();
        let unsent = attempts.all(|attempt| attempt["sent"] == "NOT_SENT");
        assert!(unsent, "{}", seen.told());
        let doubts = seen.view.events("EffectInDoubt");
        assert!(doubts.is_empty(), "{}", seen.told());
    };
    four_ways(&Scenario::of(test, FEW, expect).away().waiting());
}

#[test]
fn a_service_that_always_says_503_hands_the_run_off_and_has_no_ticket() {
    let test = a_service_that_always_says_503_hands_the_run_off_and_has_no_ticket;
    four_ways(
        &Scenario::of(test, FEW, must_be_handed_off)
            .tickets(&["unavailable,method=POST"])
            .waiting(),
    );
}

#[test]
fn a_503_now_and_then_costs_a_retry_and_nothing_else() {
    let test = a_503_now_and_then_costs_a_retry_and_nothing_else;
    let expect = |seen: &Seen<'_>| {
        must_be_complete(seen);
        let used = seen.view.number("/budget/retry_tokens/used");
        assert_eq!(used, 2, "{}", seen.told());
        must_have_been_tried_again(seen, "ticket_write[0]", "OVERLOADED");
        must_have_been_tried_again(seen, "ticket_write[2]", "OVERLOADED");
    };
    four_ways(
        &Scenario::of(test, ACTIONS, expect)
            .tickets(&["unavailable:1@0,method=POST", "unavailable:1@2,method=POST"]),
    );
}

#[test]
fn a_429_is_tried_again_when_it_says_and_not_before() {
    let test = a_429_is_tried_again_when_it_says_and_not_before;
    let expect = |seen: &Seen<'_>| {
        must_be_complete(seen);
        let waited = must_have_been_tried_again(seen, "ticket_write[1]", "RATE_LIMITED");
        assert!(2_000 <= waited, "{waited} ms\n{}", seen.told());
    };
    four_ways(
        &Scenario::of(test, ACTIONS, expect)
            .tickets(&["rate_limited:1@1,retry_after_s=2,method=POST"])
            .waiting(),
    );
}

#[test]
fn a_slow_write_within_its_time_is_answered_and_nothing_else() {
    let test = a_slow_write_within_its_time_is_answered_and_nothing_else;
    let expect = |seen: &Seen<'_>| {
        must_be_complete(seen);
        let doubts = seen.view.events("EffectInDoubt");
        assert!(doubts.is_empty(), "{}", seen.told());
        let used = seen.view.number("/budget/retry_tokens/used");
        assert_eq!(used, 0, "{}", seen.told());
    };
    four_ways(&Scenario::of(test, ACTIONS, expect).tickets(&["delay,delay_ms=700,method=POST"]));
}

#[test]
fn a_write_that_outlasts_its_timeout_is_in_doubt_until_it_cannot_land_and_then_written_once() {
    let test =
        a_write_that_outlasts_its_timeout_is_in_doubt_until_it_cannot_land_and_then_written_once;
    let expect = |seen: &Seen<'_>| {
        must_be_complete(seen);
        let waited = must_have_been_tried_again(seen, "ticket_write[2]", "EFFECT_UNKNOWN");
        let doubt = seen.view.moment("EffectInDoubt", "ticket_write[2]");
        assert!(HORIZON_MS <= waited, "{waited} ms\n{}", seen.told());
        let doubted = doubt.is_some_and(|doubt| 1_500 <= doubt);
        assert!(doubted, "{doubt:?}\n{}", seen.told());
    };
    // The timeout is 1.5 s; what waits longer than the service's bound is not committed, which the
    // client cannot know.
    four_ways(
        &Scenario::of(test, ACTIONS, expect)
            .tickets(&["delay:1@2,delay_ms=1900,method=POST"])
            .waiting(),
    );
}

#[test]
fn a_service_that_goes_down_for_a_second_gets_every_ticket_once() {
    let test = a_service_that_goes_down_for_a_second_gets_every_ticket_once;
    let expect = |seen: &Seen<'_>| {
        let (tickets, known) = (seen.tickets().len(), seen.view.ticket_ids().len());
        assert_eq!(tickets, known, "{}", seen.told());
        let is_whole = seen.view.has_result() && tickets == ACTIONS;
        let is_handed_off = seen.outcome() == "handed_off";
        assert!(is_whole || is_handed_off, "{}", seen.told());
    };
    four_ways(
        &Scenario::of(test, ACTIONS, expect)
            .tickets(&["down,for_ms=1000"])
            .unsteady()
            .waiting(),
    );
}
