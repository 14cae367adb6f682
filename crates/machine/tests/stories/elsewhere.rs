//! What is learned of an effect whose key another run has: it is that run's to know, and what that
//! run has is what this one goes by.

use crate::scenario::check;

const IN_DOUBT: &str = "
        write order scope=business timeout=2s
        start answer_by=300s
        crash                     -> EffectInDoubt order
";

#[test]
fn an_answer_to_a_run_that_lost_its_key_settles_nothing_there_and_follows_the_entry() {
    for (entry, follows) in [
        (
            "in_doubt",
            "EffectAbsent order KEY_HELD_BY_OTHER_RUN, no EffectApplied",
        ),
        (
            "open",
            "EffectAbsent order KEY_HELD_BY_OTHER_RUN, no EffectApplied",
        ),
        (
            "partly",
            "EffectAbsent order KEY_HELD_BY_OTHER_RUN, no EffectApplied",
        ),
        (
            "applied",
            "EffectApplied order ADOPTED_FROM_OTHER_RUN, completed",
        ),
        (
            "compensated",
            "CallFailed order INVALID_INPUT COMPENSATED, no EffectApplied, handed_off",
        ),
    ] {
        check(&format!(
            "{IN_DOUBT}
        answer order held={entry} -> LateResult order/1, {follows}
    "
        ));
        check(&format!(
            "
        write order scope=business timeout=2s
        start answer_by=300s
        answer order held={entry} -> AttemptSettled order/1, {follows}
    "
        ));
    }
}

#[test]
fn a_sure_failure_of_a_run_that_lost_its_key_says_nothing_of_the_other_one_s_effect() {
    check(&format!(
        "{IN_DOUBT}
        fail order PERMANENT_PROVIDER answered held=in_doubt -> LateResult order/1, \
               EffectAbsent order KEY_HELD_BY_OTHER_RUN, no CallFailed
    "
    ));
}

#[test]
fn an_answer_about_what_was_taken_for_absent_is_an_addendum_where_another_run_has_the_key() {
    check(
        "
        write  order scope=business timeout=1s bound=0ms
        start  answer_by=60s
        lose   order
        at 2s
        find   order absent              -> handed_off, closed
        answer order/1 held=applied      -> LateResult order/1, addendum order ANSWERED, \
               no EffectApplied, effect order absent
    ",
    );
}

#[test]
fn what_another_run_was_answered_ends_the_doubt_as_a_look_up_would() {
    check(
        "
        write  order scope=business timeout=2s
        hold   order in_doubt abandoned=3s
        start  answer_by=300s -> KeyTakenOver order
        told   order          -> EffectApplied order FOUND_APPLIED, completed, no AddendumRecorded
    ",
    );
}

#[test]
fn what_was_ruled_out_and_waits_is_not_sent_again_once_another_run_was_answered() {
    check(
        "
        write  order scope=business timeout=2s attempts=2 backoff=5s/5s resolve=by_human
        hold   order in_doubt abandoned=3s
        start  answer_by=300s -> KeyTakenOver order
        gates  closed
        at 3s
        settle order not_applied -> EffectAbsent order SETTLED_BY_HAND, no AttemptStarted
        told   order          -> EffectApplied order FOUND_APPLIED, completed, attempts order 0
    ",
    );
}

#[test]
fn that_two_requests_under_one_key_may_be_in_the_world_is_told_to_people() {
    let sent_again = "
        write  order scope=business timeout=2s attempts=2 resolve=by_human
        hold   order in_doubt abandoned=3s
        start  answer_by=300s -> KeyTakenOver order
        at 3s
        settle order not_applied -> AttemptStarted order/1
    ";
    check(&format!(
        "{sent_again}
        told   order -> AttemptSettled order/1, EffectApplied order FOUND_APPLIED, \
               AddendumRecorded order DONE_TWICE, completed
    "
    ));
    check(&format!(
        "{sent_again}
        answer order with=second
        told   order first -> AddendumRecorded order DONE_TWICE, no EffectApplied
        told   order first -> nothing
    "
    ));
    // A receiver that does the same key once answers the same twice.
    check(&format!(
        "{sent_again}
        answer order with=same
        told   order same -> nothing
    "
    ));
}

#[test]
fn another_request_under_the_key_is_told_and_is_nobody_s_result() {
    check(
        "
        write  order scope=business timeout=2s
        start  answer_by=300s
        told   order mismatch -> AddendumRecorded order DONE_TWICE, no EffectApplied
        answer order          -> EffectApplied order ANSWERED, completed
    ",
    );
}

#[test]
fn what_was_undone_is_not_there_again_because_another_run_was_answered_late() {
    check(
        "
        write order scope=business
        undo  order-undo of=order scope=business
        result order
        hold   order in_doubt abandoned=0s
        start answer_by=300s
        find  order applied -> completed
        compensate order
        answer order-undo   -> EffectCompensated order, closed
        told  order         -> nothing
    ",
    );
}

#[test]
fn a_value_taken_from_another_run_is_none_once_it_was_undone_there() {
    check(
        "
        write order scope=business
        read  told needs=order
        result order told
        hold  order applied
        start answer_by=12s     -> EffectApplied order ADOPTED_FROM_OTHER_RUN
        look  order applied     -> nothing
        look  order compensated -> EffectCompensated order, HardPathLost order
        look  order compensated -> CALL_NOT_READY
        answer told             -> handed_off, closed
    ",
    );
    check(
        "
        each  order scope=business max=2
        list  order 2
        hold  order[0] applied
        start answer_by=12s
        answer order[1]            -> completed
        continue                   -> CONTINUE_REFUSED
        look  order[0] compensated -> EffectCompensated order[0], addendum order[0] COMPENSATED
    ",
    );
}
