//! Which wire struct belongs to which kind of event, in which version.
//!
//! One version of a kind is written, all released ones are read: an older struct is made a newer
//! one by its upcaster ([`super::upcast`]) and only the newest becomes an event. A row for an older
//! version is never removed, and never made to read anything else.

use bincode::Encode;
use mainstay_machine::Event;

use super::upcast::Older;
use super::v1::call::*;
use super::v1::decision::*;
use super::v1::effect::*;
use super::v1::orphan::*;
use super::v1::run::*;
use super::v1::tools::*;
use super::v1::wire::WireEvent;
use super::v1::{get, put};
use super::v2::{LateResultV2, RunQuarantinedV2};
use super::{DecodeError, Kind};

macro_rules! table {
    (
        written { $($kind:ident => $wire:ident,)* }
        read { $($older:ident version $version:literal => $old_wire:ident,)* }
    ) => {
        /// Appends the payload of `event` to `out`.
        pub(super) fn encode(event: &Event, out: &mut Vec<u8>) {
            match Kind::of(event) { $(Kind::$kind => write::<$wire>(event, out),)* }
        }

        /// The event of `kind` that `payload` holds, in this version.
        pub(super) fn decode(
            kind: Kind,
            version: u16,
            payload: &[u8],
        ) -> Result<Event, DecodeError> {
            $(if (kind, version) == (Kind::$older, $version) {
                return get::<$old_wire>(payload)?.newest()?.event();
            })*
            if version != kind.version() {
                let what = format!("version {version} of {}", kind.name());
                return Err(DecodeError::newer(what));
            }
            match kind { $(Kind::$kind => get::<$wire>(payload)?.event(),)* }
        }

        /// What can be read beside the newest version of each kind.
        #[cfg(test)]
        pub(super) const OLDER: &[(Kind, u16)] = &[$((Kind::$older, $version),)*];
    };
}

table! {
    written {
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
        LateResult => LateResultV2,
        CancelRequested => CancelRequestedV1,
        HardPathLost => HardPathLostV1,
        AnsweredLater => AnsweredLaterV1,
        LapEnded => LapEndedV1,
        AddendumRecorded => AddendumRecordedV1,
        RunClosed => RunClosedV1,
        RunQuarantined => RunQuarantinedV2,
        QuarantineLifted => QuarantineLiftedV1,
        RunTerminated => RunTerminatedV1,
        LapStarted => LapStartedV1,
        CodeFailed => CodeFailedV1,
        BudgetRaised => BudgetRaisedV1,
        NextDecided => NextDecidedV1,
        RepairWanted => RepairWantedV1,
        AdmissionDecided => AdmissionDecidedV1,
        EffectSettledByHand => EffectSettledByHandV1,
        ToolCalled => ToolCalledV1,
        ToolsDone => ToolsDoneV1,
        CompensationWanted => CompensationWantedV1,
        EffectCompensated => EffectCompensatedV1,
        KeyTakenOver => KeyTakenOverV1,
        AttemptOrphaned => AttemptOrphanedV1,
        OrphanObserved => OrphanObservedV1,
        OrphanAdopted => OrphanAdoptedV1,
        OrphanClosed => OrphanClosedV1,
        LateValueRecorded => LateValueRecordedV1,
    }
    read {
        RunQuarantined version 1 => RunQuarantinedV1,
        LateResult version 1 => LateResultV1,
    }
}

fn write<W: WireEvent + Encode>(event: &Event, out: &mut Vec<u8>) {
    let wire = W::of(event).expect("the table pairs each kind with its own struct");
    put(&wire, out);
}
