//! Keys that another run holds: adopt its result, wait for it, refuse the mismatch.

use crate::scenario::check;

#[test]
fn a_key_another_run_has_applied_is_adopted_without_a_send() {
    check(
        "
        write  order scope=business
        hold   order applied
        start  -> EffectApplied order ADOPTED_FROM_OTHER_RUN, no AttemptStarted, no EffectIntended, \
               completed, closed, attempts order 0, budget spent=0 reserved=0
    ",
    );
}

#[test]
fn a_key_another_run_is_working_on_is_waited_for_and_then_adopted() {
    check(
        "
        write  order scope=business
        hold   order open
        start  answer_by=300s -> KeyAwaited order, out, wake 60s
        hold   order in_doubt -> nothing
        at 60s -> KeyAwaited order, wake 120s
        hold   order applied
        at 120s -> effect order applied ADOPTED_FROM_OTHER_RUN, completed
    ",
    );
}

#[test]
fn a_key_another_run_gave_up_is_taken() {
    check(
        "
        write  order scope=business
        hold   order open
        start  answer_by=300s -> KeyAwaited order
        hold   order not_applied
        at 60s -> EffectIntended order, out order
        answer order -> completed
    ",
    );
}

#[test]
fn a_key_used_with_another_request_is_a_mismatch_and_nothing_is_sent() {
    check(
        "
        write  order scope=business
        hold   order mismatch
        start  -> CallFailed order INVALID_INPUT IDEMPOTENCY_MISMATCH, handed_off, attempts order 0
    ",
    );
}

#[test]
fn a_key_that_stays_held_until_the_time_is_over_is_handed_off_with_its_reason() {
    check(
        "
        write  order scope=business
        hold   order open
        start  answer_by=3s
        at 1s  -> no KeyAwaited order
        at 3s  -> order failed DEADLINE_EXHAUSTED KEY_HELD_BY_OTHER_RUN, \
               handed_off, closed
    ",
    );
}

#[test]
fn one_held_item_does_not_hold_up_the_others() {
    check(
        "
        each   ticket_write scope=business effect=ticket cost=0.1
        list   ticket_write 3
        hold   ticket_write[1] open
        start  -> out ticket_write[0] ticket_write[2], KeyAwaited ticket_write[1]
        answer ticket_write[0]
        answer ticket_write[2] -> waiting, reason KEY_HELD
        hold   ticket_write[1] applied
        freed  ticket_write[1] -> completed
    ",
    );
}

#[test]
fn a_key_of_the_run_itself_needs_no_ledger() {
    check(
        "
        write  order
        hold   order applied
        start  -> out order
        answer order -> completed
    ",
    );
}

#[test]
fn the_ledgers_entry_follows_the_effect() {
    check(
        "
        write  order scope=business attempts=2 timeout=1s bound=0ms
        start  answer_by=60s -> entry order open, in_doubt 0
        lose   order -> entry order in_doubt, in_doubt 1
        gates  closed
        at 2s
        find   order absent -> entry order not_applied, in_doubt 0
        gates  open -> entry order open
        answer order -> entry order applied, completed
    ",
    );
}

#[test]
fn what_was_adopted_or_belongs_to_the_run_alone_has_no_entry_of_its_own() {
    check(
        "
        write  order scope=business
        write  mail needs=order
        hold   order applied
        start  -> effect order applied ADOPTED_FROM_OTHER_RUN, entry order none, out mail, \
               entry mail none
        answer mail -> entry mail none, completed
    ",
    );
}

#[test]
fn an_entry_of_a_partly_applied_effect_says_so() {
    check(
        "
        write  order scope=business
        start
        lose   order
        find   order partly -> entry order partly_applied, handed_off
    ",
    );
}

#[test]
fn a_late_applied_answer_corrects_the_entry_so_that_no_other_run_takes_the_key() {
    check(
        "
        write  order scope=business timeout=1s bound=0ms
        start  answer_by=60s
        lose   order
        at 2s
        find   order absent -> entry order not_applied, handed_off, closed
        answer order/1 -> entry order applied
    ",
    );
}

#[test]
fn a_run_that_waits_for_a_key_asks_again_as_soon_as_it_is_settled() {
    check(
        "
        write  order scope=business
        hold   order open
        start  -> KeyAwaited order, waiting, reason KEY_HELD, no AttemptStarted
        hold   order applied
        freed  order -> CallRescheduled order, effect order applied, completed, no AttemptStarted
    ",
    );
    check(
        "
        write  order scope=business
        hold   order open
        start  -> KeyAwaited order
        release order
        freed  order -> AttemptStarted order/1, out order
        freed  order -> nothing
        answer order -> completed
    ",
    );
}

#[test]
fn a_key_whose_run_cannot_go_on_is_taken_over_and_asked_about_before_anything_is_sent() {
    check(
        "
        write  order scope=business timeout=2s bound=500ms attempts=2
        hold   order in_doubt abandoned=3s
        start  answer_by=300s -> KeyTakenOver order, order in_doubt, lookup order 0s, \
               no AttemptStarted, no EffectIntended
        find   order absent   -> ControlSettled order NOT_FOUND_INSIDE_HORIZON, no AttemptStarted
        at 3s
        find   order absent   -> EffectAbsent order ABSENT_AFTER_HORIZON, AttemptStarted order/1
        answer order          -> completed
    ",
    );
    check(
        "
        write  order scope=business
        hold   order open abandoned=3s
        start  answer_by=300s -> KeyTakenOver order
        find   order applied  -> EffectApplied order FOUND_APPLIED, completed, attempts order 0
    ",
    );
}

#[test]
fn what_is_known_or_another_request_is_taken_over_by_nobody() {
    check(
        "
        write  order scope=business
        hold   order partly abandoned=3s
        start  answer_by=300s -> KeyAwaited order, no KeyTakenOver
        hold   order applied abandoned=3s
        at 60s                -> EffectApplied order ADOPTED_FROM_OTHER_RUN, no KeyTakenOver
    ",
    );
    check(
        "
        write  order scope=business
        hold   order mismatch abandoned=3s
        start  -> CallFailed order INVALID_INPUT IDEMPOTENCY_MISMATCH, no KeyTakenOver
    ",
    );
}

#[test]
fn a_person_settles_what_was_taken_over_and_its_key_is_as_old_as_its_first_request() {
    check(
        "
        write  order scope=business resolve=by_human timeout=2s
        hold   order in_doubt abandoned=3s
        start  answer_by=300s   -> KeyTakenOver order, no lookup
        settle order not_applied -> SETTLE_REFUSED
        at 3s
        settle order not_applied -> EffectAbsent order SETTLED_BY_HAND, AttemptStarted order/1
    ",
    );
    check(
        "
        write  order scope=business timeout=2s bound=500ms ttl=20s
        hold   order in_doubt abandoned=3s
        start  answer_by=300s   -> KeyTakenOver order
        at 12s
        find   order absent     -> EffectAbsent order ABSENT_AFTER_HORIZON, AttemptStarted order/1
    ",
    );
}

#[test]
fn a_key_whose_effect_was_undone_is_used_up() {
    check(
        "
        write  order scope=business
        hold   order compensated
        start  -> CallFailed order INVALID_INPUT COMPENSATED, handed_off, attempts order 0
    ",
    );
}
