//! What a campaign and its worker say to each other: a line of JSON each, through the worker's
//! standard input and output.
//!
//! A line that is not whole was cut by a kill, and nobody was told what it says.

use mainstay_machine::OutcomeKind;
use mainstay_types::{Payload, RunId};
use serde::{Deserialize, Serialize};

use crate::world::book::{Order, Told};

/// What a worker is told at its start, as its one argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Errand {
    /// The class that it drives.
    pub(super) class: String,
    /// Its store.
    pub(super) store: std::path::PathBuf,
    /// Where everything outside is.
    pub(super) outside: String,
    /// What callers want is made from it.
    pub(super) seed: u64,
    /// How far the wall clock is from the system's, in ms.
    pub(super) clock_ms: i64,
    /// The size of the log's segments; the default one where it is not said.
    pub(super) segment_bytes: Option<u32>,
}

/// What a worker is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Ask {
    /// To start or find the run of an order, and to say what its caller is told.
    Call { order: usize },
    /// To cancel it.
    Cancel { order: usize, run: String },
    /// To take its wall clock for so many ms later, or earlier.
    Jump { ms: i64 },
    /// To stop once no run owes anything.
    Finish,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(super) enum Say {
    /// Its engine has started, so many ms after the process began to open its store.
    Open { ms: u64 },
    /// A caller was told this.
    Told { order: usize, told: Heard },
    /// A caller was refused with this code, and asks again.
    Refused { code: String },
    /// It cannot go on.
    Failed { code: String, message: String },
    /// It stops in order.
    Finished,
}

/// [`Told`] as it is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum Heard {
    Started {
        run: String,
    },
    Ready {
        outcome: String,
        result: Option<String>,
    },
    Later,
    Outcome {
        outcome: String,
        result: Option<String>,
    },
    Canceled,
}

impl From<Told> for Heard {
    fn from(told: Told) -> Self {
        match told {
            Told::Started(run) => Self::Started {
                run: run.to_string(),
            },
            Told::Ready(kind, result) => Self::Ready {
                outcome: kind.as_str().to_owned(),
                result: result.map(|result| text(&result)),
            },
            Told::Later => Self::Later,
            Told::Outcome(kind, result) => Self::Outcome {
                outcome: kind.as_str().to_owned(),
                result: result.map(|result| text(&result)),
            },
            Told::Canceled => Self::Canceled,
        }
    }
}

impl Heard {
    /// What was told; `None` where the line is not one of a worker.
    pub(super) fn told(self) -> Option<Told> {
        let kind = |code: &str| {
            let mut all = OutcomeKind::ALL.into_iter();
            all.find(|kind| kind.as_str() == code)
        };
        let payload = |text: String| Payload::new(text.into_bytes());
        Some(match self {
            Self::Started { run } => Told::Started(run.parse::<RunId>().ok()?),
            Self::Ready { outcome, result } => Told::Ready(kind(&outcome)?, result.map(payload)),
            Self::Later => Told::Later,
            Self::Outcome { outcome, result } => {
                Told::Outcome(kind(&outcome)?, result.map(payload))
            }
            Self::Canceled => Told::Canceled,
        })
    }
}

/// Canonical JSON is text.
pub(super) fn text(payload: &Payload) -> String {
    String::from_utf8_lossy(payload.as_bytes()).into_owned()
}

/// The order of this number, the same in every process: four of them share a tenant, so that now
/// and then two are over the same business id, and most are not.
pub(super) fn order(seed: u64, no: usize) -> Order {
    Order {
        no,
        key: format!("{seed}-{no}"),
        tenant: format!("tenant-{}", no / 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_told_comes_out_as_it_went_in() {
        let run: RunId = "01890000-0000-7000-8000-000000000001"
            .parse()
            .expect("an id");
        let result = Some(Payload::new(br#"{"a":"x"}"#.as_slice()));
        let mut all = vec![Told::Started(run), Told::Later, Told::Canceled];
        for kind in OutcomeKind::ALL {
            all.push(Told::Ready(kind, result.clone()));
            all.push(Told::Outcome(kind, None));
        }
        for told in all {
            let say = Say::Told {
                order: 3,
                told: told.clone().into(),
            };
            let line = serde_json::to_string(&say).expect("plain data");
            assert!(!line.contains('\n'));
            let Ok(Say::Told { told: heard, .. }) = serde_json::from_str(&line) else {
                panic!("{line}");
            };
            assert_eq!(heard.told(), Some(told));
        }
    }
}
