//! The name of one intended change in the outside world.
//!
//! A key is made from what is known before the run: tenant, declared effect name, scope and slot
//! or item position. Nothing a model wrote may ever become part of it.

use std::fmt;

use crate::ids::RunId;
use crate::names::{BusinessId, EffectName, Tenant};

/// In which space a key is unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The caller's business id: unique over all runs of the tenant.
    Business(BusinessId),
    /// The run and the static path of the call: unique by the run's own state.
    Run {
        /// The run.
        run: RunId,
        /// The call's path, node names only.
        path: String,
    },
}

/// Which intent of an effect inside its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// The how-manieth intent, from 1; the next opens after the last one's outcome was told.
    Slot(u32),
    /// The place in the recorded list, from 0.
    Item(u32),
}

/// The effect key, compared in full, never only by hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectKey {
    /// Whose effect.
    pub tenant: Tenant,
    /// The declared name, the same for a primary and its fallbacks.
    pub effect: EffectName,
    /// Where it is unique.
    pub scope: Scope,
    /// Which intent.
    pub position: Position,
}

impl EffectKey {
    /// Whether another run could hold the same key, so that the ledger must be asked.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        match self.scope {
            Scope::Business(_) => true,
            Scope::Run { .. } => false,
        }
    }
}

/// Parts joined by `/`, with `%` and `/` inside a part escaped, so that two keys never print
/// alike: `acme/ticket/id:PR-7/item:0`, `acme/order/run:<uuid>:order/slot:1`.
impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escape = |text: &str| text.replace('%', "%25").replace('/', "%2F");
        write!(f, "{}/{}/", escape(self.tenant.as_str()), self.effect)?;
        match &self.scope {
            Scope::Business(id) => write!(f, "id:{}", escape(id.as_str()))?,
            Scope::Run { run, path } => write!(f, "run:{run}:{}", escape(path))?,
        }
        match self.position {
            Position::Slot(n) => write!(f, "/slot:{n}"),
            Position::Item(n) => write!(f, "/item:{n}"),
        }
    }
}
