//! Version 1 of every wire struct, and which one belongs to which event.
//!
//! Frozen once released: fields keep their order and meaning, enum variants are only appended.
//! No wire struct is recursive, and no list in one holds elements without bytes.

mod call;
mod effect;
pub(super) mod run;
mod value;
pub(super) mod wire;
pub(super) mod words;

pub(super) use value::{
    AlertV1, HeadV1, InboxMessageV1, StartV1, SummaryV1, VersionedEntryV1, WaitersV1,
};
pub(super) use wire::Wire;
#[cfg(test)]
pub(super) use words::ENUMS;

use bincode::{Decode, Encode};
use mainstay_machine::Event;
use mainstay_types::limits;

use super::{DecodeError, Kind};
use call::*;
use effect::*;
use run::*;
use wire::WireEvent;

/// Bytes a decoder may claim: a whole record, and what lists claim before they are read.
const DECODE_BYTES_MAX: usize = limits::RECORD_BYTES_MAX + (1 << 20);

/// Appends `wire` to `out`.
pub(super) fn put(wire: &impl Encode, out: &mut Vec<u8>) {
    bincode::encode_into_std_write(wire, out, bincode::config::standard())
        .expect("writing to memory does not fail, and no wire struct can refuse");
}

/// The wire struct that `bytes` hold, all of them.
pub(super) fn get<W: Decode<()>>(bytes: &[u8]) -> Result<W, DecodeError> {
    let config = bincode::config::standard().with_limit::<DECODE_BYTES_MAX>();
    let (wire, used) = bincode::decode_from_slice(bytes, config)?;
    if used != bytes.len() {
        return Err(DecodeError::form(format!(
            "{} bytes are left over",
            bytes.len() - used
        )));
    }
    Ok(wire)
}

macro_rules! table {
    ($($kind:ident => $wire:ident,)*) => {
        /// Appends the payload of `event` to `out`.
        pub(super) fn encode(event: &Event, out: &mut Vec<u8>) {
            match Kind::of(event) { $(Kind::$kind => write::<$wire>(event, out),)* }
        }

        /// The event of `kind` that `payload` holds.
        pub(super) fn decode(kind: Kind, payload: &[u8]) -> Result<Event, DecodeError> {
            match kind { $(Kind::$kind => get::<$wire>(payload)?.event(),)* }
        }
    };
}

table! {
    RunStarted => RunStartedV1,
    LeaseTaken => LeaseTakenV1,
    CallPrepared => CallPreparedV1,
    ListRecorded => ListRecordedV1,
    AttemptStarted => AttemptStartedV1,
    AttemptSettled => AttemptSettledV1,
    AttemptInterrupted => AttemptInterruptedV1,
    CallSettled => CallSettledV1,
    CallRescheduled => CallRescheduledV1,
    CallOmitted => CallOmittedV1,
    CallSkipped => CallSkippedV1,
    CallFailed => CallFailedV1,
    EffectIntended => EffectIntendedV1,
    EffectApplied => EffectAppliedV1,
    EffectInDoubt => EffectInDoubtV1,
    EffectAbsent => EffectAbsentV1,
    EffectPartlyApplied => EffectPartlyAppliedV1,
    ControlSettled => ControlSettledV1,
    KeyAwaited => KeyAwaitedV1,
    LateResult => LateResultV1,
    CancelRequested => CancelRequestedV1,
    HardPathLost => HardPathLostV1,
    AnsweredLater => AnsweredLaterV1,
    LapEnded => LapEndedV1,
    AddendumRecorded => AddendumRecordedV1,
    RunClosed => RunClosedV1,
    RunQuarantined => RunQuarantinedV1,
    QuarantineLifted => QuarantineLiftedV1,
    RunTerminated => RunTerminatedV1,
    LapStarted => LapStartedV1,
    CodeFailed => CodeFailedV1,
}

fn write<W: WireEvent + Encode>(event: &Event, out: &mut Vec<u8>) {
    let wire = W::of(event).expect("the table pairs each kind with its own struct");
    put(&wire, out);
}
