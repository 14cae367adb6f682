//! What is held against every world: the guarantees, and what its author wants besides.

use std::sync::Arc;

use super::world::World;
use crate::guarantee::Guarantee;

/// The guarantees of the runtime that a campaign checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantees(pub(crate) Vec<Guarantee>);

impl Guarantees {
    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        Self(Guarantee::ALL.to_vec())
    }

    /// Only these.
    #[must_use]
    pub fn only(guarantees: impl IntoIterator<Item = Guarantee>) -> Self {
        Self(guarantees.into_iter().collect())
    }
}

/// What a check says: `true` or `Ok(())` when it holds.
pub trait Finding {
    /// What was seen when it does not hold.
    fn breach(self) -> Option<String>;
}

impl Finding for bool {
    fn breach(self) -> Option<String> {
        (!self).then(|| "it does not hold".to_owned())
    }
}

impl<E: ToString> Finding for Result<(), E> {
    fn breach(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// A check of the campaign's author.
pub(crate) type Own = Arc<dyn Fn(&World<'_>) -> Option<String> + Send + Sync>;

/// Everything that is held against a world.
#[derive(Clone, Default)]
pub struct Checks {
    pub(crate) guarantees: Vec<Guarantee>,
    pub(crate) own: Vec<Own>,
}

/// Something that can be held against a world: [`Guarantees`], or a closure over the [`World`].
pub trait Check {
    /// Adds it to what is checked.
    fn add_to(self, checks: &mut Checks);
}

impl Check for Guarantees {
    fn add_to(self, checks: &mut Checks) {
        checks.guarantees.extend(self.0);
    }
}

impl<F, R> Check for F
where
    F: Fn(&World<'_>) -> R + Send + Sync + 'static,
    R: Finding,
{
    fn add_to(self, checks: &mut Checks) {
        checks.own.push(Arc::new(move |world| self(world).breach()));
    }
}
