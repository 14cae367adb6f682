//! Which faults a campaign draws from, or which ones it has in every world.

use crate::fault::Kind;
use crate::schedule::Schedule;

/// The kinds that have to hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) kinds: Vec<Kind>,
    /// Whether somebody named them: then each has to hit, however few worlds there are.
    pub(crate) by_name: bool,
}

/// Which faults befall the worlds of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub(crate) Wanted);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Drawn from these kinds, those left out that can befall nothing of the class.
    Drawn(Vec<Kind>),
    /// Drawn from exactly these kinds: each has to hit.
    Declared(Vec<Kind>),
    /// These, in every world.
    Planned(Schedule),
}

impl Faults {
    /// Every kind that can befall the class.
    #[must_use]
    pub fn all() -> Self {
        Self(Wanted::Drawn(Kind::all()))
    }

    /// No fault at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(Wanted::Declared(Vec::new()))
    }

    /// Only these kinds; each has to befall something.
    #[must_use]
    pub fn only(kinds: impl IntoIterator<Item = Kind>) -> Self {
        Self(Wanted::Declared(kinds.into_iter().collect()))
    }

    /// All but these kinds.
    #[must_use]
    pub fn without(kinds: impl IntoIterator<Item = Kind>) -> Self {
        let left_out: Vec<Kind> = kinds.into_iter().collect();
        let kept = Kind::all().into_iter();
        Self(Wanted::Drawn(
            kept.filter(|kind| !left_out.contains(kind)).collect(),
        ))
    }

    /// These faults, the same in every world.
    #[must_use]
    pub const fn planned(schedule: Schedule) -> Self {
        Self(Wanted::Planned(schedule))
    }
}
