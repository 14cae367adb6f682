//! What a person says of an effect: believed as the receiver would be, and never of what is known.

use crate::scenario::check;

#[test]
fn a_doubt_that_only_a_person_can_resolve_goes_on_by_their_word() {
    check(
        "
        write  order attempts=2 timeout=2s bound=500ms resolve=by_human
        start  retry=1 answer_by=30s
        lose   order              -> waiting, no lookup
        settle order applied      -> EffectSettledByHand order applied, EffectApplied order \
               SETTLED_BY_HAND, completed
    ",
    );
}

#[test]
fn not_applied_is_refused_while_a_request_may_land_and_then_sent_again_under_the_same_key() {
    check(
        "
        write  order attempts=2 timeout=2s bound=500ms resolve=by_human
        start  retry=1 answer_by=30s
        lose   order
        settle order not_applied  -> SETTLE_REFUSED wait_ms=3500, no EffectSettledByHand
        at 3499ms
        settle order not_applied  -> SETTLE_REFUSED wait_ms=1
        at 3500ms
        settle order not_applied  -> EffectSettledByHand order not_applied, EffectAbsent order \
               SETTLED_BY_HAND, AttemptStarted order/2, no EffectIntended, budget retry=1
        answer order              -> completed
    ",
    );
}

#[test]
fn a_person_s_not_applied_lets_a_key_be_sent_that_its_receiver_has_forgotten() {
    check(
        "
        write  order attempts=2 timeout=2s bound=500ms ttl=20s
        start  retry=1 answer_by=2m
        lose   order
        at 1m                     -> no lookup order
        settle order not_applied  -> EffectAbsent order SETTLED_BY_HAND, AttemptStarted order/2
    ",
    );
}

#[test]
fn applied_may_be_said_at_once_and_also_where_a_machine_could_have_asked() {
    check(
        "
        write  order resolve=by_key
        start  answer_by=30s
        lose   order              -> lookup order 0s
        settle order applied      -> completed
        settle order applied      -> no EffectSettledByHand, completed
        settle order not_applied  -> SETTLE_REFUSED, no EffectSettledByHand
    ",
    );
}

#[test]
fn nobody_settles_what_is_known_what_is_out_or_what_was_never_sent() {
    check(
        "
        read   draft
        write  order needs=draft attempts=2
        start  retry=1 answer_by=30s
        settle order applied      -> SETTLE_REFUSED
        answer draft
        settle order applied      -> SETTLE_REFUSED
        answer order              -> completed
        settle order not_applied  -> SETTLE_REFUSED, no EffectSettledByHand
    ",
    );
}

#[test]
fn a_word_about_an_attempt_before_the_newest_is_refused() {
    check(
        "
        write  order attempts=3 timeout=2s bound=500ms
        start  retry=2 answer_by=30s
        lose   order
        at 3500ms
        find   order absent       -> AttemptStarted order/2
        lose   order
        settle order applied of=1 -> SETTLE_REFUSED, no EffectSettledByHand
        settle order applied of=2 -> completed
    ",
    );
}

#[test]
fn after_the_outcome_it_is_an_addendum_and_closes_the_run() {
    check(
        "
        write  order resolve=by_human
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 12s -> later order
        at 3612s -> handed_off DOUBT_WAIT_OVER, ended, no RunClosed
        settle order applied      -> EffectApplied order SETTLED_BY_HAND, \
               addendum order SETTLED_BY_HAND, RunClosed, closed, handed_off DOUBT_WAIT_OVER
    ",
    );
}

#[test]
fn what_was_partly_applied_is_settled_too_and_opens_again_in_the_next_lap_when_it_was_not() {
    check(
        "
        write  order attempts=2
        start  retry=1 answer_by=12s doubt_wait=1h
        lose   order
        find   order partly       -> EffectPartlyApplied order, handed_off, closed
        continue                  -> LapStarted, handed_off
        settle order not_applied  -> EffectAbsent order SETTLED_BY_HAND, \
               addendum order SETTLED_BY_HAND
        continue                  -> LapStarted, AttemptStarted order/2, no EffectIntended
        answer order              -> completed
    ",
    );
    check(
        "
        write  order attempts=2
        start  retry=1 answer_by=12s doubt_wait=1h
        lose   order
        find   order partly       -> EffectPartlyApplied order, handed_off, closed
        settle order applied      -> EffectApplied order SETTLED_BY_HAND
        continue                  -> completed, no AttemptStarted
    ",
    );
}

#[test]
fn an_item_of_a_list_is_settled_by_itself() {
    check(
        "
        list   tickets 3
        each   tickets attempts=2 resolve=by_human
        start  retry=1 answer_by=12s doubt_wait=1h concurrency=3
        answer tickets[0]
        lose   tickets[1]
        answer tickets[2]
        settle tickets[1] applied -> completed
    ",
    );
}

#[test]
fn a_quarantined_run_hears_it_too_and_goes_on_once_it_is_driven_again() {
    check(
        "
        write  order resolve=by_human
        local  report needs=order
        start  answer_by=30s doubt_wait=1h
        lose   order
        quarantine TURN_PANICKED it broke
        settle order applied      -> EffectApplied order SETTLED_BY_HAND
        continue                  -> completed
    ",
    );
}
