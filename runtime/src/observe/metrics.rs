//! The metrics: their names, units and labels in one table, and facts as numbers.
//!
//! Through the facade `metrics`: without a recorder of the host nothing is kept, and nothing costs
//! more than a few copies of names. Labels hold names of the class and stable codes only. It must
//! never take a label from a request, a reply, a caller or a failure's text.
//!
//! **How often an attempt is repeated** is a histogram of attempts per call, not two counters: each
//! call is one sample, taken when the call is over, so that sum and count are about the same calls
//! whatever the window, and `sum / count` is the amplification; its buckets show the few calls that
//! make all the load, which a quotient of totals hides. Two counters would disagree by whatever is
//! in flight. A gauge could not be added up over processes.

use mainstay_types::{ClassName, Code};
use metrics::{Label, SharedString, Unit};

use crate::error::EngineError;
use crate::observe::facts::{Fact, Place};

/// What kind of number a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, from 0 at the start of the process.
    Counter,
    /// A distribution of samples.
    Histogram,
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The stable name.
    pub name: &'static str,
    /// What kind of number.
    pub kind: Kind,
    /// The names of its labels, always all of them.
    pub labels: &'static [&'static str],
    /// What it counts.
    pub help: &'static str,
}

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        name,
        kind: Kind::Counter,
        labels,
        help,
    }
}

const RUNS: Metric = counter(
    "mainstay_logical_run_total",
    &["class", "outcome"],
    "Laps that got their outcome; a run that is continued has several",
);
const ATTEMPTS: Metric = counter(
    "mainstay_dependency_attempt_total",
    &["class", "node", "dependency", "ask", "end"],
    "Requests that are over: attempts, look-ups, and retries inside a client library",
);
const AMPLIFICATION: Metric = Metric {
    name: "mainstay_retry_amplification_ratio",
    kind: Kind::Histogram,
    labels: &["class", "node", "dependency"],
    help: "Attempts that one call took in its lap; sum / count is the amplification",
};
const EXHAUSTED: Metric = counter(
    "mainstay_budget_exhausted_total",
    &["class", "reason"],
    "Decisions that a run's limit forced: retry tokens, cost units, time",
);
const REJECTED: Metric = counter(
    "mainstay_queue_rejected_total",
    &["class", "reason"],
    "Starts that were refused for lack of room; nothing of them is stored",
);
const UNKNOWN: Metric = counter(
    "mainstay_effect_unknown_total",
    &["class", "node", "dependency", "reason"],
    "Writes whose outcome nobody knew for a while",
);
const FALLBACKS: Metric = counter(
    "mainstay_fallback_outcome_total",
    &["class", "node", "dependency", "outcome"],
    "Calls that their primary did not answer, by what they ended with",
);

const ORPHANS: Metric = counter(
    "mainstay_orphan_task_total",
    &["class", "node", "dependency", "state"],
    "Remote work that no run waits for any more: given up, what was seen of it, taken over, closed",
);

/// Every metric. Source: mission A24.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `mainstay_logical_run_total` | counter | class, outcome |
/// | `mainstay_dependency_attempt_total` | counter | class, node, dependency, ask, end |
/// | `mainstay_retry_amplification_ratio` | histogram | class, node, dependency |
/// | `mainstay_budget_exhausted_total` | counter | class, reason |
/// | `mainstay_queue_rejected_total` | counter | class, reason |
/// | `mainstay_effect_unknown_total` | counter | class, node, dependency, reason |
/// | `mainstay_fallback_outcome_total` | counter | class, node, dependency, outcome |
/// | `mainstay_orphan_task_total` | counter | class, node, dependency, state |
///
/// One name of A24 is not here yet, because nothing happens yet that it could count:
/// `degradation_transition_total` (modes of the process).
///
/// A fact counts when its append has been made durable, in the process that made it: a restart
/// counts nothing again, and what a process had no time to count after its last append is lost.
pub const METRICS: [Metric; 8] = [
    RUNS,
    ATTEMPTS,
    AMPLIFICATION,
    EXHAUSTED,
    REJECTED,
    UNKNOWN,
    FALLBACKS,
    ORPHANS,
];

/// Tells the host's recorder each metric's unit and meaning. An engine does it when it starts; call
/// it again when the recorder is installed later than that.
pub fn describe() {
    for metric in METRICS {
        match metric.kind {
            Kind::Counter => {
                metrics::describe_counter!(metric.name, Unit::Count, metric.help);
            }
            Kind::Histogram => {
                metrics::describe_histogram!(metric.name, Unit::Count, metric.help);
            }
        }
    }
}

/// Counts a fact.
pub(super) fn count(fact: Fact) {
    match fact {
        Fact::LapEnded { class, outcome } => {
            add(RUNS, vec![name(&class), outcome.as_str().into()], 1)
        }
        Fact::AskEnded { place, ask, end } => add(ATTEMPTS, at(&place, [ask.as_str(), end]), 1),
        Fact::ClientRetried { place, times } => {
            add(ATTEMPTS, at(&place, ["client_retry", "RETRIED"]), times);
        }
        Fact::CallEnded { place, attempts } => {
            let labels = labels(AMPLIFICATION, at(&place, []));
            metrics::histogram!(AMPLIFICATION.name, labels).record(f64::from(attempts));
        }
        Fact::BudgetExhausted { class, reason } => {
            add(EXHAUSTED, vec![name(&class), reason.as_str().into()], 1);
        }
        Fact::EffectUnknown { place, reason } => add(UNKNOWN, at(&place, [reason.as_str()]), 1),
        Fact::Orphan { place, state } => add(ORPHANS, at(&place, [state]), 1),
        Fact::FellBack { place, outcome } => add(FALLBACKS, at(&place, [outcome.as_str()]), 1),
    }
}

/// Counts a start that was refused for lack of room; other refusals say something about the caller,
/// not about the engine's load.
pub(crate) fn refused(class: &ClassName, error: &EngineError) {
    let code = error.code();
    if is_lack_of_room(code) {
        add(REJECTED, vec![name(class), code.as_str().into()], 1);
    }
}

fn is_lack_of_room(code: Code) -> bool {
    matches!(
        code,
        Code::EngineFull | Code::EngineStopping | Code::StoreFull
    )
}

fn add(metric: Metric, values: Vec<SharedString>, by: u32) {
    metrics::counter!(metric.name, labels(metric, values)).increment(u64::from(by));
}

fn labels(metric: Metric, values: Vec<SharedString>) -> Vec<Label> {
    debug_assert_eq!(metric.labels.len(), values.len(), "{}", metric.name);
    let named = metric.labels.iter().zip(values);
    named
        .map(|(&name, value)| Label::new(name, value))
        .collect()
}

fn at<const N: usize>(place: &Place, codes: [&'static str; N]) -> Vec<SharedString> {
    let names = [
        place.class.shared(),
        place.node.shared(),
        place.dependency.shared(),
    ];
    let names = names.map(SharedString::from);
    names
        .into_iter()
        .chain(codes.map(SharedString::from))
        .collect()
}

fn name(class: &ClassName) -> SharedString {
    class.shared().into()
}
