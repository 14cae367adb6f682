//! Times: reserves, fallbacks that still fit, Later, expiry, downtime.

use crate::scenario::check;

#[test]
fn an_attempt_may_take_what_is_left_less_the_reserves() {
    check(
        "
        read    policy timeout=10s
        read    draft needs=policy estimate=2s timeout=4s
        write   order needs=draft estimate=1s
        reserve synthesis=1800ms reconcile=1200ms deliver=400ms
        start   answer_by=12s -> times work_by=11.6s, timeout policy 5600ms
        at 5s
        answer  policy -> timeout draft 2600ms
        at 7s
        answer  draft  -> timeout order 1600ms
        answer  order  -> completed
    ",
    );
}

#[test]
fn too_late_is_refused_with_its_numbers_and_given_up_by_itself() {
    check(
        "
        read    policy min=500ms estimate=500ms timeout=2s
        reserve synthesis=1s deliver=1s
        start   answer_by=10s gates=closed
        at 7500ms
        may     policy -> yes
        dispatch policy -> timeout policy 500ms
        fail    policy OVERLOADED -> CallFailed policy ATTEMPTS_EXHAUSTED
    ",
    );
    check(
        "
        read    policy min=500ms estimate=500ms timeout=2s
        reserve synthesis=1s deliver=1s
        start   answer_by=10s gates=closed -> wake 7501ms
        at 7501ms -> CallFailed policy DEADLINE_EXHAUSTED DEADLINE_EXHAUSTED, handed_off, closed
    ",
    );
}

/// F20: the primary hangs, a minute to the deadline, two fallbacks.
#[test]
fn each_rung_leaves_the_time_of_the_rungs_below_it() {
    check(
        "
        read    policy timeout=60s estimate=1s fallback=provider,cache
        start   answer_by=60s retry=4 -> timeout policy 59800ms
        at 59800ms
        fail    policy DEADLINE_EXHAUSTED maybe_sent -> rung policy 1, timeout policy 100ms
        at 59900ms
        fail    policy DEADLINE_EXHAUSTED maybe_sent -> rung policy 2, timeout policy 100ms
        answer  policy -> degraded
    ",
    );
}

#[test]
fn a_rung_without_useful_time_is_passed_over() {
    check(
        "
        read    policy timeout=60s estimate=1s fallback=provider,cache
        start   answer_by=60s retry=4
        at 59850ms
        fail    policy DEADLINE_EXHAUSTED maybe_sent -> CallRescheduled policy rung=2 DEADLINE_EXHAUSTED, \
                out policy, attempts policy 2
        answer  policy -> degraded
    ",
    );
}

#[test]
fn a_retry_that_could_not_end_in_time_is_no_retry() {
    check(
        "
        read    policy timeout=10s estimate=3s attempts=2 min=100ms fallback=cache
        start   answer_by=10s
        at 7s
        fail    policy OVERLOADED -> CallRescheduled policy rung=1 DEADLINE_EXHAUSTED
        answer  policy -> degraded
    ",
    );
}

#[test]
fn the_time_to_answer_ends_a_lap_that_has_nothing_in_doubt() {
    check(
        "
        read    policy timeout=60s
        start   answer_by=12s doubt_wait=1h
        at 11999ms -> no answer
        at 12s  -> AttemptSettled policy/1, handed_off ANSWER_TIME_REACHED, closed, budget in_flight=0
    ",
    );
}

#[test]
fn a_class_that_fails_fails_when_its_time_is_up() {
    check(
        "
        read    policy timeout=60s
        start   answer_by=12s on_failure=fail
        at 12s  -> failed ANSWER_TIME_REACHED, closed
    ",
    );
}

#[test]
fn a_class_may_work_on_after_its_caller_was_told_later() {
    check(
        "
        read    policy timeout=60s
        read    draft needs=policy
        start   answer_by=12s work_by=60s doubt_wait=1s
        at 12s  -> later, running, out policy, expected_by 60s
        answer  policy -> out draft
        answer  draft -> completed, closed
    ",
    );
}

#[test]
fn work_after_later_ends_at_work_by() {
    check(
        "
        read    policy timeout=60s
        start   answer_by=12s work_by=60s doubt_wait=1s
        at 12s  -> later
        at 59999ms -> running
        at 60s  -> handed_off ANSWER_TIME_REACHED, closed
    ",
    );
}

#[test]
fn a_void_request_ends_when_it_expires_and_doubts_go_on() {
    check(
        "
        read    policy timeout=60s
        start   answer_by=12s work_by=30s expires=30s
        at 30s  -> handed_off EXPIRED, closed
    ",
    );
    check(
        "
        write   order
        start   answer_by=12s expires=30s doubt_wait=1h -> times doubt_until=30s
        lose    order
        at 12s  -> later order
        at 30s  -> handed_off DOUBT_WAIT_OVER, ended
        find    order applied -> addendum order FOUND_APPLIED, closed
    ",
    );
}

#[test]
fn downtime_extends_by_at_most_its_maximum_in_total() {
    check(
        "
        read    policy timeout=60s attempts=9
        start   answer_by=60s downtime=extend:1m retry=9
        down 40s -> LeaseTaken extended=40000ms, times answer_by=100s, out policy
        down 40s -> LeaseTaken extended=20000ms, times answer_by=120s, out policy
        down 30s -> LeaseTaken extended=0ms, times answer_by=120s, out policy, budget retry=3
        answer  policy -> completed
    ",
    );
}

#[test]
fn an_extension_never_outlives_the_expiry() {
    check(
        "
        write   order
        start   answer_by=12s expires=60s doubt_wait=1h downtime=extend:1h
        down 10s -> times answer_by=22s expires_at=60s doubt_until=60s
        find    order applied -> completed
    ",
    );
}

#[test]
fn a_run_that_slept_past_its_time_and_lacks_only_its_own_code_still_completes() {
    check(
        "
        read    policy
        local   report needs=policy
        start   answer_by=12s doubt_wait=1h
        code    absent
        answer  policy -> report preparing
        down    1m -> later, running, report preparing
        code    present -> report settled, completed, closed
    ",
    );
}

#[test]
fn a_run_whose_code_is_missing_is_answered_and_handed_off_in_time() {
    check(
        "
        read    policy
        local   report needs=policy
        code    absent
        start   answer_by=12s doubt_wait=1h -> policy preparing
        at 12s  -> handed_off ANSWER_TIME_REACHED, closed
    ",
    );
    check(
        "
        read    policy
        local   report needs=policy
        start   answer_by=12s doubt_wait=1h
        code    absent
        answer  policy
        at 12s  -> later, running
        at 3612s -> handed_off ANSWER_TIME_REACHED, closed
    ",
    );
}

#[test]
fn a_run_whose_code_is_missing_can_be_canceled() {
    check(
        "
        read    policy
        code    absent
        start   -> policy preparing
        cancel  -> canceled, closed
    ",
    );
}

#[test]
fn a_doubt_does_not_end_the_work_of_a_class_that_works_longer_than_doubts_are_waited_for() {
    check(
        "
        write   order attempts=2
        start   answer_by=12s work_by=60s doubt_wait=1s
        lose    order
        at 12s  -> later order, expected_by 60s
        at 30s  -> waiting
        find    order absent -> out order
        answer  order -> completed
    ",
    );
}

#[test]
fn what_a_resolved_doubt_held_up_is_decided_by_itself_after_later() {
    check(
        "
        write   order
        soft    receipt needs=order notice='no receipt'
        result  order
        start   answer_by=12s doubt_wait=1h
        lose    order
        at 12s  -> later order, expected_by 3612s
        find    order applied -> CallOmitted receipt DEADLINE_EXHAUSTED, degraded, closed
    ",
    );
}

#[test]
fn a_void_request_ends_even_when_downtime_moved_its_time_to_answer_beyond() {
    check(
        "
        read    policy timeout=60s
        start   answer_by=12s expires=20s downtime=extend:1h
        down    10s -> times answer_by=22s, out policy
        at 19999ms -> running
        at 20s  -> handed_off EXPIRED, closed
    ",
    );
}
