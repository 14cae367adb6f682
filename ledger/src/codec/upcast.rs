//! How an older version of a wire struct becomes the next one.
//!
//! To give a kind a new version: a struct of its own in `v2` (or after it), the kind's new number
//! in the registry, the new struct among those the table writes, the old one among those it reads,
//! an upcaster here, and the golden file of the new version; the old one stays and must still read.
//! What an older version did not say is filled with what was true when it was written, never with
//! what is convenient today: the events of an old run must make the state they always made.

use mainstay_types::Code;

use super::DecodeError;
use super::v1::call::LateResultV1;
use super::v1::run::RunQuarantinedV1;
use super::v1::wire::{Wire, WireEvent};
use super::v2::{LateResultV2, RunQuarantinedV2, late, quarantined};

/// A struct of a version that is not written any more.
pub(super) trait Older: Sized {
    /// The newest version's struct.
    type Newest: WireEvent;

    /// What the newest version says of the same. A version that is two behind goes by way of the
    /// one between.
    fn newest(self) -> Result<Self::Newest, DecodeError>;
}

/// Version 1 had one text, which began with a code and a colon when the engine wrote it.
impl Older for RunQuarantinedV1 {
    type Newest = RunQuarantinedV2;

    fn newest(self) -> Result<RunQuarantinedV2, DecodeError> {
        let message: String = self.message.domain()?;
        let begins = message.split(':').next().unwrap_or_default();
        Ok(match Code::from_text(begins) {
            Some(code) => {
                let rest = message[begins.len()..].trim_start_matches([':', ' ']);
                quarantined(code, rest)
            }
            None => quarantined(Code::RunQuarantined, &message),
        })
    }
}

/// Version 1 was written when such retries were not charged, and so none were.
impl Older for LateResultV1 {
    type Newest = LateResultV2;

    fn newest(self) -> Result<LateResultV2, DecodeError> {
        Ok(late(self.call, self.attempt, self.cost))
    }
}
