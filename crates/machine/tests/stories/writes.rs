//! Writes: lists of 0, 1 and 50, items that fail for good, retries under one key.

use crate::scenario::check;

#[test]
fn a_list_of_no_items_writes_nothing_and_completes() {
    check(
        "
        class meeting
        list   ticket_write 0
        start
        answer policy
        answer related
        answer specialist
        answer draft -> ListRecorded ticket_write, no EffectIntended, ticket_write settled, completed
    ",
    );
}

#[test]
fn a_list_of_one_item_is_one_effect() {
    check(
        "
        class meeting
        list   ticket_write 1
        start
        answer policy
        answer related
        answer specialist
        answer draft -> out ticket_write[0]
        answer ticket_write[0] -> completed, budget spent=7.1
    ",
    );
}

#[test]
fn fifty_items_go_out_as_concurrency_allows_and_each_once() {
    let answers: String = (0..50)
        .map(|item| match item {
            0 => "answer ticket_write[0] -> out ticket_write[1] ticket_write[2] ticket_write[3] \
                  ticket_write[4] ticket_write[5]\n"
                .to_owned(),
            49 => "answer ticket_write[49] -> completed, closed, attempts ticket_write[49] 1\n"
                .to_owned(),
            _ => {
                format!("answer ticket_write[{item}] -> running, attempts ticket_write[{item}] 1\n")
            }
        })
        .collect();
    check(&format!(
        "
        each   ticket_write cost=0.1 max=50
        list   ticket_write 50
        start  concurrency=5 cost=18 -> out ticket_write[0] ticket_write[1] ticket_write[2] \
               ticket_write[3] ticket_write[4]
        {answers}
    "
    ));
}

#[test]
fn a_list_longer_than_its_bound_is_an_error_of_the_input() {
    check(
        "
        each   ticket_write max=2
        list   ticket_write 3
        start  -> CallFailed ticket_write INVALID_INPUT, HardPathLost ticket_write, handed_off
    ",
    );
}

#[test]
fn an_item_that_fails_for_good_does_not_hold_up_the_others() {
    check(
        "
        each   ticket_write cost=0.1
        list   ticket_write 3
        start  concurrency=1 -> out ticket_write[0]
        fail   ticket_write[0] PERMANENT_PROVIDER -> EffectAbsent ticket_write[0] REFUSED_BY_RECEIVER, \
               CallFailed ticket_write[0] PERMANENT_PROVIDER, no HardPathLost, out ticket_write[1]
        answer ticket_write[1] -> out ticket_write[2]
        answer ticket_write[2] -> CallFailed ticket_write PERMANENT_PROVIDER, \
               handed_off HARD_CALL_FAILED, closed, ticket_write[1] settled
    ",
    );
}

#[test]
fn a_refused_write_is_retried_under_the_same_key_for_a_token() {
    check(
        "
        write  order attempts=2
        start  retry=1
        fail   order OVERLOADED -> EffectAbsent order REFUSED_BY_RECEIVER, CallRescheduled order, \
               AttemptStarted order/2, no EffectIntended, budget retry=1, effect order dispatched
        answer order -> completed
    ",
    );
}

#[test]
fn a_write_that_never_left_costs_nothing_and_is_no_doubt() {
    check(
        "
        write  order attempts=2
        start
        fail   order TRANSIENT_TRANSPORT not_sent -> EffectAbsent order, no EffectInDoubt, \
               budget spent=0 retry=1 reserved=1
        answer order -> completed
    ",
    );
}

#[test]
fn a_write_that_a_receiver_refuses_for_good_is_lost() {
    check(
        "
        write  order attempts=3
        start
        fail   order INVALID_INPUT -> EffectAbsent order REFUSED_BY_RECEIVER, \
               CallFailed order INVALID_INPUT, handed_off, closed, attempts order 1
    ",
    );
}

#[test]
fn a_write_whose_answer_cannot_be_read_is_in_doubt() {
    check(
        "
        write  order attempts=3
        start
        fail   order RESULT_INVALID answered -> EffectInDoubt order, no EffectAbsent
        find   order applied -> completed
    ",
    );
}

#[test]
fn a_write_that_was_refused_without_proof_is_asked_about_before_it_is_given_up() {
    // Its token goes to another call while it waits.
    check(
        "
        write  order attempts=3 backoff=2s/2s
        read   b attempts=3
        result order b
        start  retry=1 -> out order b
        fail   order OVERLOADED draw=4294967295 -> EffectAbsent order REFUSED_BY_RECEIVER
        fail   b OVERLOADED -> out b
        at     2s -> order in_doubt, NextDecided order reconcile, no CallFailed
        find   order applied -> order settled
    ",
    );
    // The next answer is sure, and says nothing of the one before.
    check(
        "
        write  order attempts=3
        start  retry=2 -> out order
        fail   order OVERLOADED -> out order
        fail   order INVALID_INPUT -> order in_doubt, no CallFailed
        find   order applied -> completed
    ",
    );
    // Proven since.
    check(
        "
        write  order attempts=2 bound=100ms
        start  retry=1 -> out order
        fail   order OVERLOADED -> out order
        fail   order OVERLOADED -> order in_doubt
        at     5s
        find   order absent -> CallFailed order, handed_off
    ",
    );
}

#[test]
fn a_lap_does_not_end_before_such_a_write_is_asked_about() {
    check(
        "
        write  order attempts=3 backoff=5s/5s
        read   b attempts=1
        result order b
        start  -> out order b
        fail   order OVERLOADED draw=4294967295 -> out b
        fail   b OVERLOADED -> HardPathLost b, order in_doubt, no LapEnded
        find   order applied -> handed_off
    ",
    );
    check(
        "
        write  order attempts=3 backoff=5s/5s
        start  -> out order
        fail   order OVERLOADED draw=4294967295 -> out
        cancel -> order in_doubt, no LapEnded
        find   order applied -> canceled
    ",
    );
}
