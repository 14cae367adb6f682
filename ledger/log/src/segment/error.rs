//! How the log fails: damage, no room, a disk that cannot be trusted any more.
//!
//! Each says what was found and where. Damage is never skipped, guessed at or repaired here.

use std::io;
use std::path::Path;

use mainstay_ledger::LedgerError;

use super::{Place, SegmentNo};
use crate::fault;

/// A log that could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// What is stored is not what was written.
    #[error("{}{detail}", at(*place))]
    Damaged {
        /// What was found.
        detail: String,
        /// Where, when it is in a segment.
        place: Option<Place>,
    },
    /// The disk refused something; the log goes on, and the next try may go well.
    #[error("{detail}")]
    Io {
        /// What failed.
        detail: String,
    },
    /// There is no room for what was to be appended. Nothing of it is in the log, which goes on
    /// once there is.
    #[error("there is no room: {detail}")]
    Full {
        /// What there was no room for.
        detail: String,
    },
    /// A frame is beyond `limits::LOG_FRAME_BYTES_MAX`. Nothing of it is in the log.
    #[error("a frame of {bytes} bytes is more than the log takes at once")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A write or sync failed in a way that cannot be undone: what is on the disk is not known, and
    /// the log takes nothing more until it is opened again.
    #[error("{detail}")]
    Poisoned {
        /// The first failure.
        detail: String,
    },
}

impl LogError {
    /// The disk refused something about `path`.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let detail = format!("{doing} {}: {error}", path.display());
        Self::Io { detail }
    }

    /// What lies at `place` is not what was written.
    pub(crate) fn damaged(place: Place, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let place = Some(place);
        Self::Damaged { detail, place }
    }

    /// Something of `segment` as a whole is not what was written.
    pub(crate) fn damaged_in(segment: SegmentNo, detail: impl Into<String>) -> Self {
        Self::damaged(Place { segment, offset: 0 }, detail)
    }

    /// Something that lies in no segment is not what was written.
    pub(crate) fn damaged_store(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let place = None;
        Self::Damaged { detail, place }
    }
}

/// `Full` and `TooLarge` are answers about one append and not about the store: whoever appends
/// gives them their own meaning before this.
impl From<LogError> for LedgerError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Damaged { .. } => fault::damaged(error.to_string()),
            LogError::Poisoned { detail } => Self::Poisoned { detail },
            LogError::Full { .. } => Self::Full {
                detail: error.to_string(),
            },
            LogError::Io { .. } | LogError::TooLarge { .. } => Self::Io {
                detail: error.to_string(),
            },
        }
    }
}

fn at(place: Option<Place>) -> String {
    place.map_or_else(String::new, |place| format!("{place}: "))
}
