//! The life of an effect, as one table: what may happen to it where it stands, and where it stands
//! then.
//!
//! Whoever changes how an effect stands asks here first and changes it here. What else must hold
//! (the phase of its call, who says so) is theirs to check; that there is no other way through is
//! this file's.

use crate::call::{Effect, EffectStatus};

/// Where an effect stands, without what is known beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// There is none.
    NotThere,
    /// Recorded, not sent.
    Intended,
    /// A request is out.
    Dispatched,
    /// Nobody knows.
    InDoubt,
    /// In the world.
    Applied,
    /// In part in the world.
    PartlyApplied,
    /// Proven not to be in the world.
    Absent,
    /// It was in the world, and was undone.
    Compensated,
}

/// What may happen to an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// It is recorded that it is wanted.
    Intended,
    /// A request leaves.
    Sent,
    /// Nobody knows what became of a request.
    Doubted,
    /// It was asked about, and nobody knows yet.
    Asked,
    /// It is in the world.
    Applied,
    /// Another run has done it.
    Adopted,
    /// Another run may have done it and cannot go on.
    Taken,
    /// A part of it is in the world.
    Partly,
    /// It is proven not to be in the world.
    Absent,
    /// A person says what became of it; what that is follows.
    Ruled,
    /// Somebody wants it undone.
    Unwanted,
    /// What undoes it is in the world.
    Undone,
}

impl Stage {
    /// Every stage, in the order of the table's columns.
    pub const ALL: [Self; 8] = [
        Self::NotThere,
        Self::Intended,
        Self::Dispatched,
        Self::InDoubt,
        Self::Applied,
        Self::PartlyApplied,
        Self::Absent,
        Self::Compensated,
    ];

    /// Where an effect stands.
    #[must_use]
    pub const fn of(effect: Option<&Effect>) -> Self {
        match effect {
            None => Self::NotThere,
            Some(effect) => match effect.status {
                EffectStatus::Intended => Self::Intended,
                EffectStatus::Dispatched => Self::Dispatched,
                EffectStatus::InDoubt(_) => Self::InDoubt,
                EffectStatus::Applied(_) => Self::Applied,
                EffectStatus::PartlyApplied => Self::PartlyApplied,
                EffectStatus::Absent(_) => Self::Absent,
                EffectStatus::Compensated => Self::Compensated,
            },
        }
    }
}

impl Happens {
    /// Everything that may happen, in the order of the table's rows.
    pub const ALL: [Self; 12] = [
        Self::Intended,
        Self::Sent,
        Self::Doubted,
        Self::Asked,
        Self::Applied,
        Self::Adopted,
        Self::Taken,
        Self::Partly,
        Self::Absent,
        Self::Ruled,
        Self::Unwanted,
        Self::Undone,
    ];
}

/// The table. `None` where it may not happen. Source: architecture, effects.
///
/// A write never leaves while it is in doubt, and what is known is only ever corrected by what is
/// in the world: a late answer, or a person about what was done in part.
#[must_use]
#[rustfmt::skip]
pub const fn table(from: Stage, what: Happens) -> Option<Stage> {
    const I: Option<Stage> = Some(Stage::Intended);
    const D: Option<Stage> = Some(Stage::Dispatched);
    const Q: Option<Stage> = Some(Stage::InDoubt);
    const A: Option<Stage> = Some(Stage::Applied);
    const P: Option<Stage> = Some(Stage::PartlyApplied);
    const N: Option<Stage> = Some(Stage::Absent);
    const C: Option<Stage> = Some(Stage::Compensated);
    const X: Option<Stage> = None;
    let row = match what {
        //                   not    in-    dis-    in            partly          compen-
        //                   there  tended patched doubt applied applied absent  sated
        Happens::Intended => [I,    X,     X,      X,    X,      X,      X,      X],
        Happens::Sent     => [X,    D,     X,      X,    X,      X,      D,      X],
        // One that was refused in a way that proves nothing is asked about after all.
        Happens::Doubted  => [X,    X,     Q,      X,    X,      X,      Q,      X],
        Happens::Asked    => [X,    X,     X,      Q,    X,      X,      X,      X],
        // An answer that comes late tells of what was taken for absent, too.
        Happens::Applied  => [X,    X,     A,      A,    X,      A,      A,      X],
        // In doubt, or just answered, where the other run has taken it over.
        Happens::Adopted  => [A,    X,     A,      A,    X,      X,      A,      X],
        Happens::Taken    => [Q,    X,     X,      X,    X,      X,      Q,      X],
        Happens::Partly   => [X,    X,     X,      P,    X,      X,      X,      X],
        Happens::Absent   => [X,    X,     N,      N,    X,      N,      X,      X],
        Happens::Ruled    => [X,    X,     X,      Q,    X,      P,      X,      X],
        // Of what is in doubt, whatever is in the world is to be undone.
        Happens::Unwanted => [X,    X,     X,      P,    A,      P,      X,      X],
        Happens::Undone   => [X,    X,     X,      X,    C,      C,      X,      X],
    };
    row[from as usize]
}

/// Whether it may happen to an effect.
pub(crate) const fn may(effect: Option<&Effect>, what: Happens) -> bool {
    table(Stage::of(effect), what).is_some()
}

/// It happens, and the effect stands like this. Whoever calls has asked [`may`].
pub(crate) fn pass(effect: &mut Effect, what: Happens, status: EffectStatus) {
    let to = table(Stage::of(Some(effect)), what);
    effect.status = status;
    assert_eq!(to, Some(Stage::of(Some(effect))), "{what:?} leads there");
}
