//! Take-overs: what was out belongs to a dead process; nothing is asked twice without a token.

use crate::scenario::check;

#[test]
fn an_interrupted_read_is_paid_at_its_estimate_and_tried_again_for_a_token() {
    check(
        "
        read   policy cost=2
        start  retry=1
        crash  -> AttemptInterrupted policy/1, budget spent=2 assumed=2 retry=1 reserved=2, out policy, \
               attempts policy 2
        answer policy -> completed
    ",
    );
}

#[test]
fn an_interrupted_read_without_a_token_goes_to_its_fallback() {
    check(
        "
        read   policy fallback=snapshot
        start  retry=0
        crash  -> CallRescheduled policy rung=1 RETRY_TOKENS_EXHAUSTED, out policy
        answer policy -> degraded
    ",
    );
}

#[test]
fn an_interrupted_snapshot_asks_no_provider_and_needs_no_token() {
    check(
        "
        read   policy fallback=snapshot
        start  retry=0
        fail   policy PERMANENT_PROVIDER -> rung policy 1
        crash  -> out policy, budget retry=0
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_call_that_is_killed_again_and_again_stops_when_its_tokens_are_used_up() {
    check(
        "
        read   policy
        start  retry=2
        crash  -> out policy
        crash  -> out policy
        crash  -> CallFailed policy RETRY_TOKENS_EXHAUSTED, handed_off, budget retry=2
    ",
    );
}

#[test]
fn the_same_worker_takes_nothing_over() {
    check(
        "
        read   policy
        start  -> epoch 1
        crash  -> epoch 2
        retake -> nothing, epoch 2, out policy
        answer policy -> completed
    ",
    );
}

#[test]
fn a_run_that_was_told_later_is_found_reconciled_and_completed_after_a_kill() {
    check(
        "
        write  order
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 12s -> later order
        down 1m -> LeaseTaken, lookup order 0ms, no AttemptStarted
        find   order applied -> completed, closed
    ",
    );
}

#[test]
fn a_new_owner_asks_about_a_doubt_at_once_however_long_the_last_one_would_have_waited() {
    check(
        "
        write  order timeout=2s
        start  answer_by=300s
        lose   order
        find   order cannot_tell
        at 20s
        find   order cannot_tell
        at 40s
        find   order cannot_tell
        at 80s
        find   order cannot_tell draw=4000000000
        crash  -> lookup order 80s
        find   order applied -> completed
    ",
    );
}

#[test]
fn a_run_with_its_outcome_and_a_doubt_keeps_it_after_a_kill() {
    check(
        "
        write  order
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 3612s -> handed_off
        down 1h -> handed_off DOUBT_WAIT_OVER, ended
        find   order applied -> addendum order FOUND_APPLIED, handed_off, closed
    ",
    );
}

#[test]
fn a_write_that_is_out_when_the_wait_is_over_is_settled_into_an_addendum() {
    check(
        "
        write  order timeout=60s attempts=3
        start  answer_by=60s doubt_wait=0ms
        at 60s -> handed_off DOUBT_WAIT_OVER, out order, ended
        fail   order RATE_LIMITED -> EffectAbsent order, addendum order REFUSED_BY_RECEIVER, \
               no AttemptStarted, closed
    ",
    );
}

#[test]
fn a_read_whose_process_died_keeps_its_place_until_its_timeout() {
    check(
        "
        read   a timeout=2s
        start  concurrency=1 retry=4 answer_by=30s -> out a
        at     500ms
        crash  -> out, wake 2s
        may    a -> CONCURRENCY_EXHAUSTED in_flight=0 held=1 limit=1
        at     2s -> out a
        answer a -> completed
    ",
    );
}

#[test]
fn what_is_held_counts_beside_what_is_out_and_not_for_work_in_the_process() {
    check(
        "
        read   a timeout=2s
        read   b timeout=4s
        result a b
        start  concurrency=2 retry=4 answer_by=30s -> out a b
        at     1s
        crash  -> out
        at     2s -> out a
        at     4s -> out a b
    ",
    );
    check(
        "
        read   a timeout=2s fallback=local
        start  concurrency=1 retry=4 answer_by=30s -> out a
        fail   a PERMANENT_PROVIDER -> out a, rung a 1
        crash  -> out a
        answer a -> degraded
    ",
    );
}

#[test]
fn a_place_that_a_dead_attempt_may_have_until_it_is_too_late_is_not_waited_for() {
    check(
        "
        read   a timeout=12s estimate=500ms fallback=local
        start  concurrency=1 retry=3 answer_by=12s -> out a
        crash  -> out a, rung a 1, NextDecided a fallback DEADLINE_EXHAUSTED held=1 limit=1
        answer a -> degraded
    ",
    );
    check(
        "
        read   a timeout=3s estimate=500ms fallback=local
        start  concurrency=1 retry=3 answer_by=12s -> out a
        crash  -> out, wake 3s
        at     3s -> out a, rung a 0
        answer a -> completed
    ",
    );
}
