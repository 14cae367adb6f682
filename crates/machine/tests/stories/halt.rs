//! A run stopped from outside its course: quarantined, lifted, terminated.

use crate::scenario::check;

#[test]
fn a_terminated_run_ends_at_once_and_still_finds_out_about_its_writes() {
    check(
        "
        write  order
        read   mail
        start  -> out order mail
        terminate    -> terminated REQUESTED, ended, out order, mail failed
        answer order -> addendum order ANSWERED, closed, terminated
    ",
    );
}

#[test]
fn a_terminated_run_without_its_code_owes_what_was_out() {
    check(
        "
        write  order
        start  -> out order
        code   absent
        crash  -> effect order in_doubt
        terminate -> terminated, ended, in_doubt 1
        find   order applied -> addendum order FOUND_APPLIED, closed
    ",
    );
}

#[test]
fn a_quarantined_run_can_be_terminated_and_its_doubts_are_asked_about_again() {
    check(
        "
        write  order
        start
        quarantine CLASS_PANICKED index out of bounds -> quarantined, reason CLASS_PANICKED, \
               effect order in_doubt, no lookup order, alerts quarantined
        terminate  -> terminated, ended, lookup order 0ms
        find   order applied -> closed
    ",
    );
}

#[test]
fn a_quarantined_run_is_lifted_into_the_lap_it_was_in() {
    check(
        "
        read   policy
        write  order needs=policy
        start  retry=2
        quarantine TURN_PANICKED no reason -> quarantined, reason TURN_PANICKED
        continue   -> QuarantineLifted, lap 1, running, out policy
        answer policy
        answer order -> completed
    ",
    );
}

#[test]
fn a_lifted_run_may_be_quarantined_again() {
    check(
        "
        read   policy
        start  retry=9
        quarantine TURN_PANICKED one
        continue   -> running
        quarantine TURN_PANICKED two -> quarantined
        continue   -> running
        answer policy -> completed
    ",
    );
}

#[test]
fn an_ended_run_cannot_be_terminated_unless_it_is_quarantined() {
    check(
        "
        write  order
        start  doubt_wait=0ms answer_by=12s
        lose   order
        at 12s -> handed_off, ended
        terminate -> RUN_ENDED
        quarantine TURN_PANICKED at a look-up -> quarantined
        terminate -> RunTerminated, handed_off, ended, no LapEnded
        terminate -> RUN_ENDED
        find order applied -> addendum order FOUND_APPLIED, closed
    ",
    );
}

#[test]
fn a_run_that_waits_says_what_for() {
    check(
        "
        read   policy attempts=3 timeout=2s
        start  answer_by=60s -> running, reason none
        fail   policy RATE_LIMITED retry_after=5s -> waiting, reason BACKOFF
        at 5s  -> running, reason none
    ",
    );
    check(
        "
        write  order scope=business
        hold   order open
        start  -> waiting, reason KEY_HELD
    ",
    );
}
