//! Whether a lap is begun at all: what it needs at least has to fit before its answer.
//!
//! Asked once, at the start, of the class and of what was observed of its operations. A run that
//! has a start key is recorded as rejected, so that the key tells what became of it; one without is
//! refused and leaves nothing. Source: mission A6.

use mainstay_graph::{TaskClass, path};
use mainstay_types::{Code, Corrupt, Millis, NodeId, Refusal, Timestamp};

use crate::event::{Event, LapTimes, RunStarted};
use crate::guard;
use crate::run::Run;

/// What the admission of a lap was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The decision.
    pub verdict: Verdict,
    /// How long it is expected to wait in queues.
    pub queue: Millis,
    /// How long its critical path is expected to take (nine of ten).
    pub path: Millis,
    /// The reserve for putting the result together.
    pub synthesis: Millis,
    /// The reserve for asking what became of writes.
    pub reconcile: Millis,
    /// The reserve for giving the answer.
    pub deliver: Millis,
    /// The time to `answer_by`.
    pub left: Millis,
    /// Calls of the class whose time was observed; the others are the contracts' estimates.
    pub observed: u32,
}

/// What is decided about a lap at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It begins.
    Admitted,
    /// It begins, and its caller is told at once that the answer comes later.
    Later,
    /// It does not begin.
    Rejected,
}

impl Verdict {
    /// The stable text, for example `admitted`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Later => "later",
            Self::Rejected => "rejected",
        }
    }
}

/// What is known at a start beside the class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// How long the run is expected to wait in queues.
    pub queue: Millis,
    /// How long an attempt of a call takes by what was observed (nine of ten), for calls that were
    /// observed often enough.
    pub calls: Vec<(NodeId, Millis)>,
    /// Whether the caller takes an answer that says "later".
    pub takes_later: bool,
}

impl Admission {
    /// What the lap needs at least.
    #[must_use]
    pub fn need(&self) -> Millis {
        self.queue + self.path + self.synthesis + self.reconcile + self.deliver
    }

    /// The decision for a run of `class` that would begin at `at`.
    #[must_use]
    pub fn of(class: &TaskClass, forecast: &Forecast, (at, times): (Timestamp, &LapTimes)) -> Self {
        let observed = |id: NodeId| forecast.calls.iter().find(|(call, _)| *call == id);
        let estimate = |id| observed(id).map_or(path::estimate(class.node(id)), |seen| seen.1);
        let reconcile = match class.writes() {
            true => class.reserve.reconcile,
            false => Millis::ZERO,
        };
        let mut admission = Self {
            verdict: Verdict::Admitted,
            queue: forecast.queue,
            path: path::critical_path_by(class, estimate).estimate,
            synthesis: class.reserve.synthesis,
            reconcile,
            deliver: class.reserve.deliver,
            left: at.until(times.answer_by),
            observed: u32::try_from(forecast.calls.len()).unwrap_or(u32::MAX),
        };
        if admission.left < admission.need() {
            admission.verdict = match class.later.filter(|_| forecast.takes_later) {
                Some(_) => Verdict::Later,
                None => Verdict::Rejected,
            };
        }
        admission
    }

    /// "It does not fit", with the numbers.
    #[must_use]
    pub fn refusal(&self, class: &TaskClass) -> Refusal {
        Refusal::new(Code::InsufficientTimeBudget)
            .with("need_ms", self.need().get())
            .with("left_ms", self.left.get())
            .with("queue_ms", self.queue.get())
            .with("path_ms", self.path.get())
            .with("synthesis_ms", self.synthesis.get())
            .with("reconcile_ms", self.reconcile.get())
            .with("deliver_ms", self.deliver.get())
            .with("observed", self.observed)
            .about(format!("{} v{}", class.name, class.version))
    }

    /// Whether the class alone would say the same, so that there is nothing to record.
    fn is_plain(&self, class: &TaskClass) -> bool {
        let path = path::critical_path(class).estimate;
        self.verdict == Verdict::Admitted && self.queue == Millis::ZERO && self.path <= path
    }
}

/// What a start comes to: the times the lap has, and what is recorded of the decision.
pub(crate) fn decide(
    class: &TaskClass,
    started: &mut RunStarted,
    forecast: &Forecast,
) -> Result<Option<Admission>, Refusal> {
    let admission = Admission::of(class, forecast, (started.at, &started.times));
    match (admission.verdict, class.later) {
        (Verdict::Rejected, _) if started.start_key.is_none() => {
            return Err(admission.refusal(class));
        }
        (Verdict::Later, Some(later)) => later_times(class, started, later),
        (Verdict::Admitted | Verdict::Later | Verdict::Rejected, _) => {}
    }
    Ok((!admission.is_plain(class)).then_some(admission))
}

/// The caller is answered at once, and the work has the time the class gives it.
fn later_times(class: &TaskClass, started: &mut RunStarted, later: Millis) {
    let times = &mut started.times;
    times.answer_by = started.at;
    times.work_by = started.at + later;
    times.doubt_until = times.work_by + class.times.doubt_wait;
    if let Some(expires) = times.expires_at {
        times.doubt_until = times.doubt_until.min(expires);
    }
}

pub(crate) fn apply(run: &mut Run, admission: &Admission) -> Result<(), Corrupt> {
    let name = "AdmissionDecided";
    let lap = &mut guard::head_mut(run, name)?.lap;
    if lap.admission.is_some() || lap.outcome.is_some() {
        return Err(Corrupt::new(name, "the lap has begun"));
    }
    lap.admission = Some(*admission);
    Ok(())
}

pub(crate) fn recorded(admission: Admission) -> Event {
    Event::AdmissionDecided(admission)
}
