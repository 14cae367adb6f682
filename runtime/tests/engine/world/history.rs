//! A run's log as text, one line per append, so that a test shows what it expects; and its state.

use mainstay_ledger::Ledger;
use mainstay_machine::{Event, Run, apply};
use mainstay_types::RunId;

use super::World;

impl World {
    /// The run's appends, one line each: event names with the path of their call.
    pub(crate) fn history(&self, run: RunId) -> Vec<String> {
        let Some(mut state) = self.unborn(run) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        for append in self.ledger.log_of(run) {
            let mut words = Vec::new();
            for stamped in append.events {
                apply(&mut state, &stamped.event).expect("the log is in order");
                words.push(said(&state, &stamped.event));
            }
            lines.push(words.join(", "));
        }
        lines
    }

    /// The run's state as its log has it.
    pub(crate) fn state(&self, run: RunId) -> Run {
        let mut state = self.unborn(run).expect("the run exists");
        for event in self.ledger.events_of(run) {
            apply(&mut state, &event).expect("the log is in order");
        }
        state
    }

    /// The run's newest lap and call states in one line each, for messages.
    pub(crate) fn describe(&self, run: RunId) -> String {
        format!("run {run}\n  {}", self.history(run).join("\n  "))
    }

    /// The only run there is.
    pub(crate) fn only_run(&self) -> RunId {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "one run: {runs:?}");
        runs[0]
    }

    /// All runs, in the order of their start.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let mut runs: Vec<RunId> = Vec::new();
        for append in self.ledger.log() {
            if !runs.contains(&append.run) {
                runs.push(append.run);
            }
        }
        runs
    }

    pub(super) fn unborn(&self, run: RunId) -> Option<Run> {
        let events = self.ledger.events_of(run);
        let Event::RunStarted(started) = events.first()? else {
            panic!("RunStarted comes first")
        };
        let class = started.class.clone();
        let found = self.ledger.inner().class(class.name, class.version);
        let found = self
            .executor()
            .block_on(found)
            .expect("readable")
            .expect("stored");
        Some(Run::unborn(found.class))
    }
}

fn said(run: &Run, event: &Event) -> String {
    let name = event.name();
    match (event, event.call()) {
        (Event::AttemptStarted(started), _) => {
            format!("{name} {}/{}", run.path(started.call), started.attempt)
        }
        (Event::AttemptSettled { call, attempt, .. }, _)
        | (Event::AttemptInterrupted { call, attempt, .. }, _)
        | (Event::LateResult { call, attempt, .. }, _) => {
            format!("{name} {}/{attempt}", run.path(*call))
        }
        (Event::EffectApplied { call, reason, .. }, _)
        | (Event::EffectInDoubt { call, reason, .. }, _)
        | (Event::EffectAbsent { call, reason }, _)
        | (Event::ControlSettled { call, reason, .. }, _) => {
            format!("{name} {} {reason}", run.path(*call))
        }
        (Event::LapEnded { outcome, .. }, _) => format!("{name} {}", outcome.as_str()),
        (_, Some(call)) => format!("{name} {}", run.path(call)),
        (_, None) => name.to_owned(),
    }
}
