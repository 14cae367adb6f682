//! What was decided, in words, with its numbers: admissions, and what follows a failed attempt.

use mainstay_machine::{Admission, Decision, NextAction, Refused, Verdict};
use mainstay_types::Millis;

use super::AdmissionView;

/// How a lap was admitted.
pub(super) fn admitted(admission: &Admission) -> String {
    let what = match admission.verdict {
        Verdict::Admitted => "the run is admitted",
        Verdict::Later => "the run begins, and its caller is told that the answer comes later",
        Verdict::Rejected => "the run is rejected: INSUFFICIENT_TIME_BUDGET",
    };
    format!("{what}: {}", AdmissionView::of(admission).words())
}

/// What is done next about a call; the call itself is the sentence's subject.
pub(super) fn next(decision: &Decision) -> String {
    let n = &decision.numbers;
    let mut numbers = vec![format!("{} in a row", n.in_a_row)];
    numbers.push(format!("{} attempts left", n.attempts_left));
    numbers.push(allowed(decision));
    if n.wait_max != Millis::ZERO || n.retry_after.is_some() {
        numbers.push(format!("waits {} of at most {}", n.wait, n.wait_max));
    }
    if let Some(asked) = n.retry_after {
        numbers.push(format!("{asked} asked for"));
    }
    numbers.push(format!("an attempt takes {}, {} left", n.predicted, n.left));
    numbers.extend(decision.refused.as_ref().map(refused));
    format!(
        "{} after {}: {} ({})",
        action(&decision.next),
        decision.kind,
        decision.reason,
        numbers.join("; ")
    )
}

pub(super) fn action(next: &NextAction) -> String {
    match next {
        NextAction::Retry { .. } => "is to be tried again".to_owned(),
        NextAction::Repair => "is to be asked once more with what was wrong".to_owned(),
        NextAction::Fallback { rung } => format!("goes on with fallback {rung}"),
        NextAction::Reconcile => "is to be asked about first".to_owned(),
        NextAction::Wait => "waits for a limit to be raised".to_owned(),
        NextAction::Omit => "is given up and left out".to_owned(),
        NextAction::Fail => "is given up".to_owned(),
    }
}

/// `retries allowed: run 3, dependency 1`; who sets no limit is not named.
fn allowed(decision: &Decision) -> String {
    let allowed = &decision.numbers.allowed;
    let others = [
        ("dependency", allowed.dependency),
        ("tenant", allowed.tenant),
        ("all runs", allowed.global),
    ];
    let others = others
        .into_iter()
        .filter_map(|(who, limit)| Some(format!(", {who} {}", limit?)));
    format!(
        "retries allowed: run {}{}",
        allowed.run,
        others.collect::<String>()
    )
}

fn refused(refused: &Refused) -> String {
    let numbers = refused.numbers.iter();
    let numbers: Vec<String> = numbers.map(|(name, n)| format!("{name} {n}")).collect();
    format!("{}: {}", refused.code, numbers.join(", "))
}
