//! Whether a lap begins: what it needs at least against the time to its answer.

use crate::scenario::check;

const CLASS: &str = "
    read   a estimate=1s timeout=5s
    soft   s estimate=4s timeout=9s
    write  b needs=a,s estimate=2s timeout=4s
    reserve synthesis=500ms reconcile=700ms deliver=300ms
";

#[test]
fn a_lap_whose_critical_path_fits_by_its_contracts_says_nothing_of_it() {
    check(&format!(
        "{CLASS} start answer_by=9s -> no AdmissionDecided, out a s"
    ));
}

#[test]
fn what_was_observed_is_recorded_when_it_is_more_than_the_contracts_say() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s slow=a:3s \\
               -> AdmissionDecided admitted path=5000 need=6500 left=9000 observed=1, out a s
    "
    ));
    check(&format!(
        "{CLASS} start answer_by=9s slow=a:200ms -> no AdmissionDecided, out a s"
    ));
}

#[test]
fn a_keyed_start_that_does_not_fit_is_a_rejected_run_and_its_key_goes_on() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s slow=a:6s \\
               -> AdmissionDecided rejected need=9500 left=9000, \\
               rejected INSUFFICIENT_TIME_BUDGET, closed, no AttemptStarted, alerts
        continue -> lap 2, out a s
    "
    ));
}

#[test]
fn what_only_soft_calls_take_refuses_nobody() {
    check(&format!(
        "{CLASS} start answer_by=9s slow=s:60s -> no AdmissionDecided, out a s"
    ));
}

#[test]
fn the_wait_in_queues_counts() {
    check(&format!(
        "{CLASS} start answer_by=9s queue=4100ms -> AdmissionDecided admitted queue=4100 need=8600"
    ));
    check(&format!(
        "{CLASS} start answer_by=9s queue=5s -> rejected INSUFFICIENT_TIME_BUDGET"
    ));
}

#[test]
fn a_caller_who_waits_less_is_told_at_once_that_it_does_not_fit() {
    check(&format!(
        "{CLASS} start answer_by=9s within=4s \\
         -> rejected INSUFFICIENT_TIME_BUDGET, times answer_by=4s work_by=3700ms"
    ));
    check(&format!(
        "{CLASS} start answer_by=9s within=30s -> times answer_by=9s, out a s"
    ));
}

#[test]
fn a_class_that_may_work_behind_the_answer_tells_its_caller_so_at_once() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s slow=a:6s later=60s takes=later \\
               -> AdmissionDecided later, later, times answer_by=0s work_by=60s, out a s
        at     20s
        answer a
        answer s
        answer b -> completed, alerts ended_late
    "
    ));
    check(&format!(
        "{CLASS} start answer_by=9s slow=a:6s later=60s -> rejected INSUFFICIENT_TIME_BUDGET"
    ));
    check(&format!(
        "{CLASS} start answer_by=9s slow=a:6s takes=later -> rejected INSUFFICIENT_TIME_BUDGET"
    ));
}

#[test]
fn a_later_run_ends_when_its_own_time_is_up() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s slow=a:6s later=10s takes=later -> later, out a s
        at     5s
        fail   a OVERLOADED not_sent
        at     10s -> handed_off
    "
    ));
}

#[test]
fn a_class_that_says_when_its_work_ends_is_measured_by_that() {
    // It works behind its answer: the caller is told later, as the class means it.
    check(
        "
        read   a estimate=4s timeout=9s
        start  answer_by=2s work_by=60s -> no AdmissionDecided, out a
    ",
    );
    check(
        "
        read   a estimate=4s timeout=9s
        start  answer_by=2s work_by=60s slow=a:70s -> rejected INSUFFICIENT_TIME_BUDGET
    ",
    );
    // It stops before its answer: what cannot end by then is not begun.
    check(
        "
        read   a estimate=1s timeout=9s
        start  answer_by=10s work_by=5s slow=a:7s -> rejected INSUFFICIENT_TIME_BUDGET
    ",
    );
}

#[test]
fn what_a_call_keeps_back_behind_itself_counts() {
    check(
        "
        read   a estimate=1s timeout=4s reserve=3s
        start  answer_by=9s slow=a:5s -> AdmissionDecided admitted path=8000 need=8000, out a
    ",
    );
    check(
        "
        read   a estimate=1s timeout=4s reserve=3s
        start  answer_by=9s slow=a:7s -> rejected INSUFFICIENT_TIME_BUDGET
    ",
    );
}

#[test]
fn what_does_not_even_fit_behind_the_answer_is_rejected() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s slow=a:58s later=60s takes=later -> AdmissionDecided rejected
    "
    ));
}

#[test]
fn an_admission_that_only_what_was_observed_allowed_is_recorded() {
    check(&format!(
        "{CLASS}
        start  answer_by=9s within=4s slow=a:200ms,b:200ms \
               -> AdmissionDecided admitted need=1900 left=4000 observed=2, out a s
    "
    ));
}
