//! Remote work that is given up: whose it is, until when, and what becomes of it.

use mainstay_machine::orphan::{Happens, Stage, table};

use crate::scenario::check;

/// What happens, then where it leads from each stage; `-` where it may not happen.
const TABLE: &str = "
    from      not_there  left       watched    adopted    overdue    observed   closed
    Left      left       -          -          -          -          -          -
    Watched   watched    -          -          -          -          -          -
    Heard     -          observed   observed   observed   observed   -          observed
    Unheard   -          -          overdue    overdue    -          -          -
    Adopted   -          adopted    adopted    adopted    adopted    -          -
    Closed    -          closed     closed     closed     closed     -          -
";

const fn word(stage: Stage) -> &'static str {
    match stage {
        Stage::NotThere => "not_there",
        Stage::Left => "left",
        Stage::Watched => "watched",
        Stage::Adopted => "adopted",
        Stage::Overdue => "overdue",
        Stage::Observed => "observed",
        Stage::Closed => "closed",
    }
}

#[test]
fn each_pair_of_a_stage_and_what_happens_leads_where_the_table_says() {
    let lines = TABLE.lines().filter(|line| !line.trim().is_empty());
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let from: Vec<&str> = Stage::ALL.map(word).into();
    assert_eq!(lines.next().unwrap()[1..], from);
    for what in Happens::ALL {
        let line = lines.next().expect("a line for each");
        assert_eq!(line[0], format!("{what:?}"));
        for (stage, expected) in Stage::ALL.into_iter().zip(&line[1..]) {
            let to = table(stage, what).map_or("-", word);
            assert_eq!(to, *expected, "{what:?} from {stage:?}");
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn a_read_that_a_cancel_stops_is_theirs_who_asked_until_its_timeout() {
    check(
        "
        read   draft timeout=5s
        start
        at 1s
        cancel -> CancelRequested, AttemptSettled draft/1, AttemptOrphaned draft/1 ann until=5000ms, \
               orphan draft/1 running ann, canceled, closed, alerts, wake none
        at 6s  -> no OrphanObserved, orphan draft/1 running, closed
    ",
    );
}

#[test]
fn a_class_has_what_was_given_up_waited_for_longer() {
    check(
        "
        read   draft timeout=5s orphan_ttl=1h
        start
        cancel -> AttemptOrphaned draft/1 ann until=3605000ms, closed
    ",
    );
}

#[test]
fn a_read_that_is_out_at_the_end_of_its_lap_is_nobodys_in_particular() {
    check(
        "
        read   draft timeout=30s
        read   late timeout=30s
        local  report needs=draft,late
        start  answer_by=12s concurrency=2
        at 12s -> AttemptOrphaned draft/1 mainstay until=12000ms, \
               AttemptOrphaned late/1 mainstay until=12000ms, handed_off, closed
    ",
    );
    check(
        "
        read   facts
        read   draft timeout=5s
        local  report needs=draft,facts
        start  concurrency=2
        fail   facts UNAUTHORIZED -> HardPathLost facts
        terminate -> AttemptOrphaned draft/1 mainstay until=5000ms, terminated
    ",
    );
}

#[test]
fn a_cancel_that_was_asked_for_owns_what_is_given_up_while_it_waits() {
    check(
        "
        write  order without_key=yes attempts=3 timeout=1s bound=500ms
        start  retry=4 answer_by=60s
        lose   order
        at 3s
        find   order absent   -> AttemptStarted order/2
        cancel                -> CancelRequested, no AttemptOrphaned, out order
        answer order/1        -> AttemptSettled order/2, AttemptOrphaned order/2 ann until=5500ms, \
               EffectApplied order, canceled
    ",
    );
}

#[test]
fn a_soft_read_that_is_stopped_for_a_hard_call_is_an_orphan_and_begins_again_without_a_retry() {
    check(
        "
        soft   a timeout=9s
        read   c
        read   d needs=c
        read   e needs=c
        result a d e
        start  concurrency=2 retry=0 answer_by=30s
        answer c -> AttemptSettled a/1, AttemptOrphaned a/1 mainstay until=9000ms, out d e
        fail   a/1 CANCELED cost=0.5 -> OrphanObserved a/1 canceled, a ready
        answer d
        answer e -> out a, attempts a 2, budget retry=0
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
        start  concurrency=2
        answer c -> AttemptOrphaned a/1
        answer a/1 -> LateResult a/1, OrphanObserved a/1 completed_late, a settled, \
               no LateValueRecorded
        answer d
        answer e -> completed
    ",
    );
}

#[test]
fn what_ran_in_this_process_leaves_nobody_to_ask() {
    check(
        "
        soft   a fallback=provider,local
        read   c
        read   d needs=c
        read   e needs=c
        result a d e
        start  concurrency=2
        fail   a PERMANENT_PROVIDER
        fail   a PERMANENT_PROVIDER -> rung a 2
        answer c -> NextDecided a retry PREEMPTED, no AttemptOrphaned, orphan a/3 none
        answer d
        answer e
        answer a -> degraded
    ",
    );
}

#[test]
fn a_write_under_a_key_that_is_dropped_is_the_same_effect_and_no_orphan() {
    check(
        "
        write  order attempts=3 timeout=1s bound=0ms
        start  retry=4 answer_by=60s
        lose   order
        at 2s
        find   order absent -> out order
        answer order/1 -> AttemptSettled order/2, no AttemptOrphaned, EffectApplied order, completed
        answer order/2 -> LateResult order/2, LateValueRecorded order/2 keep without_value, alerts
    ",
    );
}

#[test]
fn an_attempt_that_says_that_it_stopped_is_observed_canceled_once_and_priced() {
    for report in ["CANCELED", "TRANSIENT_TRANSPORT not_sent"] {
        check(&format!(
            "
            read   draft timeout=5s cost=2
            start
            cancel -> canceled, budget spent=2
            fail   draft/1 {report} cost=0.5 -> LateResult draft/1, OrphanObserved draft/1 canceled, \
                   orphan draft/1 canceled, no LateValueRecorded, budget spent=0.5
            fail   draft/1 {report} cost=0.5 -> ATTEMPT_SETTLED
            answer draft/1 cost=1 -> ATTEMPT_SETTLED, budget spent=0.5
        "
        ));
    }
}

#[test]
fn one_that_never_left_costs_nothing_and_one_that_says_no_price_costs_what_was_reserved() {
    check(
        "
        read   draft timeout=5s cost=2
        start
        cancel -> budget spent=2
        fail   draft/1 OVERLOADED not_sent -> OrphanObserved draft/1 canceled, budget spent=0
    ",
    );
    check(
        "
        read   draft timeout=5s cost=2
        start
        cancel -> budget spent=2
        fail   draft/1 OVERLOADED retries=3 -> OrphanObserved draft/1 failed, budget spent=2 retry=3
    ",
    );
}

#[test]
fn an_answer_that_comes_after_all_is_observed_completed_late_and_what_fails_by_itself_failed() {
    check(
        "
        read   draft timeout=5s
        start
        cancel
        answer draft/1 cost=0.5 -> LateResult draft/1, LateValueRecorded draft/1 drop without_value, \
               OrphanObserved draft/1 completed_late, no CallSettled, budget spent=0.5
        answer draft/1 -> ATTEMPT_SETTLED
    ",
    );
    check(
        "
        read   draft timeout=5s
        start
        cancel
        fail   draft/1 PERMANENT_PROVIDER -> OrphanObserved draft/1 failed, orphan draft/1 failed
    ",
    );
}

#[test]
fn a_report_that_tells_nothing_changes_nothing() {
    check(
        "
        read   draft timeout=5s
        start
        cancel
        fail   draft/1 TRANSIENT_TRANSPORT maybe_sent -> ATTEMPT_SETTLED, orphan draft/1 running
        lose   draft/1 -> ATTEMPT_SETTLED, orphan draft/1 running
        answer draft/1 -> OrphanObserved draft/1 completed_late
    ",
    );
}

#[test]
fn what_a_class_has_reviewed_holds_its_run_until_it_is_known() {
    check(
        "
        read   draft timeout=5s late=review
        start
        cancel -> AttemptOrphaned draft/1 ann until=5000ms, canceled, ended, no RunClosed, wake 5s
        fail   draft/1 CANCELED -> OrphanObserved draft/1 canceled, RunClosed, closed, wake none
    ",
    );
    check(
        "
        read   draft timeout=5s late=review
        start
        cancel -> ended
        answer draft/1 -> OrphanObserved draft/1 completed_late, \
               LateValueRecorded draft/1 review with_value, alerts late_result, closed
    ",
    );
}

#[test]
fn what_nothing_is_heard_of_in_its_time_is_told_once_and_holds_its_run_until_somebody_closes_it() {
    check(
        "
        read   draft timeout=5s late=review orphan_ttl=10s
        start
        cancel -> wake 15s
        at 14999ms -> orphan draft/1 running, ended
        at 15s -> OrphanObserved draft/1 still_running, alerts orphan_overdue, \
               orphan draft/1 overdue ann, ended, wake none
        at 1h  -> nothing, ended
        close draft/1 by=bob -> OrphanClosed draft/1 bob, orphan draft/1 closed, closed
        close draft/1 by=bob -> nothing
        adopt draft/1 -> ORPHAN_NOT_THERE
    ",
    );
}

#[test]
fn an_answer_that_comes_when_it_is_overdue_or_closed_is_still_recorded() {
    check(
        "
        read   draft timeout=5s late=review
        start
        cancel
        at 5s  -> alerts orphan_overdue
        answer draft/1 cost=0.5 -> OrphanObserved draft/1 completed_late, alerts late_result, \
               closed, budget spent=0.5
    ",
    );
    check(
        "
        read   draft timeout=5s late=review
        start
        cancel
        close draft/1 -> closed
        answer draft/1 cost=0.5 -> LateResult draft/1, LateValueRecorded draft/1 review with_value, \
               OrphanObserved draft/1 completed_late, closed, budget spent=0.5
        answer draft/1 -> ATTEMPT_SETTLED
    ",
    );
}

#[test]
fn a_person_takes_over_what_nobody_was_to_hear_of_and_hears_of_it() {
    check(
        "
        read   draft timeout=5s
        start
        cancel -> closed
        adopt draft/1 for=1h by=bob -> OrphanAdopted draft/1 bob until=3600000ms, \
               orphan draft/1 adopted bob, ended, wake 1h
        at 1h  -> OrphanObserved draft/1 still_running, alerts orphan_overdue, ended
        adopt draft/1 for=2h by=eve -> orphan draft/1 adopted eve until=10800000ms, wake 3h
        at 3h  -> alerts orphan_overdue
        close draft/1 -> RunClosed, closed
    ",
    );
}

#[test]
fn one_wish_of_two_that_saw_the_same_is_taken() {
    check(
        "
        read   draft timeout=5s
        start
        cancel
        adopt draft/1 for=1h by=bob -> OrphanAdopted draft/1 bob
        adopt draft/1 for=2h by=eve after=0 -> nothing, orphan draft/1 adopted bob
        close draft/1 by=eve after=0 -> nothing, ended
        adopt draft/1 for=2h by=eve -> OrphanAdopted draft/1 eve
        fail  draft/1 CANCELED -> RunClosed
        adopt draft/1 for=2h by=eve -> ORPHAN_NOT_THERE
        close draft/1 -> ORPHAN_NOT_THERE
    ",
    );
}

#[test]
fn nobody_takes_over_what_was_not_given_up_or_whose_time_is_over_or_for_too_long() {
    check(
        "
        read   facts attempts=2
        read   draft needs=facts timeout=5s
        start  retry=1
        close  facts/1 -> ORPHAN_NOT_THERE
        fail   facts OVERLOADED
        adopt  facts/1 -> ORPHAN_NOT_THERE
        answer facts
        adopt  facts/2 -> ORPHAN_NOT_THERE
        adopt  facts/9 -> ORPHAN_NOT_THERE
        cancel
        adopt  draft/1 for=200h -> INVALID_INPUT limit_ms=604800000
        at 5s
        adopt  draft/1 -> ORPHAN_NOT_THERE
        close  draft/1 -> ORPHAN_NOT_THERE, closed
    ",
    );
}

#[test]
fn a_quarantined_run_hears_a_wish_and_tells_what_is_overdue_when_it_is_driven_again() {
    check(
        "
        read   draft timeout=5s late=review orphan_ttl=5s
        read   other timeout=5s
        local  report needs=draft,other
        start  answer_by=3s
        at 3s  -> AttemptOrphaned draft/1, handed_off, ended
        quarantine TURN_PANICKED it broke
        at 10s -> no OrphanObserved
        adopt other/1 -> ORPHAN_NOT_THERE
        terminate -> OrphanObserved draft/1 still_running, alerts orphan_overdue, ended
        close draft/1 -> closed
    ",
    );
}

#[test]
fn the_next_lap_goes_on_beside_an_orphan_of_the_last_and_is_told_of_it() {
    check(
        "
        read   draft timeout=5s late=review orphan_ttl=20s
        start  answer_by=3s
        at 3s  -> handed_off, ended
        continue -> AttemptStarted draft/2, running
        answer draft/2 -> completed, ended
        answer draft/1 cost=0.5 -> LateResult draft/1, LateValueRecorded draft/1 review with_value, \
               past 1 spent=0.5, closed
    ",
    );
    check(
        "
        read   draft timeout=60s late=review orphan_ttl=60s
        start  answer_by=3s
        at 3s
        continue
        at 5900ms -> running
        cancel -> orphan draft/2 running ann, ended
        fail   draft/2 CANCELED -> ended
        at 63s -> OrphanObserved draft/1 still_running, ended
        close draft/1 -> closed
    ",
    );
}
