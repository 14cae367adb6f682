//! Bytes for what is stored: events by kind and version, and the values of indexes.
//!
//! Two layers. `v1` and `v2` hold the frozen wire structs, which mirror the domain and nothing
//! else; the files here put them into records and values. A wire struct that has been released is
//! never edited: a changed event is a new version beside the old one. Nothing here uses serde, and
//! no byte that is not understood is ever dropped.

pub mod alert;
pub mod class;
pub mod entry;
pub mod head;
pub mod message;
pub mod registry;
pub mod snapshot;
pub mod start;
pub mod summary;
pub mod value;
pub mod waiters;

mod error;
mod events;
mod size;
mod state;
mod upcast;
mod v1;
mod v2;

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod tests;

pub use alert::{decode_alert, encode_alert};
pub use class::{decode_class, encode_class};
pub use entry::{decode_entry, encode_entry};
pub use error::DecodeError;
pub use head::{decode_head, encode_head};
pub use message::{decode_message, encode_message};
pub use registry::Kind;
pub use size::fits;
pub use snapshot::{KeptState, decode_snapshot, encode_snapshot};
pub use start::{decode_start, encode_start};
pub use summary::{decode_summary, encode_summary};
pub use waiters::{decode_waiters, encode_waiters};

use mainstay_machine::Event;

/// Appends the payload of `event` to `out`, in the kind's current version.
pub fn encode_event(event: &Event, out: &mut Vec<u8>) {
    events::encode(event, out);
}

/// The event that `payload` holds, by the kind and version its record names.
///
/// `Newer` for a kind or version this build does not know; it must then be kept as it is.
pub fn decode_event(kind: u16, version: u16, payload: &[u8]) -> Result<Event, DecodeError> {
    let Some(kind) = Kind::from_number(kind) else {
        return Err(DecodeError::newer(format!("event kind {kind}")));
    };
    events::decode(kind, version, payload)
}
