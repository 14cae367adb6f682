//! Reports that come late or twice: recorded and priced, used when they still can be, never twice.

use crate::scenario::check;

#[test]
fn a_slow_primary_that_answers_after_its_fallback_is_one_late_record_with_its_cost() {
    check(
        "
        read   policy fallback=provider cost=2
        read   draft needs=policy
        start
        fail   policy DEADLINE_EXHAUSTED maybe_sent -> rung policy 1, budget spent=2
        answer policy/2 -> policy settled rung=1, budget spent=3
        answer policy/1 cost=1.5 -> LateResult policy/1, no CallSettled, budget spent=2.5
        answer policy/1 cost=1.5 -> ATTEMPT_SETTLED
        answer draft -> degraded
    ",
    );
}

#[test]
fn a_slow_primary_that_answers_before_its_fallback_is_the_value_and_the_fallback_is_dropped() {
    check(
        "
        read   policy fallback=provider
        start
        fail   policy DEADLINE_EXHAUSTED maybe_sent -> out policy
        answer policy/1 -> LateResult policy/1, AttemptSettled policy/2, policy settled rung=0, out, \
               completed, budget in_flight=0 reserved=0
        answer policy/2 -> LateResult policy/2, completed
    ",
    );
}

#[test]
fn a_late_answer_of_a_read_that_waits_for_its_retry_is_its_value() {
    check(
        "
        read   policy attempts=2 backoff=9s/9s
        start
        fail   policy TRANSIENT_TRANSPORT maybe_sent draw=2147483648 -> policy ready
        answer policy/1 -> LateResult policy/1, policy settled, completed, attempts policy 1
    ",
    );
}

#[test]
fn an_answer_of_the_dead_owner_ends_the_doubt_at_once_and_corrects_its_cost() {
    check(
        "
        write  order cost=2
        start
        crash  -> budget spent=2 assumed=2
        answer order/1 cost=1 -> LateResult order/1, EffectApplied order ANSWERED, completed, \
               budget spent=1 assumed=0
        answer order/1 -> ATTEMPT_SETTLED
    ",
    );
}

#[test]
fn a_refusal_that_reached_the_dead_owner_proves_the_write_absent() {
    check(
        "
        write  order attempts=2
        start  retry=1
        crash
        fail   order/1 RATE_LIMITED cost=0 -> LateResult order/1, \
               EffectAbsent order REFUSED_BY_RECEIVER, AttemptStarted order/2, \
               budget assumed=0 spent=0 retry=1
        answer order -> completed
    ",
    );
}

#[test]
fn a_refusal_that_proves_nothing_leaves_the_doubt_of_a_dead_owners_write() {
    check(
        "
        write  order attempts=2
        start  retry=0
        crash
        fail   order/1 OVERLOADED cost=0 -> LateResult order/1, no EffectAbsent, order in_doubt, \
               budget assumed=0 spent=0
        find   order applied -> completed
    ",
    );
}

#[test]
fn a_request_the_dead_owner_never_sent_proves_the_write_absent() {
    check(
        "
        write  order attempts=2
        start
        crash
        fail   order/1 TRANSIENT_TRANSPORT not_sent -> EffectAbsent order, out order, \
               budget assumed=0 spent=0
        answer order -> completed
    ",
    );
}

#[test]
fn a_lost_reply_of_the_dead_owner_leaves_the_doubt() {
    check(
        "
        write  order attempts=2
        start
        crash
        lose   order/1 cost=0.5 -> LateResult order/1, effect order in_doubt, budget spent=0.5 assumed=0
        find   order applied -> completed
    ",
    );
}

#[test]
fn an_old_refusal_does_not_end_a_newer_doubt() {
    check(
        "
        write  order attempts=2 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        crash
        at 2s
        find   order absent -> AttemptStarted order/2
        crash  -> effect order in_doubt
        fail   order/1 OVERLOADED -> LateResult order/1, no EffectAbsent, effect order in_doubt
        find   order applied -> completed
    ",
    );
}

#[test]
fn a_late_applied_answer_while_the_resend_is_out_ends_the_call_and_drops_the_resend() {
    check(
        "
        write  order attempts=3 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> out order
        answer order/1 -> LateResult order/1, AttemptSettled order/2, EffectApplied order, completed
    ",
    );
}

#[test]
fn a_late_applied_answer_before_the_resend_prevents_it() {
    check(
        "
        write  order attempts=3 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        gates  closed
        at 2s
        find   order absent -> order ready
        answer order/1 -> LateResult order/1, EffectApplied order, completed, attempts order 1
    ",
    );
}

#[test]
fn a_late_applied_answer_after_the_hand_off_corrects_the_record_in_an_addendum() {
    check(
        "
        write  order attempts=1 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> CallFailed order, handed_off HARD_CALL_FAILED, closed
        answer order/1 -> LateResult order/1, EffectApplied order, addendum order ANSWERED, \
               effect order applied, handed_off, closed
    ",
    );
}

#[test]
fn a_late_applied_answer_of_a_failed_item_counts_once_and_the_list_waits_for_the_others() {
    check(
        "
        each   ticket_write attempts=1 timeout=1s bound=0ms cost=0.1
        list   ticket_write 2
        start  answer_by=60s concurrency=2
        lose   ticket_write[0]
        at 2s
        find   ticket_write[0] absent -> ticket_write[0] failed
        answer ticket_write[0]/1 -> ticket_write[0] settled, ticket_write items, running
        answer ticket_write[1] -> ticket_write settled, completed
    ",
    );
}

#[test]
fn a_second_report_of_an_attempt_changes_nothing() {
    check(
        "
        read   policy attempts=2
        read   draft needs=policy
        start
        fail   policy OVERLOADED
        fail   policy/1 OVERLOADED -> ATTEMPT_SETTLED attempt=1
        answer policy/2
        answer policy/2 -> ATTEMPT_SETTLED attempt=2
        fail   policy/9 OVERLOADED -> ATTEMPT_UNKNOWN attempt=9
        answer draft -> completed
    ",
    );
}

#[test]
fn cancel_drops_reads_and_waits_for_the_write_that_is_out() {
    check(
        "
        write  order
        read   policy
        read   draft needs=policy
        start
        cancel -> CancelRequested, AttemptSettled policy/1, out order, no LapEnded, \
               budget in_flight=1 spent=1
        cancel -> nothing
        answer policy/1 cost=0.5 -> LateResult policy/1, no AttemptStarted, budget spent=0.5
        answer order -> EffectApplied order, canceled REQUESTED, closed
        cancel -> RUN_ENDED
    ",
    );
}

#[test]
fn cancel_with_a_write_in_doubt_ends_only_when_it_is_known() {
    check(
        "
        write  order attempts=3
        start  answer_by=12s doubt_wait=1h
        lose   order
        cancel -> no LapEnded, lookup order 0ms
        at 12s -> later order
        find   order absent -> EffectAbsent order, canceled, closed, no AttemptStarted
    ",
    );
}

#[test]
fn cancel_before_anything_left_ends_at_once() {
    check(
        "
        read   policy
        start  gates=closed
        may    policy -> yes
        cancel -> canceled, closed, attempts policy 0
        may    policy -> RUN_ENDED
    ",
    );
}

#[test]
fn what_a_client_library_retried_in_a_late_attempt_is_charged_once() {
    check(
        "
        read   policy attempts=3
        start  retry=5
        crash  -> budget retry=1
        answer policy/1 retries=2 -> LateResult policy/1, budget retry=3
    ",
    );
    check(
        "
        write  order attempts=2
        start  retry=5
        crash  -> order in_doubt
        fail   order/1 RATE_LIMITED retries=3 -> LateResult order/1, budget retry=4
    ",
    );
}
