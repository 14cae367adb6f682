//! The registry of event kinds: number, name, current version.
//!
//! A number is never reused and never changes its meaning, not even when its kind is no longer
//! written. The newest `golden/registry-*.txt` is the frozen copy.

use mainstay_machine::Event;

macro_rules! kinds {
    ($($name:ident = $number:literal, version $version:literal;)*) => {
        /// What kind of event a record holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = concat!("Stored as ", stringify!($number), ".")] $name,)*
        }

        impl Kind {
            /// Every kind, by number.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The kind of `event`.
            #[must_use]
            pub const fn of(event: &Event) -> Self {
                match event { $(Event::$name { .. } => Self::$name,)* }
            }

            /// The stored number.
            #[must_use]
            pub const fn number(self) -> u16 {
                match self { $(Self::$name => $number,)* }
            }

            /// The name, as in the timeline.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The version that is written now; older ones can be read.
            #[must_use]
            pub const fn version(self) -> u16 {
                match self { $(Self::$name => $version,)* }
            }

            /// The kind with this number; `None` for one of a newer version.
            #[must_use]
            pub const fn from_number(number: u16) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    RunStarted = 1, version 1;
    LeaseTaken = 2, version 1;
    CallPrepared = 3, version 1;
    ListRecorded = 4, version 1;
    AttemptStarted = 5, version 1;
    AttemptSettled = 6, version 1;
    AttemptInterrupted = 7, version 1;
    CallSettled = 8, version 1;
    CallRescheduled = 9, version 1;
    CallOmitted = 10, version 1;
    CallSkipped = 11, version 1;
    CallFailed = 12, version 1;
    EffectIntended = 13, version 1;
    EffectApplied = 14, version 1;
    EffectInDoubt = 15, version 1;
    EffectAbsent = 16, version 1;
    EffectPartlyApplied = 17, version 1;
    ControlSettled = 18, version 1;
    KeyAwaited = 19, version 1;
    LateResult = 20, version 2;
    CancelRequested = 21, version 1;
    HardPathLost = 22, version 1;
    AnsweredLater = 23, version 1;
    LapEnded = 24, version 1;
    AddendumRecorded = 25, version 1;
    RunClosed = 26, version 1;
    RunQuarantined = 27, version 2;
    QuarantineLifted = 28, version 1;
    RunTerminated = 29, version 1;
    LapStarted = 30, version 1;
    CodeFailed = 31, version 1;
    BudgetRaised = 32, version 1;
    NextDecided = 33, version 1;
    RepairWanted = 34, version 1;
    AdmissionDecided = 35, version 1;
    EffectSettledByHand = 36, version 1;
    ToolCalled = 37, version 1;
    ToolsDone = 38, version 1;
    CompensationWanted = 39, version 1;
    EffectCompensated = 40, version 1;
    AttemptOrphaned = 41, version 1;
    OrphanObserved = 42, version 1;
    OrphanAdopted = 43, version 1;
    OrphanClosed = 44, version 1;
    LateValueRecorded = 45, version 1;
    KeyTakenOver = 46, version 1;
}
