//! Retry is load: the same failure again lowers the odds, everybody who may say no is asked, and
//! what was decided can be read afterwards with its numbers.

use crate::scenario::check;

#[test]
fn the_same_failure_in_a_row_doubles_the_wait_and_halves_what_is_left() {
    check(
        "
        read   policy attempts=6 backoff=100ms/10s
        start  retry=9
        fail   policy OVERLOADED draw=2147483648 \\
               -> NextDecided policy retry in_a_row=1 attempts_left=5 wait=50 wait_max=100
        at     50ms -> out policy
        fail   policy OVERLOADED draw=2147483648 \\
               -> NextDecided policy retry in_a_row=2 attempts_left=2 wait=200 wait_max=400
        at     250ms -> out policy
        fail   policy RATE_LIMITED draw=2147483648 \\
               -> NextDecided policy retry in_a_row=1 attempts_left=1 wait=200 wait_max=400
        at     450ms -> out policy
        fail   policy RATE_LIMITED -> NextDecided policy fail in_a_row=2 attempts_left=0
    ",
    );
}

#[test]
fn another_provider_and_another_lap_begin_without_a_streak() {
    check(
        "
        read   policy attempts=3 fallback=provider
        start  retry=9
        fail   policy OVERLOADED
        fail   policy OVERLOADED -> NextDecided policy retry in_a_row=2 attempts_left=1
        fail   policy OVERLOADED -> NextDecided policy fallback ATTEMPTS_EXHAUSTED in_a_row=3
        fail   policy OVERLOADED -> NextDecided policy fail in_a_row=1, handed_off
        continue -> out policy, rung policy 0
        fail   policy OVERLOADED -> NextDecided policy retry in_a_row=1 attempts_left=2
    ",
    );
}

#[test]
fn the_least_of_run_dependency_tenant_and_ratio_allows_a_retry() {
    check(
        "
        read   policy attempts=3 fallback=cache
        start  retry=9
        fail   policy OVERLOADED capacity=2 quota=3 ratio=1 \\
               -> NextDecided policy retry run=9 dependency=2 tenant=3 global=1
    ",
    );
    for (evidence, reason) in [
        ("capacity=0", "DEPENDENCY_AT_CAPACITY"),
        ("quota=0", "TENANT_QUOTA_REACHED"),
        ("ratio=0", "RETRY_RATIO_REACHED"),
    ] {
        check(&format!(
            "
            read   policy attempts=3 fallback=cache
            start  retry=9
            fail   policy OVERLOADED {evidence} \\
                   -> NextDecided policy fallback {reason} run=9, rung policy 1, budget retry=0
        "
        ));
    }
}

#[test]
fn gates_that_say_no_do_not_pause_a_class_that_pauses_at_its_own_limits() {
    check(
        "
        read   policy attempts=3
        start  retry=9 on_limit=pause
        fail   policy OVERLOADED capacity=0 \\
               -> NextDecided policy fail DEPENDENCY_AT_CAPACITY, handed_off
    ",
    );
}

#[test]
fn the_four_limits_hold_for_repairs_and_not_for_what_loads_nobody() {
    check(
        "
        read   policy repair=yes fallback=cache
        start  retry=9
        fail   policy RESULT_INVALID quota=0 -> NextDecided policy fallback TENANT_QUOTA_REACHED
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_retry_fits_only_when_what_was_observed_does() {
    let class = "
        read   policy attempts=2 timeout=4s estimate=500ms fallback=cache
        start  retry=9 answer_by=5s
        at     2s
    ";
    check(&format!(
        "{class}
        fail   policy OVERLOADED predicted=2s -> NextDecided policy retry predicted=2000 left=2900
    "
    ));
    check(&format!(
        "{class}
        fail   policy OVERLOADED predicted=3s -> NextDecided policy fallback DEADLINE_EXHAUSTED
    "
    ));
}

#[test]
fn a_refused_try_is_named_with_the_numbers_of_its_refusal() {
    check(
        "
        read   policy cost=2 attempts=2 fallback=cache
        start  cost=3 -> out policy
        fail   policy OVERLOADED \\
               -> NextDecided policy fallback COST_EXHAUSTED need_micros=2000000 left_micros=1000000
    ",
    );
}

#[test]
fn what_attempts_were_seen_to_cost_is_reserved_as_far_as_there_is_so_much() {
    check(
        "
        read   policy cost=1
        observed x cost=3
        start  cost=9 -> out policy, budget reserved=3
        answer policy cost=1 -> completed, budget spent=1 reserved=0
    ",
    );
    check(
        "
        read   policy cost=1 fallback=cache
        observed x cost=10
        start  cost=9 -> out policy, budget reserved=9
        answer policy cost=10 -> completed, budget spent=10
    ",
    );
    check(
        "
        soft   a cost=1
        read   c
        read   b needs=c cost=4
        result a b
        observed x cost=10
        start  cost=9 -> out a c, budget reserved=5
    ",
    );
}
