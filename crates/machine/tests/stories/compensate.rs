//! Undoing an effect: a write of its own, whenever somebody wants it, and never by itself.

use crate::scenario::check;

#[test]
fn what_is_in_the_world_is_undone_after_the_run_has_ended_by_an_effect_of_its_own() {
    check(
        "
        write order timeout=2s
        undo  order-undo of=order attempts=3 cost=2
        result order
        start answer_by=12s cost=1
        answer order             -> completed, RunClosed
        compensate order         -> CompensationWanted order wanted=1 cost=6 retries=2, \
               CallPrepared order-undo, EffectIntended order-undo, AttemptStarted order-undo/1, \
               ended, completed
        answer order-undo        -> EffectApplied order-undo ANSWERED, EffectCompensated order, \
               addendum order COMPENSATED, RunClosed, closed, completed
        compensate order         -> no CompensationWanted
    ",
    );
}

#[test]
fn what_undoes_it_may_be_in_doubt_itself_and_is_asked_about_before_anything_else() {
    check(
        "
        write order timeout=2s
        undo  order-undo of=order attempts=2 timeout=2s bound=500ms
        result order
        start answer_by=12s
        answer order
        compensate order
        lose   order-undo        -> EffectInDoubt order-undo WRITE_RESPONSE_LOST, lookup order-undo 0s
        compensate order         -> SETTLE_REFUSED, no CompensationWanted
        at 3500ms
        find   order-undo absent -> EffectAbsent order-undo ABSENT_AFTER_HORIZON, \
               AttemptStarted order-undo/2, no EffectIntended
        lose   order-undo
        find   order-undo applied -> EffectApplied order-undo FOUND_APPLIED, \
               EffectCompensated order, RunClosed
    ",
    );
    check(
        "
        write order
        undo  order-undo of=order resolve=by_human
        result order
        start answer_by=12s
        answer order
        compensate order
        lose   order-undo               -> no lookup
        settle order-undo applied       -> EffectSettledByHand order-undo applied, \
               EffectCompensated order, RunClosed
    ",
    );
}

#[test]
fn a_part_of_an_effect_is_undone_and_its_call_stays_failed_in_every_lap() {
    check(
        "
        write order attempts=2
        undo  order-undo of=order
        result order
        start retry=1 answer_by=12s doubt_wait=1h
        lose   order
        find   order partly      -> EffectPartlyApplied order, handed_off, closed
        compensate order         -> CompensationWanted order, AttemptStarted order-undo/1
        settle order not_applied -> SETTLE_REFUSED, no EffectSettledByHand
        answer order-undo        -> EffectCompensated order, RunClosed
        continue                 -> LapStarted, no AttemptStarted, handed_off
    ",
    );
}

#[test]
fn a_doubt_is_undone_only_once_nothing_can_land_any_more_and_its_call_fails() {
    check(
        "
        write order timeout=2s bound=500ms resolve=by_human
        undo  order-undo of=order
        result order
        start answer_by=12s
        lose   order
        compensate order         -> SETTLE_REFUSED wait_ms=3500, no CompensationWanted
        at 3500ms
        compensate order         -> CompensationWanted order, CallFailed order EFFECT_UNKNOWN \
               PARTLY_APPLIED, HardPathLost order, AttemptStarted order-undo/1
        answer order-undo        -> EffectCompensated order
    ",
    );
}

#[test]
fn nothing_is_undone_that_is_not_in_the_world_or_whose_class_does_not_say_how() {
    check(
        "
        read  draft
        write order needs=draft
        undo  order-undo of=order
        result order
        start answer_by=12s
        compensate order         -> SETTLE_REFUSED
        answer draft
        compensate order         -> SETTLE_REFUSED
        fail   order PERMANENT_PROVIDER answered -> EffectAbsent order, handed_off
        compensate order         -> SETTLE_REFUSED, no CompensationWanted
    ",
    );
    check(
        "
        write order
        start answer_by=12s
        answer order
        compensate order         -> CANNOT_BE_UNDONE, no CompensationWanted
    ",
    );
}

#[test]
fn a_compensation_that_fails_leaves_the_effect_and_is_tried_again_under_its_key() {
    check(
        "
        write order
        undo  order-undo of=order attempts=2
        result order
        start answer_by=12s
        answer order
        compensate order          -> CompensationWanted order wanted=1
        fail   order-undo PERMANENT_PROVIDER answered -> CallFailed order-undo PERMANENT_PROVIDER, \
               RunClosed, no EffectCompensated
        compensate order after=0  -> no CompensationWanted
        compensate order          -> CompensationWanted order wanted=2, AttemptStarted order-undo/2, \
               no EffectIntended
        answer order-undo         -> EffectCompensated order, RunClosed
    ",
    );
}

#[test]
fn a_canceled_run_is_not_rolled_back_and_may_be_undone_all_the_same() {
    check(
        "
        write order
        read  after needs=order
        undo  order-undo of=order
        result after
        start answer_by=12s
        answer order
        cancel                   -> canceled, no CompensationWanted, RunClosed
        compensate order         -> AttemptStarted order-undo/1
        answer order-undo        -> EffectCompensated order, canceled
    ",
    );
}

#[test]
fn its_attempts_wait_between_each_other_and_are_bound_to_no_time_of_the_lap() {
    check(
        "
        write order
        undo  order-undo of=order attempts=3 timeout=2s backoff=4s/4s
        result order
        start answer_by=1s
        answer order
        at 1h
        compensate order
        fail   order-undo RATE_LIMITED answered draw=2147483648 -> \
               CallRescheduled order-undo wait=2000ms, wake 3602s
        at 3602s                 -> AttemptStarted order-undo/2
        crash                    -> AttemptInterrupted order-undo/2, EffectInDoubt order-undo OWNER_LOST
        find   order-undo applied -> EffectCompensated order, RunClosed
    ",
    );
}

#[test]
fn each_item_and_each_slot_is_undone_by_itself() {
    check(
        "
        each  tickets attempts=2
        undo  tickets-undo of=tickets
        result tickets
        list  tickets 2
        start answer_by=12s
        answer tickets[0]
        answer tickets[1]        -> completed
        compensate tickets[1]    -> AttemptStarted tickets-undo[1]/1
        answer tickets-undo[1]   -> EffectCompensated tickets[1], closed
        compensate tickets[0]    -> AttemptStarted tickets-undo[0]/1
    ",
    );
}

#[test]
fn a_model_that_was_told_that_its_order_is_undone_may_order_again_and_not_before() {
    check(
        "
        tool_write order
        undo  order-undo of=order
        tools shop offers=order
        result shop
        start answer_by=12s
        ask  shop c1 order desk  -> AttemptStarted order[0]/1
        answer order[0]
        compensate order[0]      -> AttemptStarted order-undo[0]/1
        answer order-undo[0]     -> EffectCompensated order[0]
        ask  shop c2 order desk  -> ToolCalled shop c2 joins order[0], no AttemptStarted
        ask  shop c3 order desk told=c2 -> ToolCalled shop c3 order slot=2, AttemptStarted order[1]/1
        answer order[1]
        done shop                -> completed
    ",
    );
}

#[test]
fn an_undo_without_a_place_begins_when_one_is_free_also_after_the_end() {
    check(
        "
        write order timeout=1s
        read  extra timeout=3s needs=order
        undo  order-undo of=order
        result order
        start answer_by=12s concurrency=1 retry=0
        answer order
        crash              -> AttemptInterrupted extra/1, RunClosed
        compensate order   -> CompensationWanted order, no AttemptStarted, wake 3s
        at 3s              -> AttemptStarted order-undo/1
        answer order-undo  -> EffectCompensated order, RunClosed
    ",
    );
}

const ONE_IS_DONE: &str = "
        write order scope=business
        undo  order-undo of=order scope=business
        result order
        start answer_by=12s
        answer order     -> completed
";

#[test]
fn what_undid_another_runs_effect_is_not_taken_for_what_undoes_this_one() {
    for entry in ["applied", "partly", "compensated"] {
        check(&format!(
            "{ONE_IS_DONE}
        hold  order-undo {entry} abandoned=0s
        compensate order -> KeyAwaited order-undo, \
               CallFailed order-undo INVALID_INPUT KEY_HELD_BY_OTHER_RUN, no EffectApplied, \
               no EffectCompensated, no KeyTakenOver, effect order applied, closed
        release order-undo
        compensate order  -> AttemptStarted order-undo/1
        answer order-undo -> EffectCompensated order, closed
    "
        ));
    }
    check(&format!(
        "{ONE_IS_DONE}
        hold  order-undo mismatch
        compensate order -> CallFailed order-undo INVALID_INPUT IDEMPOTENCY_MISMATCH, closed
    "
    ));
}

#[test]
fn an_undo_waits_for_another_undo_s_doubt_a_bounded_number_of_times() {
    check(&format!(
        "{ONE_IS_DONE}
        hold  order-undo in_doubt abandoned=0s
        compensate order -> KeyAwaited order-undo, no KeyTakenOver, no closed
        at 599s          -> no CallFailed
        at 600s          -> CallFailed order-undo INVALID_INPUT KEY_HELD_BY_OTHER_RUN, closed
        compensate order -> CompensationWanted order wanted=2, KeyAwaited order-undo
        release order-undo
        freed order-undo -> AttemptStarted order-undo/1
    "
    ));
}
