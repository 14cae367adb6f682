//! Answers that come too late to be their call's value: dropped, kept or reviewed by the class.

use crate::scenario::check;

#[test]
fn a_read_drops_what_comes_late_and_its_cost_stays() {
    check(
        "
        read   policy fallback=provider cost=2
        start
        fail   policy DEADLINE_EXHAUSTED maybe_sent
        answer policy/2 -> degraded, closed
        answer policy/1 cost=1.5 -> LateResult policy/1, \
               LateValueRecorded policy/1 drop without_value, alerts, budget spent=2.5, closed
    ",
    );
}

#[test]
fn a_kept_answer_is_the_value_in_the_next_lap_and_nobody_is_asked() {
    check(
        "
        read   draft timeout=30s late=keep
        read   other timeout=30s
        local  report needs=draft,other
        start  answer_by=12s concurrency=2
        at 12s -> handed_off, closed
        answer draft/1 cost=0.5 -> LateValueRecorded draft/1 keep with_value, \
               OrphanObserved draft/1 completed_late, draft failed, budget spent=1.5, closed
        continue -> CallSettled draft rung=0, no AttemptStarted draft/2, AttemptStarted other/2, \
               attempts draft 1, draft settled, past 1 spent=1.5, budget spent=0 retry=0
        answer other -> completed
    ",
    );
}

#[test]
fn a_kept_answer_of_a_fallback_says_that_a_fallback_answered() {
    check(
        "
        read   draft fallback=provider late=keep
        start  answer_by=3s
        fail   draft PERMANENT_PROVIDER -> rung draft 1
        at 3s  -> AttemptOrphaned draft/2, handed_off
        answer draft/2 -> LateValueRecorded draft/2 keep with_value
        continue -> CallSettled draft rung=1, attempts draft 2, degraded
    ",
    );
}

#[test]
fn of_two_kept_answers_the_newest_attempts_is_the_value_in_whichever_order_they_come() {
    for order in [["draft/1", "draft/2"], ["draft/2", "draft/1"]] {
        let [first, second] = order;
        check(&format!(
            "
            read   draft timeout=30s late=keep
            start  answer_by=12s
            at 12s -> handed_off
            continue -> AttemptStarted draft/2
            at 24s -> handed_off
            answer {first}  -> LateValueRecorded {first} keep with_value
            answer {second} -> LateValueRecorded {second} keep with_value
            continue -> CallSettled draft, completed, attempts draft 2, value draft \"draft/2\"
        "
        ));
    }
}

#[test]
fn a_kept_answer_is_used_by_the_call_it_was_made_for_and_no_other() {
    check(
        "
        read   draft timeout=30s late=keep
        read   other timeout=30s late=keep
        local  report needs=draft,other
        start  answer_by=12s concurrency=2
        at 12s
        answer draft/1
        continue -> out other
        at 24s -> handed_off
        continue -> out other, draft settled, attempts draft 1
        answer other -> completed
    ",
    );
}

#[test]
fn what_a_call_that_has_its_value_would_keep_is_thrown_away() {
    check(
        "
        read   policy fallback=provider late=keep
        start
        fail   policy DEADLINE_EXHAUSTED maybe_sent
        answer policy/2 -> degraded
        answer policy/1 -> LateValueRecorded policy/1 keep without_value
    ",
    );
}

#[test]
fn a_kept_answer_of_a_read_whose_reply_is_being_repaired_is_its_value() {
    check(
        "
        read   draft attempts=3 repair=yes late=keep
        start  retry=4
        crash  -> AttemptStarted draft/2
        code   absent
        fail   draft/2 RESULT_INVALID -> RepairWanted draft, draft preparing
        answer draft/1 -> LateValueRecorded draft/1 keep with_value, draft preparing
        code   present -> CallSettled draft, no AttemptStarted, completed, attempts draft 2
    ",
    );
}

#[test]
fn a_late_answer_that_is_still_wanted_is_the_value_whatever_the_policy() {
    for policy in ["drop", "keep", "review"] {
        check(&format!(
            "
            read   policy attempts=2 backoff=9s/9s late={policy}
            start
            fail   policy TRANSIENT_TRANSPORT maybe_sent draw=2147483648 -> policy ready
            answer policy/1 -> LateResult policy/1, policy settled, no LateValueRecorded, \
                   completed, closed, alerts
        "
        ));
    }
}

#[test]
fn a_late_answer_of_a_failed_write_under_a_key_is_its_effect_and_nothing_more() {
    check(
        "
        write  order attempts=1 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> handed_off
        answer order/1 -> EffectApplied order, addendum order ANSWERED, no LateValueRecorded, \
               alerts addendum
    ",
    );
}

#[test]
fn a_first_send_that_answers_after_the_second_is_the_same_effect_under_a_key() {
    check(
        "
        write  order attempts=2 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> out order
        answer order/2 -> completed
        answer order/1 cost=0.5 -> LateResult order/1, \
               LateValueRecorded order/1 keep without_value, alerts, closed
    ",
    );
}

#[test]
fn a_first_send_that_answers_after_the_second_is_reviewed_without_a_key() {
    check(
        "
        write  order without_key=yes attempts=2 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> out order
        answer order/2 -> completed
        answer order/1 cost=0.5 -> LateResult order/1, \
               LateValueRecorded order/1 review with_value, alerts late_result, budget spent=1.5, \
               closed
        answer order/1 -> ATTEMPT_SETTLED
    ",
    );
}

#[test]
fn a_second_send_without_a_key_that_is_dropped_holds_its_run_until_somebody_knows_of_it() {
    let story = "
        write  order without_key=yes attempts=3 timeout=1s bound=500ms
        start  retry=4 answer_by=60s
        lose   order
        at 3s
        find   order absent -> out order
        answer order/1 -> AttemptSettled order/2, AttemptOrphaned order/2 mainstay until=5500ms, \
               EffectApplied order, completed, ended, wake 5500ms
    ";
    check(&format!(
        "{story}
        answer order/2 -> LateValueRecorded order/2 review with_value, \
               OrphanObserved order/2 completed_late, alerts late_result, closed
    "
    ));
    check(&format!(
        "{story}
        fail   order/2 OVERLOADED -> ATTEMPT_SETTLED, orphan order/2 running, ended
        fail   order/2 INVALID_INPUT -> OrphanObserved order/2 failed, closed
    "
    ));
    check(&format!(
        "{story}
        at 6s -> OrphanObserved order/2 still_running, alerts orphan_overdue, ended
        close order/2 -> closed
    "
    ));
}
