//! Rungs: the primary and its fallbacks, as one ladder.
//!
//! Rung 0 is the contract's own provider; the others are its fallbacks in order. A rung that ends
//! the call (omit, human) is never attempted.

use mainstay_graph::{Contract, FallbackKind};
use mainstay_types::{CostUnits, Millis, Rung};

/// What one rung promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RungSpec {
    pub(crate) max_attempts: u32,
    pub(crate) timeout: Millis,
    pub(crate) min_useful: Millis,
    pub(crate) estimate: Millis,
    pub(crate) cost: CostUnits,
    /// Whether trying it loads a provider, so that a repeat costs a retry token.
    pub(crate) is_load: bool,
    /// Whether it works in this process, and so needs no place that a copy elsewhere may still
    /// have.
    pub(crate) is_local: bool,
}

/// The rung's promises; `None` when the ladder has no such rung or it is not attempted.
pub(crate) fn spec(contract: &Contract, rung: Rung) -> Option<RungSpec> {
    if rung == Rung(0) {
        return Some(RungSpec {
            max_attempts: contract.max_attempts,
            timeout: contract.timeout,
            min_useful: contract.min_useful,
            estimate: contract.estimate,
            cost: contract.cost,
            is_load: true,
            is_local: false,
        });
    }
    let fallback = contract
        .fallback(rung)
        .filter(|fallback| fallback.kind.attempts())?;
    Some(RungSpec {
        max_attempts: fallback.max_attempts,
        timeout: fallback.timeout,
        min_useful: fallback.min_useful,
        estimate: fallback.estimate,
        cost: fallback.cost,
        is_load: fallback.kind == FallbackKind::Provider,
        is_local: fallback.kind == FallbackKind::LocalCompute,
    })
}

/// The next rung that is attempted, if any.
pub(crate) fn below(contract: &Contract, rung: Rung) -> Option<Rung> {
    let next = rung.next();
    spec(contract, next).map(|_| next)
}

/// The least time the rungs below `rung` need.
pub(crate) fn reserve_below(contract: &Contract, rung: Rung) -> Millis {
    let skip = usize::from(rung.get());
    contract
        .fallbacks
        .iter()
        .skip(skip)
        .filter(|fallback| fallback.kind.attempts())
        .map(|fallback| fallback.min_useful)
        .sum()
}
