//! The next lap: fresh times and budget, on the same keys, requests, lists and effects.

use crate::scenario::check;

#[test]
fn what_waited_for_a_read_that_the_end_of_its_lap_stopped_waits_for_it_in_the_next() {
    check(
        "
        read   draft timeout=30s
        read   facts timeout=30s
        local  report needs=draft,facts
        start  answer_by=12s concurrency=2
        at 12s -> handed_off
        continue -> out draft facts, no CallFailed
        answer draft -> no CallFailed
        answer facts -> completed
    ",
    );
    check(
        "
        read   draft timeout=30s
        local  report needs=draft
        start  answer_by=12s
        at 12s -> handed_off
        continue -> out draft
        fail   draft UNAUTHORIZED -> CallFailed draft, handed_off HARD_CALL_FAILED
    ",
    );
}

#[test]
fn the_next_lap_writes_what_was_not_written_and_keeps_the_rest() {
    check(
        "
        read   draft
        each   tickets needs=draft attempts=2 timeout=2s
        list   tickets 2
        start  answer_by=12s
        answer draft      -> out tickets[0] tickets[1]
        answer tickets[0] -> effect tickets[0] applied
        fail   tickets[1] PERMANENT_PROVIDER -> handed_off HARD_CALL_FAILED, closed
        continue          -> lap 2, running, out tickets[1], no CallPrepared, no ListRecorded, \
                             draft settled, tickets[0] settled, tickets items, rung tickets[1] 0
        answer tickets[1] -> completed, closed, lap 2, attempts tickets[0] 1, attempts draft 1
    ",
    );
}

#[test]
fn the_next_lap_has_its_own_times_and_budget_and_the_last_one_keeps_its_bill() {
    check(
        "
        read   draft cost=3 attempts=2 timeout=2s
        start  answer_by=12s retry=1 cost=10
        fail   draft OVERLOADED draw=0  -> out draft, budget retry=1
        fail   draft OVERLOADED -> handed_off, budget spent=6 retry=1
        at 60s                  -> handed_off
        continue                -> times answer_by=72s, budget spent=0 retry=0 reserved=3, out draft
        answer draft            -> completed, budget spent=3 retry=0, past 1 spent=6 retry=1
    ",
    );
}

#[test]
fn a_write_in_doubt_stays_in_doubt_in_the_next_lap_and_is_adopted_when_it_is_found() {
    check(
        "
        write  order timeout=2s
        start  answer_by=12s doubt_wait=20s
        lose   order    -> effect order in_doubt
        at 32s          -> handed_off DOUBT_WAIT_OVER, ended
        continue        -> lap 2, waiting, reason EFFECT_IN_DOUBT, no AttemptStarted, effect order in_doubt
        find   order applied -> completed, attempts order 1, closed
    ",
    );
}

#[test]
fn a_new_lap_asks_about_a_doubt_at_once_however_long_the_last_one_would_have_waited() {
    check(
        "
        write  order timeout=2s
        start  answer_by=12s doubt_wait=20s
        lose   order
        at 32s          -> handed_off
        find   order cannot_tell
        at 100s
        find   order cannot_tell
        at 200s
        find   order cannot_tell
        at 400s
        find   order cannot_tell
        at 800s
        find   order cannot_tell draw=4000000000 -> lookup order 803.862s
        continue        -> lap 2, lookup order 800s
    ",
    );
}

#[test]
fn a_reply_that_was_lost_in_the_last_lap_and_never_arrived_goes_out_again_under_the_same_key() {
    check(
        "
        write  order timeout=2s attempts=1
        start  answer_by=12s doubt_wait=20s
        lose   order    -> effect order in_doubt
        at 32s          -> handed_off DOUBT_WAIT_OVER
        continue        -> lap 2
        find   order absent -> out order, effect order dispatched, no EffectIntended, attempts order 2, budget retry=0
        answer order    -> completed
    ",
    );
}

#[test]
fn a_write_that_is_out_at_the_end_of_a_lap_counts_against_the_concurrency_of_the_next() {
    check(
        "
        write  order timeout=60s cost=2
        read   mail  timeout=5s
        start  answer_by=60s doubt_wait=0ms concurrency=2
        fail   mail INVALID_INPUT -> out order
        at 60s          -> handed_off, out order, ended
        continue        -> lap 2, budget in_flight=2 reserved=1, out order mail, past 1 reserved=2
        answer order    -> budget in_flight=1 spent=0, past 1 reserved=0 spent=3
        answer mail     -> completed, budget in_flight=0 spent=1, closed
    ",
    );
}

#[test]
fn what_a_settled_value_was_made_without_stays_left_out_and_its_notice_stays() {
    check(
        "
        soft   related notice='related tickets not searched'
        read   draft needs=related
        write  order needs=draft attempts=1
        start  retry=4
        fail   related PERMANENT_PROVIDER -> related omitted, out draft
        answer draft
        fail   order PERMANENT_PROVIDER -> handed_off
        continue     -> related omitted, out order, notice related tickets not searched
        answer order -> degraded, notice related tickets not searched
    ",
    );
}

#[test]
fn what_was_left_out_and_nothing_was_made_without_is_tried_again() {
    check(
        "
        soft   related notice='related tickets not searched'
        write  order
        start  retry=4
        fail   related PERMANENT_PROVIDER -> related omitted
        answer order -> degraded, closed
        continue     -> lap 2, out related, effect order applied
        answer related -> completed, notices 0, attempts order 1
    ",
    );
}

#[test]
fn code_that_could_not_make_a_request_is_asked_again() {
    check(
        "
        read   draft
        break  draft INVALID_INPUT
        start  -> handed_off
        continue -> lap 2, handed_off, lap 2
    ",
    );
}

#[test]
fn a_call_that_needs_a_failed_one_waits_for_it_again() {
    check(
        "
        read   draft
        read   review needs=draft
        start  retry=0
        fail   draft PERMANENT_PROVIDER -> handed_off, review failed
        continue     -> out draft, review waiting
        answer draft -> out review
        answer review -> completed
    ",
    );
}

#[test]
fn a_fallback_begins_again_with_the_first_provider() {
    check(
        "
        read   policy fallback=snapshot
        start  retry=0
        fail   policy PERMANENT_PROVIDER -> rung policy 1
        fail   policy PERMANENT_PROVIDER -> handed_off
        continue -> rung policy 0, out policy
        answer policy -> completed
    ",
    );
}

#[test]
fn a_partly_applied_write_stays_for_a_person_and_the_next_lap_does_the_rest() {
    check(
        "
        write  order
        read   mail
        result order mail
        start
        answer mail
        lose   order
        find   order partly -> handed_off, order failed
        continue -> lap 2, HardPathLost order, order failed, effect order partly_applied, no AttemptStarted, handed_off
    ",
    );
}

#[test]
fn only_a_lap_that_ended_short_of_its_goal_can_be_gone_on_from() {
    check(
        "
        read   policy
        start
        continue      -> CONTINUE_REFUSED
        answer policy -> completed
        continue      -> CONTINUE_REFUSED
    ",
    );
    check(
        "
        read   policy
        start
        cancel        -> canceled
        continue      -> CONTINUE_REFUSED
    ",
    );
    check(
        "
        read   policy
        start
        terminate     -> terminated REQUESTED
        continue      -> CONTINUE_REFUSED
    ",
    );
}

#[test]
fn a_continue_that_comes_after_the_next_lap_began_changes_nothing() {
    check(
        "
        read   policy
        start
        fail   policy PERMANENT_PROVIDER -> handed_off
        continue        -> lap 2, out policy
        continue from=1 -> nothing, lap 2
        fail   policy PERMANENT_PROVIDER -> handed_off
        continue from=1 -> nothing, lap 2
        continue from=2 -> lap 3
    ",
    );
}

#[test]
fn a_late_answer_of_the_last_lap_is_paid_by_it_and_used_by_the_next() {
    check(
        "
        read   draft cost=2 attempts=2 timeout=2s
        start  answer_by=12s retry=0
        lose   draft     -> handed_off, budget spent=2
        continue         -> out draft
        answer draft/1 cost=5 -> LateResult draft/1, completed, past 1 spent=5, budget spent=2
    ",
    );
}

#[test]
fn the_caller_of_the_next_lap_gets_an_answer_by_its_own_time() {
    check(
        "
        write  order timeout=2s
        start  answer_by=12s doubt_wait=20s
        lose   order
        at 12s -> later order, alerts in_doubt
        at 32s -> handed_off DOUBT_WAIT_OVER, alerts handed_off
        at 100s
        continue -> lap 2, no answer, in_doubt 1
        at 112s  -> later order, expected_by 132s
        find   order applied -> completed, alerts ended_late
    ",
    );
}

#[test]
fn what_a_lap_was_told_late_belongs_to_it_and_not_to_the_next() {
    check(
        "
        write  order timeout=2s
        write  mail  timeout=2s attempts=1
        start  answer_by=12s doubt_wait=20s
        fail   mail PERMANENT_PROVIDER
        lose   order
        at 32s -> handed_off
        find   order applied -> addendum order FOUND_APPLIED, alerts addendum, closed
        continue -> lap 2, out mail
        answer mail -> completed
    ",
    );
}
