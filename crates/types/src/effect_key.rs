//! The name of one intended change in the outside world.
//!
//! A key is made from what is known before the run: tenant, declared effect name, scope and slot
//! or item position. Nothing a model wrote may ever become part of it.

use std::fmt;
use std::str::FromStr;

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

/// A text that is no effect key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAKey {
    text: String,
}

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        write!(
            f,
            "[{text}] is no effect key: one looks like acme/order/id:PR-4711/slot:1"
        )
    }
}

impl std::error::Error for NotAKey {}

/// The key that prints like this, and no other: what no key prints as is refused.
impl FromStr for EffectKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let key = Self::read(text).filter(|key| key.to_string() == text);
        key.ok_or_else(|| NotAKey {
            text: text.to_owned(),
        })
    }
}

impl EffectKey {
    fn read(text: &str) -> Option<Self> {
        let unescape = |text: &str| text.replace("%2F", "/").replace("%25", "%");
        let mut parts = text.split('/');
        let mut next = || parts.next();
        let (tenant, effect, scope, position) = (next()?, next()?, next()?, next()?);
        let (kind, rest) = scope.split_once(':')?;
        let scope = match kind {
            "id" => Scope::Business(BusinessId::new(unescape(rest)).ok()?),
            "run" => {
                let (run, path) = rest.split_once(':')?;
                Scope::Run {
                    run: run.parse().ok()?,
                    path: unescape(path),
                }
            }
            _ => return None,
        };
        let (kind, number) = position.split_once(':')?;
        let position = match kind {
            "slot" => Position::Slot(number.parse().ok()?),
            "item" => Position::Item(number.parse().ok()?),
            _ => return None,
        };
        Some(Self {
            tenant: Tenant::new(unescape(tenant)).ok()?,
            effect: EffectName::new(effect).ok()?,
            scope,
            position,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<EffectKey> {
        let awkward = [
            "PR-7",
            "a/b",
            "100%",
            "%2F",
            "%25",
            "id:x/slot:1",
            "grüße/ 語",
        ];
        let run = RunId::from_bytes([7; 16]);
        let mut keys = Vec::new();
        for tenant in ["acme", "a:b"] {
            for text in awkward {
                for position in [
                    Position::Slot(1),
                    Position::Slot(u32::MAX),
                    Position::Item(0),
                ] {
                    for scope in [
                        Scope::Business(BusinessId::new(text).unwrap()),
                        Scope::Run {
                            run,
                            path: text.to_owned(),
                        },
                    ] {
                        keys.push(EffectKey {
                            tenant: Tenant::new(tenant).unwrap(),
                            effect: EffectName::new("order").unwrap(),
                            scope,
                            position,
                        });
                    }
                }
            }
        }
        keys
    }

    #[test]
    fn a_key_is_read_as_it_prints_and_no_two_print_alike() {
        let mut texts = std::collections::BTreeSet::new();
        for key in keys() {
            let text = key.to_string();
            assert_eq!(text.parse(), Ok(key), "{text}");
            assert!(texts.insert(text.clone()), "{text} twice");
        }
    }

    #[test]
    fn what_no_key_prints_as_is_no_key() {
        for text in [
            "",
            "acme",
            "acme/order/id:PR-7",
            "acme/order/id:PR-7/slot:01",
            "acme/order/id:PR-7/slot:+1",
            "acme/order/id:PR-7/slot:1/",
            "acme/order/id:PR-7/slot:4294967296",
            "acme/order/id:PR%2f7/slot:1",
            "acme/order/id:100%/slot:1",
            "acme/order/run:nobody:order/slot:1",
            "acme/order/nr:PR-7/slot:1",
        ] {
            assert!(text.parse::<EffectKey>().is_err(), "{text}");
        }
    }
}
