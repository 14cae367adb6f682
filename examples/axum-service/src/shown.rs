//! Runs as this API shows them: open, answered later, or with their outcome.
//!
//! One shape for `POST` and `GET`, so that a caller that was told "later" reads on where it was.

use mainstay::engine::{AnswerView, RunView};
use mainstay::{Outcome, RunId};
use serde::Serialize;

use crate::refund::Decision;

/// A run, seen from outside.
#[derive(Debug, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Shown {
    /// Nothing is known yet.
    Open {
        run: String,
        state: &'static str,
        waiting_for: Vec<String>,
    },
    /// The answer was due, and the outcome is not known yet.
    Later {
        run: String,
        state: &'static str,
        why: &'static str,
        /// The calls of which nobody knows yet whether they happened.
        doubts: Vec<String>,
        /// When the outcome is there at the latest.
        expected_by: String,
    },
    /// How it ended.
    Ready {
        run: String,
        outcome: &'static str,
        reason: &'static str,
        result: Option<Decision>,
        /// What the result lacks.
        notices: Vec<String>,
    },
}

impl Shown {
    /// A run that has no outcome.
    pub(crate) fn open(view: RunView) -> Self {
        let (run, state) = (view.run_id, view.state);
        match view.answer {
            Some(AnswerView::Later {
                why,
                doubts,
                expected_by,
                ..
            }) => Self::Later {
                run,
                state,
                why,
                doubts,
                expected_by,
            },
            Some(AnswerView::Ready) | None => Self::Open {
                run,
                state,
                waiting_for: view.waiting_for,
            },
        }
    }

    /// A run that has one.
    pub(crate) fn ready(run: RunId, outcome: Outcome<Decision>) -> Self {
        Self::Ready {
            run: run.to_string(),
            outcome: outcome.kind.as_str(),
            reason: outcome.reason.as_str(),
            result: outcome.result,
            notices: outcome.notices,
        }
    }
}
