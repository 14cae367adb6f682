//! The state of a run as a snapshot, and back.
//!
//! A snapshot that is not understood is passed over and its run folded from the events, so nothing
//! here may ever be the only place of a fact, and nothing may read a state as what it is not.

use bincode::{Decode, Encode};
use mainstay_machine::parts::Parts;
use mainstay_machine::{Run, RunParts, SNAPSHOT_SCHEMA};
use mainstay_types::{Digest, Payload, Timestamp, limits};

use super::DecodeError;
use super::state::{CallS1, HeadS1, Keep, Payloads};
use super::v1::{Wire, get, put};
use crate::snapshot::Snapshot;

/// A state read back: what the run is put together from, and the newest time in its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptState {
    /// The parts of the run. Its class is named in the head.
    pub parts: RunParts,
    /// The newest time of the events in it.
    pub last_at: Timestamp,
}

#[derive(Encode, Decode)]
struct StateS1 {
    seq: u64,
    last_at: i64,
    head: HeadS1,
    calls: Vec<CallS1>,
}

/// The state of `run`, whose events so far have `last_at` as their newest time.
///
/// Payloads above `limits::SNAPSHOT_INLINE_BYTES_MAX` are shared with the run, not copied. `None`
/// for a run that has not started, and when the state is larger than
/// `limits::SNAPSHOT_STATE_BYTES_MAX`.
///
/// # Panics
/// During a turn: a scratch is nothing to be kept.
#[must_use]
pub fn encode_snapshot(run: &Run, last_at: Timestamp) -> Option<Snapshot> {
    encode_parts(run.parts()?, last_at)
}

/// What `snapshot` holds.
///
/// `Newer` or `Form` when this build does not read its schema, and `Form` when its bytes or
/// payloads are not what they should be.
pub fn decode_snapshot(snapshot: &Snapshot) -> Result<KeptState, DecodeError> {
    let Snapshot {
        seq,
        schema,
        state,
        payloads,
    } = snapshot;
    if SNAPSHOT_SCHEMA < *schema {
        return Err(DecodeError::newer(format!("schema {schema} of a state")));
    }
    if *schema < SNAPSHOT_SCHEMA {
        let detail = format!("it has schema {schema}, only {SNAPSHOT_SCHEMA} is read");
        return Err(DecodeError::form(detail));
    }
    if limits::SNAPSHOT_STATE_BYTES_MAX < state.len() {
        return Err(DecodeError::form(format!("it has {} bytes", state.len())));
    }
    let aside = proven(payloads)?;
    let wire: StateS1 = get(state)?;
    if wire.seq != seq.get() {
        let detail = format!("it is the state at {}, not at {seq}", wire.seq);
        return Err(DecodeError::form(detail));
    }
    let parts = RunParts {
        seq: *seq,
        head: wire.head.back(&aside)?,
        calls: wire.calls.back(&aside)?,
    };
    let last_at = wire.last_at.domain()?;
    Ok(KeptState { parts, last_at })
}

pub(crate) fn encode_parts(parts: Parts<'_>, last_at: Timestamp) -> Option<Snapshot> {
    let Parts { seq, head, calls } = parts;
    let mut aside = Payloads::new();
    let wire = StateS1 {
        seq: Wire::wire(&seq),
        last_at: Wire::wire(&last_at),
        head: Keep::keep(head, &mut aside),
        calls: calls
            .iter()
            .map(|call| Keep::keep(call, &mut aside))
            .collect(),
    };
    let mut state = Vec::new();
    put(&wire, &mut state);
    (state.len() <= limits::SNAPSHOT_STATE_BYTES_MAX).then(|| Snapshot {
        seq,
        schema: SNAPSHOT_SCHEMA,
        state,
        payloads: aside.into_iter().collect(),
    })
}

/// The payloads by their digests, each proven to have the one it lies under.
fn proven(payloads: &[(Digest, Payload)]) -> Result<Payloads, DecodeError> {
    let mut aside = Payloads::new();
    for (digest, payload) in payloads {
        if payload.digest() != *digest {
            let detail = format!("payload {digest} is another one");
            return Err(DecodeError::form(detail));
        }
        aside.insert(*digest, payload.clone());
    }
    Ok(aside)
}
