//! In doubt: asked about first, believed absent only after the horizon, told as Later, and at the
//! end of the wait handed to a person; what is learned after that is an addendum.

use crate::scenario::check;

#[test]
fn a_write_in_doubt_may_not_start_again() {
    check(
        "
        write  order attempts=3
        start
        lose   order
        may    order -> EFFECT_IN_DOUBT
        dispatch order -> EFFECT_IN_DOUBT
        find   order applied -> completed
    ",
    );
}

#[test]
fn absent_is_believed_only_after_the_horizon_and_sent_again_under_the_same_key_for_a_token() {
    check(
        "
        write  order attempts=2 timeout=2s bound=500ms
        start  retry=1 answer_by=30s
        at 1s
        lose   order         -> lookup order 1s, budget retry=0
        find   order absent  -> ControlSettled order NOT_FOUND_INSIDE_HORIZON, lookup order 3500ms
        at 3500ms
        find   order absent  -> EffectAbsent order ABSENT_AFTER_HORIZON, AttemptStarted order/2, \
               no EffectIntended, budget retry=1
        answer order         -> completed
    ",
    );
}

#[test]
fn a_lost_write_without_a_token_left_is_handed_off_once_it_is_known_to_be_absent() {
    check(
        "
        write  order attempts=2 timeout=2s bound=500ms
        start  retry=0 answer_by=30s
        lose   order
        at 3500ms
        find   order absent -> EffectAbsent order, CallFailed order RETRY_TOKENS_EXHAUSTED, handed_off
    ",
    );
}

#[test]
fn a_receiver_that_cannot_tell_is_asked_again_with_longer_waits() {
    check(
        "
        write  order
        start  answer_by=30s
        lose   order
        find   order cannot_tell -> ControlSettled order CANNOT_TELL, lookup order 125ms
        at 125ms
        find   order in_progress draw=4294967295 -> ControlSettled order STILL_IN_PROGRESS, \
               lookup order 624ms
        at 624ms
        find   order cannot_tell -> lookup order 1124ms
        at 1124ms
        find   order applied -> completed
    ",
    );
}

#[test]
fn in_doubt_at_answer_by_is_later_and_completed_once_it_is_found() {
    check(
        "
        write  order
        local  report needs=order
        start  answer_by=12s doubt_wait=1h
        at 10s
        lose   order
        at 12s -> later order, waiting, no LapEnded, wake 3612s
        find   order applied -> report settled, completed ALL_SETTLED, closed, later order, \
               no AddendumRecorded
    ",
    );
}

#[test]
fn in_doubt_at_answer_by_and_then_absent_is_handed_off_because_work_time_is_over() {
    check(
        "
        write  order attempts=3
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 20s -> later order
        find   order absent -> EffectAbsent order, CallFailed order DEADLINE_EXHAUSTED, \
               handed_off HARD_CALL_FAILED, closed
    ",
    );
}

#[test]
fn a_doubt_that_outlasts_its_wait_is_handed_off_then_told_in_an_addendum_then_closed() {
    check(
        "
        write  order
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 12s -> later order
        at 3611999ms -> waiting
        at 3612s -> handed_off DOUBT_WAIT_OVER, ended, no RunClosed
        find   order applied -> EffectApplied order FOUND_APPLIED, addendum order FOUND_APPLIED, \
               RunClosed, closed, handed_off DOUBT_WAIT_OVER
    ",
    );
}

#[test]
fn a_doubt_found_absent_after_the_outcome_is_an_addendum_and_sends_nothing() {
    check(
        "
        write  order attempts=3
        start  answer_by=12s doubt_wait=1h
        lose   order
        at 3612s
        find   order absent -> addendum order ABSENT_AFTER_HORIZON, no AttemptStarted, closed
    ",
    );
}

#[test]
fn a_partly_applied_write_goes_to_a_person() {
    check(
        "
        write  order attempts=3
        start
        lose   order
        find   order partly -> EffectPartlyApplied order, CallFailed order PARTLY_APPLIED, \
               HardPathLost order, handed_off, closed, effect order partly_applied
    ",
    );
}

#[test]
fn a_doubt_only_a_person_can_resolve_is_never_asked_about_by_machine() {
    check(
        "
        write  order resolve=by_human without_key=yes
        start  answer_by=12s doubt_wait=1h
        lose   order -> no lookup order
        at 12s   -> later order
        at 3612s -> handed_off DOUBT_WAIT_OVER, ended
    ",
    );
}

#[test]
fn a_receiver_that_has_forgotten_the_key_proves_nothing_by_not_knowing_it() {
    check(
        "
        write  order attempts=3 ttl=20s
        start  answer_by=2m downtime=extend:1h
        crash
        find   order cannot_tell
        down 20s -> no lookup order, effect order in_doubt
        find   order absent number=2 -> ControlSettled order CANNOT_TELL, no EffectAbsent
    ",
    );
}

#[test]
fn not_found_is_not_believed_where_the_question_may_have_come_after_the_key_was_forgotten() {
    // A question may be on its way for 5 s, and 1 s is for the clocks.
    for (at, follows) in [
        ("13999ms", "EffectAbsent order ABSENT_AFTER_HORIZON"),
        ("14s", "ControlSettled order CANNOT_TELL, no EffectAbsent"),
    ] {
        check(&format!(
            "
            write  order attempts=1 timeout=2s bound=500ms ttl=20s
            start  answer_by=60s
            lose   order
            at {at}
            find   order absent -> {follows}
        "
        ));
    }
}

#[test]
fn a_key_that_would_be_forgotten_before_the_request_lands_is_not_sent_again() {
    // The horizon is 3.5 s; a resend needs 2 s + 3.5 s, and 1 s for the clocks.
    for (ttl, follows) in [
        (
            "10s",
            "CallFailed order KEY_TOO_OLD, no AttemptStarted, handed_off",
        ),
        ("10001ms", "AttemptStarted order/2, no EffectIntended"),
    ] {
        check(&format!(
            "
            write  order attempts=2 timeout=2s bound=500ms ttl={ttl}
            start  retry=1 answer_by=30s
            lose   order
            at 3500ms
            find   order absent -> EffectAbsent order ABSENT_AFTER_HORIZON, {follows}
        "
        ));
    }
}

#[test]
fn a_key_counts_from_its_first_send_also_where_nobody_was_asked_in_between() {
    check(
        "
        write  order attempts=3 timeout=2s bound=500ms ttl=20s
        start  retry=2 answer_by=60s
        fail   order OVERLOADED retry_after=10s
        at 10s                       -> AttemptStarted order/2
        lose   order                 -> effect order in_doubt
        at 20s                       -> no lookup order
        find   order absent number=1 -> ControlSettled order CANNOT_TELL, no EffectAbsent
    ",
    );
}

#[test]
fn an_old_key_whose_receiver_may_have_done_it_is_asked_about_instead_of_being_sent() {
    check(
        "
        write  order attempts=3 timeout=2s bound=500ms ttl=20s
        start  retry=2 answer_by=60s
        fail   order OVERLOADED retry_after=15s -> effect order absent, no AttemptStarted
        at 15s                                  -> EffectInDoubt order, lookup order 15s
        find   order applied                    -> completed
    ",
    );
}

#[test]
fn a_write_that_never_arrived_has_no_age() {
    check(
        "
        write  order attempts=3 timeout=2s bound=500ms ttl=20s
        start  retry=2 answer_by=60s
        fail   order TRANSIENT_TRANSPORT not_sent retry_after=30s -> no AttemptStarted
        at 30s                                                    -> AttemptStarted order/2
    ",
    );
}

#[test]
fn a_look_up_is_counted_over_the_effects_life_so_an_old_answer_is_not_taken_for_a_new_one() {
    check(
        "
        write  order attempts=3 timeout=2s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        find   order cannot_tell
        at 3s
        find   order absent -> AttemptStarted order/2
        at 4s
        lose   order -> effect order in_doubt
        find   order cannot_tell number=1 -> CALL_NOT_READY
        find   order absent number=2 -> CALL_NOT_READY
        find   order applied number=3 -> completed
    ",
    );
}

#[test]
fn a_lookup_still_runs_when_concurrency_cost_and_time_are_gone() {
    check(
        "
        write  order cost=1
        read   policy timeout=11s
        start  concurrency=2 cost=2 answer_by=12s retry=0
        lose   order -> lookup order 0ms, budget spent=1 reserved=1 in_flight=1
        at 20s -> lookup order 0ms, later order
        find   order applied -> EffectApplied order
    ",
    );
}

#[test]
fn an_item_in_doubt_does_not_hold_up_the_others() {
    check(
        "
        each   ticket_write cost=0.1
        list   ticket_write 4
        start  concurrency=1
        lose   ticket_write[0] -> out ticket_write[1]
        answer ticket_write[1] -> out ticket_write[2]
        answer ticket_write[2] -> out ticket_write[3]
        answer ticket_write[3] -> ticket_write items, no LapEnded
        find   ticket_write[0] applied -> completed
    ",
    );
}

#[test]
fn an_overloaded_receiver_is_asked_before_its_write_is_given_up() {
    check(
        "
        write  order timeout=5s attempts=2
        start  answer_by=60s
        fail   order OVERLOADED -> EffectAbsent order, AttemptStarted order/2
        fail   order OVERLOADED -> EffectInDoubt order, no CallFailed
    ",
    );
}

#[test]
fn a_write_that_is_out_when_its_run_is_quarantined_is_in_doubt_for_a_person_to_see() {
    check(
        "
        write  order timeout=5s
        start  answer_by=60s
        quarantine TURN_PANICKED -> EffectInDoubt order, RunQuarantined, no AttemptStarted
    ",
    );
}
