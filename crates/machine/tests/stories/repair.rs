//! A reply that does not keep its schema is asked for once more with what was wrong, and no more.

use crate::scenario::check;

#[test]
fn a_repair_has_a_request_of_its_own_and_costs_one_retry_token() {
    check(
        "
        read   policy attempts=1 repair=yes fallback=cache
        start  retry=2
        fail   policy RESULT_INVALID -> NextDecided policy repair REPAIR_ALLOWED, \\
               RepairWanted policy, CallPrepared policy, out policy, rung policy 0, budget retry=1
        answer policy -> completed
    ",
    );
}

#[test]
fn the_second_reply_that_is_wrong_goes_to_the_next_rung_with_the_first_request() {
    check(
        "
        read   policy attempts=3 repair=yes fallback=cache
        start  retry=2
        fail   policy RESULT_INVALID -> out policy, budget retry=1
        fail   policy RESULT_INVALID -> NextDecided policy fallback SAME_INPUT_FAILS, rung policy 1
        fail   policy RESULT_INVALID -> NextDecided policy fail, no RepairWanted, handed_off
    ",
    );
}

#[test]
fn without_a_token_or_the_time_there_is_no_repair() {
    check(
        "
        read   policy repair=yes fallback=cache
        start  retry=0
        fail   policy RESULT_INVALID -> NextDecided policy fallback, no RepairWanted, rung policy 1
    ",
    );
    check(
        "
        read   policy repair=yes estimate=1s timeout=3s fallback=cache
        start  retry=2 answer_by=3s
        at     2500ms
        fail   policy RESULT_INVALID -> NextDecided policy fallback, no RepairWanted, rung policy 1
    ",
    );
}

#[test]
fn a_failure_of_another_kind_repeats_the_repaired_request() {
    check(
        "
        read   policy attempts=3 repair=yes
        start  retry=4
        fail   policy RESULT_INVALID -> out policy
        fail   policy OVERLOADED -> NextDecided policy retry, out policy
        answer policy -> completed, budget retry=2
    ",
    );
}

#[test]
fn code_that_cannot_ask_again_leaves_the_call_to_its_next_rung() {
    check(
        "
        read   policy repair=yes fallback=cache
        start  retry=2
        break  policy INVALID_INPUT
        fail   policy RESULT_INVALID -> CodeFailed policy, NextDecided policy fallback, \\
               rung policy 1, out policy
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_class_without_a_repair_goes_to_the_next_rung_at_once() {
    check(
        "
        read   policy fallback=cache
        start  retry=2
        fail   policy RESULT_INVALID -> NextDecided policy fallback, no RepairWanted, rung policy 1
    ",
    );
}

#[test]
fn the_next_lap_may_repair_again() {
    check(
        "
        read   policy repair=yes
        start  retry=1
        fail   policy RESULT_INVALID -> out policy
        fail   policy RESULT_INVALID -> handed_off
        continue -> out policy
        fail   policy RESULT_INVALID -> RepairWanted policy, out policy
        answer policy -> completed
    ",
    );
}
