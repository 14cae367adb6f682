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
    /// How long its critical path is expected to take (nine of ten), with what its calls keep back.
    pub path: Millis,
    /// The reserve for putting the result together.
    pub synthesis: Millis,
    /// The reserve for asking what became of writes.
    pub reconcile: Millis,
    /// The reserve for giving the answer.
    pub deliver: Millis,
    /// The time to `answer_by`; in a class that says itself when its work ends, to where that is.
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
            path: path::critical_time_by(class, estimate),
            synthesis: class.reserve.synthesis,
            reconcile,
            deliver: class.reserve.deliver,
            left: at.until(times.work_by + class.reserve.deliver),
            observed: u32::try_from(forecast.calls.len()).unwrap_or(u32::MAX),
        };
        if admission.left < admission.need() {
            let work = admission.need().less(admission.deliver);
            let fits = |later: &Millis| forecast.takes_later && work <= *later;
            admission.verdict = match class.later.filter(fits) {
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

    /// Whether the class alone would admit it too, and on no less, so that there is nothing to
    /// record.
    fn is_plain(&self, class: &TaskClass, begin: (Timestamp, &LapTimes)) -> bool {
        let alone = Self::of(class, &Forecast::default(), begin);
        let both = [self.verdict, alone.verdict] == [Verdict::Admitted; 2];
        both && self.queue == Millis::ZERO && self.path <= alone.path
    }
}

/// What a start comes to: the times the lap has, and what is recorded of the decision.
pub(crate) fn decide(
    class: &TaskClass,
    started: &mut RunStarted,
    forecast: &Forecast,
) -> Result<Option<Admission>, Refusal> {
    let begin = (started.at, &started.times);
    let admission = Admission::of(class, forecast, begin);
    let is_plain = admission.is_plain(class, begin);
    match (admission.verdict, class.later) {
        (Verdict::Rejected, _) if started.start_key.is_none() => {
            return Err(admission.refusal(class));
        }
        (Verdict::Later, Some(later)) => later_times(class, started, later),
        (Verdict::Admitted | Verdict::Later | Verdict::Rejected, _) => {}
    }
    Ok((!is_plain).then_some(admission))
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
