//! What a model asks for: one open intent of one effect, whatever it calls it and however often.

use crate::scenario::{check, check_unfair};

#[test]
fn a_model_asks_is_answered_and_is_done() {
    check(
        "
        read       draft
        tool_read  find
        tool_write order
        tools      shop offers=find,order needs=draft
        start
        answer draft            -> shop items
        ask   shop c1 find desk -> ToolCalled shop c1 find slot=1, AttemptStarted find[0]/1
        answer find[0]          -> find[0] settled
        ask   shop c2 order desk -> ToolCalled shop c2 order slot=1, EffectIntended order[1]
        answer order[1]         -> order[1] settled, no CallSettled shop
        done  shop              -> ToolsDone shop, CallSettled shop, completed
    ",
    );
}

#[test]
fn done_waits_for_what_is_out_and_nothing_is_asked_after_it() {
    check(
        "
        tool_write order
        tools      shop offers=order
        start
        ask   shop c1 order desk
        done  shop               -> ToolsDone shop, no CallSettled
        ask   shop c2 order desk -> CALL_NOT_READY, no ToolCalled
        answer order[0]          -> CallSettled shop, completed
    ",
    );
}

#[test]
fn a_second_call_while_the_first_is_open_or_in_doubt_is_the_same_intent() {
    check(
        "
        tool_write order timeout=2s bound=500ms attempts=2
        tools      shop offers=order
        start answer_by=30s retry=1
        ask   shop c1 order desk -> AttemptStarted order[0]/1
        ask   shop c2 order desk -> ToolCalled shop c2 joins order[0], no AttemptStarted
        lose  order[0]           -> order[0] in_doubt
        ask   shop c3 order desk -> ToolCalled shop c3 joins order[0], no EffectIntended
        ask   shop c4 order lamp -> EFFECT_IN_DOUBT, no ToolCalled
        find  order[0] applied   -> order[0] settled
        done  shop               -> completed
    ",
    );
}

#[test]
fn after_applied_was_told_a_second_call_is_a_second_order_and_before_it_is_not() {
    check(
        "
        tool_write order
        tools      shop offers=order
        start
        ask   shop c1 order desk
        answer order[0]
        ask   shop c2 order desk           -> ToolCalled shop c2 joins order[0]
        ask   shop c3 order lamp           -> IDEMPOTENCY_MISMATCH, no ToolCalled
        ask   shop c4 order desk told=c2   -> ToolCalled shop c4 order slot=2, EffectIntended order[1]
        answer order[1]
        ask   shop c5 order desk           -> ToolCalled shop c5 joins order[1]
        ask   shop c6 order lamp told=c1,c4 -> ToolCalled shop c6 order slot=3
        answer order[2]
        done  shop                         -> completed
    ",
    );
}

#[test]
fn after_not_applied_the_next_call_is_the_same_slot_whatever_it_says() {
    check(
        "
        tool_write order attempts=1 timeout=2s bound=500ms
        tools      shop offers=order
        start answer_by=30s
        ask   shop c1 order desk
        fail  order[0] INVALID_INPUT answered -> CallFailed order[0], no HardPathLost
        ask   shop c2 order lamp           -> ToolCalled shop c2 order slot=1
        answer order[1]
        done  shop                         -> completed
    ",
    );
}

#[test]
fn the_same_call_again_changes_nothing_and_with_other_arguments_is_refused() {
    check(
        "
        tool_write order
        tools      shop offers=order
        start
        ask   shop c1 order desk
        ask   shop c1 order desk -> no ToolCalled
        ask   shop c1 order lamp -> IDEMPOTENCY_MISMATCH
        answer order[0]
        ask   shop c1 order desk -> no ToolCalled
        done  shop               -> completed
        done  shop               -> RUN_ENDED
    ",
    );
}

#[test]
fn an_effect_per_run_is_one_ever() {
    check(
        "
        tool_write order rule=per_run
        tools      shop offers=order
        start
        ask   shop c1 order desk
        answer order[0]
        ask   shop c2 order desk told=c1 -> ToolCalled shop c2 joins order[0]
        ask   shop c3 order lamp told=c1 -> IDEMPOTENCY_MISMATCH
        done  shop                       -> completed
    ",
    );
}

#[test]
fn what_a_model_may_ask_for_is_bounded_twice() {
    check(
        "
        tool_write order most=1
        tool_read  find most=2
        tools      shop offers=order,find most=4
        start
        ask   shop c1 order desk
        answer order[0]
        ask   shop c2 order desk told=c1 -> CAP_REACHED calls=1 cap=1, no ToolCalled
        ask   shop c3 find desk
        ask   shop c4 find desk
        ask   shop c5 find desk          -> CAP_REACHED calls=2 cap=2
        answer find[1]
        answer find[2]
        ask   shop c6 order desk         -> ToolCalled shop c6 joins order[0]
        ask   shop c7 order desk         -> CAP_REACHED calls=4 cap=4
        done  shop                       -> completed
    ",
    );
}

#[test]
fn two_tools_of_one_effect_have_one_open_intent_together() {
    check(
        "
        tool_write order effect=purchase
        tool_write express effect=purchase
        tools      shop offers=order,express
        start answer_by=30s
        ask   shop c1 order desk
        lose  order[0]
        ask   shop c2 express desk -> EFFECT_IN_DOUBT
        find  order[0] applied
        ask   shop c3 express desk -> IDEMPOTENCY_MISMATCH
        ask   shop c4 express desk told=c1 -> ToolCalled shop c4 express slot=2
        answer express[1]
        done  shop                 -> completed
    ",
    );
}

#[test]
fn what_a_person_settles_answers_the_model_too() {
    check(
        "
        tool_write order resolve=by_human
        tools      shop offers=order
        start answer_by=30s
        ask    shop c1 order desk
        lose   order[0]
        settle order[0] applied -> order[0] settled
        done   shop             -> completed
    ",
    );
}

#[test]
fn a_doubt_at_the_end_is_later_and_what_a_model_asked_for_is_not_asked_for_again() {
    check(
        "
        tool_write order resolve=by_human
        tools      shop offers=order
        start answer_by=12s doubt_wait=1h
        ask    shop c1 order desk
        lose   order[0]
        done   shop
        at 12s -> later order[0]
        settle order[0] applied -> completed
    ",
    );
    check(
        "
        tool_write order attempts=1 timeout=2s
        tools      shop offers=order
        start answer_by=12s doubt_wait=1h
        ask    shop c1 order desk
        fail   order[0] INVALID_INPUT answered
        at 12s -> handed_off
        continue -> LapStarted, no AttemptStarted, shop items
        ask    shop c2 order lamp -> ToolCalled shop c2 order slot=1, AttemptStarted order[1]/1
        answer order[1]
        done   shop -> completed
    ",
    );
}

#[test]
fn what_is_found_late_of_an_earlier_call_is_the_result_of_the_next_under_its_key() {
    check(
        "
        tool_write order timeout=2s bound=500ms attempts=1 scope=business
        tools      shop offers=order
        start answer_by=90s
        ask   shop c1 order desk
        lose  order[0]
        at 3500ms
        find  order[0] absent    -> CallFailed order[0]
        gates closed
        ask   shop c2 order desk -> ToolCalled shop c2 order slot=1, no AttemptStarted
        answer order[0]/1        -> LateResult order[0]/1, EffectApplied order[0], \
               EffectApplied order[1] ADOPTED_FROM_OTHER_RUN, entry order[0] applied
        ask   shop c3 order desk -> ToolCalled shop c3 joins order[1], no AttemptStarted
        gates open               -> no AttemptStarted
    ",
    );
    check_unfair(
        "
        tool_write order timeout=2s bound=500ms attempts=1 scope=business
        tools      shop offers=order
        start answer_by=90s
        ask   shop c1 order desk
        lose  order[0]
        at 3500ms
        find  order[0] absent    -> CallFailed order[0]
        ask   shop c2 order desk -> AttemptStarted order[1]/1
        answer order[0]/1        -> LateResult order[0]/1, EffectApplied order[0]
        fail  order[1] PERMANENT_PROVIDER answered -> EffectAbsent order[1], \
               entry order[1] applied
        ask   shop c3 order desk -> ToolCalled shop c3 joins order[0], no AttemptStarted
    ",
    );
}
