//! A soft call never costs a hard one its place: a running soft read is stopped for it.

use crate::scenario::check;

#[test]
fn a_hard_call_that_waits_for_a_place_stops_the_soft_read_that_began_last() {
    check(
        "
        soft   a
        soft   b
        read   c
        read   d needs=c
        read   e needs=c
        result a b d e
        start  concurrency=3 -> out a b c
        answer c -> out a d e, NextDecided b retry PREEMPTED, CallRescheduled b PREEMPTED
        answer d -> out a b e, budget retry=0
        answer a
        answer b
        answer e -> completed
    ",
    );
}

#[test]
fn a_read_that_was_stopped_keeps_its_attempts_and_its_late_value_counts() {
    check(
        "
        soft   a attempts=1
        read   c
        read   d needs=c
        result a d
        start  concurrency=1 retry=0 -> out c
        answer c -> out d
        answer d -> out a
        answer a -> completed
    ",
    );
    check(
        "
        soft   a
        read   c
        read   d needs=c
        read   e needs=c
        result a d e
        start  concurrency=2 -> out a c
        answer c -> out d e, NextDecided a retry PREEMPTED
        answer a/1 -> LateResult a/1, a settled
        answer d
        answer e -> completed
    ",
    );
}

#[test]
fn nothing_is_stopped_for_soft_calls_or_once_the_hard_path_is_lost() {
    check(
        "
        soft   a
        soft   b
        read   c
        result a b c
        start  concurrency=2 -> out a c
        answer c -> out a b, no NextDecided
    ",
    );
}

#[test]
fn a_soft_write_is_never_stopped() {
    check(
        "
        read   c
        read   p
        write  a
        read   d needs=c
        result a d p
        start  concurrency=3 -> out c p a
        answer c -> out p a d, no NextDecided
    ",
    );
}

#[test]
fn a_soft_read_that_has_the_place_of_its_dependency_is_stopped_too() {
    check(
        "
        soft   a asks=model
        read   c
        read   d needs=c asks=model
        result a d
        cap    model at_once=1
        start  -> out a c
        answer c -> out d, NextDecided a retry CANCELED PREEMPTED
        answer d -> out a
        answer a -> completed
    ",
    );
}

#[test]
fn nobody_is_stopped_for_a_call_that_could_not_start_all_the_same() {
    check(
        "
        soft   s cost=3
        read   c
        read   b
        read   a needs=c cost=4
        read   e needs=c
        result s a b e
        start  concurrency=3 cost=10 -> out s c b
        answer c cost=2 -> out s b a
        may    e -> CONCURRENCY_EXHAUSTED in_flight=3 held=0 limit=3
        answer s cost=0 -> out b a e
        answer a
        answer b
        answer e -> completed
    ",
    );
}

#[test]
fn what_is_recorded_of_a_stop_is_that_it_was_one_and_counts_for_nothing() {
    check(
        "
        soft   a attempts=2
        read   c
        read   d needs=c
        read   e needs=c
        result a d e
        start  concurrency=2 -> out a c
        answer c -> NextDecided a retry CANCELED PREEMPTED attempts_left=2
    ",
    );
}

#[test]
fn what_nothing_can_stop_is_not_stopped_for_anybody() {
    check(
        "
        soft   a cancel=none
        soft   b
        read   c
        read   d needs=c
        read   e needs=c
        result a b d e
        start  concurrency=3 -> out a b c
        answer c -> out a d e, NextDecided b retry CANCELED PREEMPTED
        answer d
        answer e -> out a b
    ",
    );
    check(
        "
        soft   a cancel=none
        read   c
        read   d needs=c
        read   e needs=c
        result a d e
        start  concurrency=2 -> out a c
        answer c -> out a d, no PREEMPTED
        answer d -> out a e
        answer e
        answer a -> completed
    ",
    );
}

#[test]
fn what_nothing_can_stop_keeps_its_place_until_its_own_timeout() {
    check(
        "
        read   a cancel=none attempts=3 timeout=2s
        start  concurrency=1 retry=3
        fail   a TRANSIENT_TRANSPORT maybe_sent -> out
        may    a -> CONCURRENCY_EXHAUSTED in_flight=0 held=1 limit=1
        at     1999ms -> out
        at     2s -> out a
        answer a -> completed
    ",
    );
    check(
        "
        read   a attempts=3 timeout=2s
        start  concurrency=1 retry=3
        fail   a TRANSIENT_TRANSPORT maybe_sent -> out a
        answer a -> completed
    ",
    );
}

#[test]
fn a_stopped_read_costs_no_token_and_begins_again_when_no_hard_call_is_to_come() {
    check(
        "
        soft   s
        read   a
        read   b needs=a
        read   c needs=a
        read   d needs=b
        read   e needs=b
        read   f needs=d,e attempts=2
        result s b c d e f
        start  concurrency=2 retry=1 -> out s a
        answer a -> out b c, NextDecided s retry PREEMPTED
        answer c -> out b
        may    s -> SOFT_YIELDS hard_waiting=3
        answer b -> out d e
        answer d
        answer e -> out s f, budget retry=0
        fail   f OVERLOADED -> out s f, budget retry=1
        answer f
        answer s -> completed
    ",
    );
}
