//! What a failure does: omit what is soft, lose what is hard, skip what a predicate excludes.

use crate::scenario::check;

#[test]
fn a_soft_call_that_fails_is_omitted_and_the_result_says_so() {
    check(
        "
        read   policy
        soft   related notice='related tickets not searched'
        read   draft needs=policy,related
        start
        fail   related PERMANENT_PROVIDER -> CallOmitted related SAME_INPUT_FAILS, no HardPathLost
        answer policy -> out draft
        answer draft  -> degraded ALL_SETTLED, notice related tickets not searched, notices 1, closed
    ",
    );
}

#[test]
fn an_advisory_call_that_fails_is_noted_and_the_result_is_as_good() {
    check(
        "
        read     draft
        advisory spelling notice='not spell-checked'
        result   draft
        start
        fail   spelling PERMANENT_PROVIDER -> CallOmitted spelling
        answer draft -> completed, notice not spell-checked
    ",
    );
}

#[test]
fn an_advisory_call_answered_by_a_fallback_is_no_degradation() {
    check(
        "
        read     draft
        advisory spelling fallback=cache
        result   draft
        start
        fail   spelling PERMANENT_PROVIDER -> CallRescheduled spelling rung=1
        answer spelling
        answer draft -> completed, notice spelling answered by a cache
    ",
    );
}

#[test]
fn a_hard_call_answered_by_its_fallback_is_degraded_with_a_notice() {
    check(
        "
        read   policy attempts=2 fallback=snapshot,human
        start  retry=4
        fail   policy TRANSIENT_TRANSPORT not_sent -> CallRescheduled policy rung=0 RETRY_ALLOWED, \
               budget retry=1 spent=0, out policy
        fail   policy TRANSIENT_TRANSPORT maybe_sent -> no CallRescheduled rung=0, \
               CallRescheduled policy rung=1 ATTEMPTS_EXHAUSTED, rung policy 1, budget spent=1 retry=1
        answer policy -> degraded, closed, attempts policy 3, notices 1
    ",
    );
}

#[test]
fn a_lost_hard_call_lets_other_reads_finish_starts_no_write_and_hands_off() {
    check(
        "
        read   policy fallback=snapshot,human
        read   history
        local  summary needs=history
        write  note needs=history
        read   draft needs=policy
        write  order needs=draft
        result draft summary
        start  gates=closed
        dispatch policy
        dispatch history
        fail   policy PERMANENT_PROVIDER -> CallRescheduled policy rung=1 SAME_INPUT_FAILS
        dispatch policy
        fail   policy RESULT_INVALID -> CallFailed policy RESULT_INVALID SAME_INPUT_FAILS, \
               HardPathLost policy, CallFailed draft INPUT_MISSING, CallFailed order INPUT_MISSING, \
               no LapEnded, out history
        gates  open
        answer history -> summary settled, note preparing, no AttemptStarted, \
               handed_off HARD_CALL_FAILED, closed
    ",
    );
}

#[test]
fn a_class_that_fails_does_so_at_once_and_drops_its_reads() {
    check(
        "
        read   policy
        read   history timeout=5s
        result policy history
        start  on_failure=fail
        fail   policy UNAUTHORIZED -> CallFailed policy UNAUTHORIZED, HardPathLost policy, \
               AttemptSettled history/1, failed HARD_CALL_FAILED, closed, budget spent=2 reserved=0
        answer history/1 cost=0.5 -> LateResult history/1, budget spent=1.5, closed
    ",
    );
}

#[test]
fn a_class_that_fails_waits_for_its_open_writes_and_starts_nothing() {
    check(
        "
        write  order
        read   policy
        read   history needs=policy
        read   other
        result other
        start  on_failure=fail concurrency=3 -> out order policy other
        lose   order
        fail   other UNAUTHORIZED -> HardPathLost other, no LapEnded
        answer policy -> no AttemptStarted, no CallPrepared
        may    history -> CALL_NOT_READY
        find   order applied -> failed HARD_CALL_FAILED, closed
    ",
    );
}

#[test]
fn a_fallback_to_a_person_hands_off_where_the_class_would_fail() {
    check(
        "
        read   policy fallback=human
        start  on_failure=fail
        fail   policy PERMANENT_PROVIDER -> handed_off HARD_CALL_FAILED
    ",
    );
}

#[test]
fn a_predicate_that_says_no_skips_its_calls_and_their_users_see_none() {
    check(
        "
        read   draft
        when   has_actions needs=draft
        each   ticket_write needs=draft when=has_actions
        when   wants_mail needs=ticket_write when=has_actions
        write  mail needs=draft when=wants_mail
        local  report needs=ticket_write
        result report
        say    has_actions false
        start
        answer draft -> CallSkipped ticket_write, CallSkipped wants_mail, CallSkipped mail, \
               report settled, completed, closed, attempts ticket_write 0
    ",
    );
}

#[test]
fn a_predicate_that_says_yes_lets_its_calls_go() {
    check(
        "
        when   wanted
        read   draft when=wanted
        start  -> out draft
        answer draft -> completed
    ",
    );
}

#[test]
fn a_call_whose_code_fails_is_lost_when_hard() {
    check(
        "
        read   draft
        break  draft INVALID_INPUT
        start  -> CallFailed draft INVALID_INPUT SAME_INPUT_FAILS, handed_off, closed, attempts draft 0
    ",
    );
}

#[test]
fn a_call_whose_code_fails_is_omitted_when_soft() {
    check(
        "
        soft   related
        local  report needs=related
        break  related INVALID_INPUT
        start  -> CallOmitted related, degraded, closed
    ",
    );
}

#[test]
fn a_failed_predicate_takes_its_calls_with_it() {
    check(
        "
        when   wanted
        read   draft when=wanted
        break  wanted INVALID_INPUT
        start  -> CallFailed wanted, HardPathLost wanted, CallFailed draft INPUT_MISSING, handed_off
    ",
    );
}

#[test]
fn what_only_soft_calls_need_is_not_on_the_hard_path() {
    check(
        "
        read   index
        soft   related needs=index notice='related tickets not searched'
        read   draft needs=related
        start
        fail   index PERMANENT_PROVIDER -> CallFailed index, no HardPathLost, \
               CallOmitted related INPUT_MISSING, out draft
        answer draft -> degraded, notice related tickets not searched
    ",
    );
}

#[test]
fn a_result_that_cannot_be_put_together_fails_the_lap() {
    check(
        "
        read   draft
        unassemblable
        start
        answer draft -> failed SAME_INPUT_FAILS, closed
    ",
    );
}

#[test]
fn retry_after_is_waited_for_when_it_fits() {
    check(
        "
        read   policy attempts=2
        start  answer_by=12s
        fail   policy RATE_LIMITED retry_after=3s -> CallRescheduled policy wait=3000ms RETRY_ALLOWED, \
               wake 3s
        at 2999ms -> out
        may    policy -> CALL_NOT_READY wait_ms=1
        at 3s  -> out policy
        answer policy -> completed
    ",
    );
}

#[test]
fn retry_after_beyond_the_time_goes_to_the_fallback_at_once() {
    check(
        "
        read   policy attempts=2 fallback=snapshot
        start  answer_by=12s
        fail   policy RATE_LIMITED retry_after=12s -> \
               CallRescheduled policy rung=1 RETRY_AFTER_EXCEEDS_REMAINING_BUDGET, out policy
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_retry_backs_off_by_the_draw_and_doubles() {
    check(
        "
        read   policy attempts=3 backoff=1s/10s
        start  retry=4
        fail   policy OVERLOADED draw=2147483648 -> CallRescheduled policy wait=500ms
        at 500ms -> out policy
        fail   policy RATE_LIMITED draw=2147483648 -> CallRescheduled policy wait=1000ms
        at 1500ms
        answer policy -> completed, budget retry=2
    ",
    );
}

#[test]
fn a_failure_of_the_primary_and_all_fallbacks_is_final() {
    check(
        "
        read   policy fallback=provider,cache
        start  retry=4
        fail   policy PERMANENT_PROVIDER -> rung policy 1, budget retry=1
        fail   policy PERMANENT_PROVIDER -> rung policy 2, budget retry=1
        fail   policy PERMANENT_PROVIDER -> CallFailed policy PERMANENT_PROVIDER, handed_off
    ",
    );
}

#[test]
fn a_quarantined_run_is_not_driven_and_says_so() {
    check(
        "
        read   policy
        start
        quarantine TURN_PANICKED out of bounds -> RunQuarantined, quarantined
        answer policy -> LateResult policy/1, quarantined, no CallSettled
        cancel -> RUN_QUARANTINED
        at 12s -> nothing, quarantined
    ",
    );
}
