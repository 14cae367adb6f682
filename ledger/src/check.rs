//! Whether a request may be written: the one set of rules every backend obeys.
//!
//! It reads through [`View`], so that a backend can show its store, its overlay and what the group
//! accepted so far as one thing. It must never write, and never skip a rule for speed.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_machine::{EffectEntry, EntryState, Event};
use mainstay_types::{Digest, EffectKey, Epoch, RunId, Seq, StartKey, Tenant};

use crate::codec;
use crate::commit::{CommitRequest, HeldKey, Op, Part, Verdict};
use crate::error::LedgerError;
use crate::record::Chain;
use crate::wait;

/// Where a run's log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The newest sequence number.
    pub seq: Seq,
    /// The epoch of its owner.
    pub epoch: Epoch,
    /// The chain value the next record carries.
    pub chain: Chain,
}

/// What a request is checked against: everything accepted before it, earlier requests of the same
/// group included.
pub trait View {
    /// The end of a run's log; `None` when there is no such run.
    fn head(&self, run: RunId) -> Result<Option<Head>, LedgerError>;

    /// The entry under an effect key, and how often it has changed (1 when it is new).
    fn effect(&self, key: &EffectKey) -> Result<Option<(EffectEntry, u64)>, LedgerError>;

    /// The run a start key stands for, and the digest of its input.
    fn start_key(
        &self,
        tenant: &Tenant,
        key: &StartKey,
    ) -> Result<Option<(RunId, Digest)>, LedgerError>;
}

/// `None` when `request` may be written as a whole; otherwise why not.
///
/// Runs first, then keys: a writer that lost its run must not act on a held key. Nothing is
/// written. `Full` here means an event beyond `limits::RECORD_BYTES_MAX`.
pub fn check(view: &dyn View, request: &CommitRequest) -> Result<Option<Verdict>, LedgerError> {
    let mut seen = BTreeSet::new();
    for part in &request.parts {
        let head = view.head(part.run)?;
        if !seen.insert(part.run) || !follows(head, part) {
            let (seq, epoch) = head.map_or_else(Default::default, |head| (head.seq, head.epoch));
            return Ok(Some(Verdict::Stale {
                run: part.run,
                seq,
                epoch,
            }));
        }
        if !part
            .events
            .iter()
            .all(|stamped| codec::fits(&stamped.event))
        {
            return Ok(Some(Verdict::Full));
        }
    }
    Ok(held(view, request)?.map(Verdict::KeyHeld))
}

/// Whether `part` continues the log that ends at `head`, by an owner who may.
fn follows(head: Option<Head>, part: &Part) -> bool {
    let mut events = part.events.iter().map(|stamped| &stamped.event);
    let first = events.next();
    // Who owns a run is settled by the first event of a part and nowhere else.
    if events.any(|event| ownership(event).is_some()) {
        return false;
    }
    let (seq, epoch) = head.map_or((Seq(0), Epoch(0)), |head| (head.seq, head.epoch));
    let next = epoch.get().checked_add(1).map(Epoch);
    let may = match (head, first.and_then(ownership)) {
        (None, claim) => claim == Some(Claim::Start) && part.epoch == Epoch(1),
        (Some(_), Some(Claim::Start)) => false,
        (Some(_), Some(Claim::Lease(taken))) => taken == part.epoch && Some(taken) == next,
        (Some(_), None) => part.epoch == epoch,
    };
    may && part.expected_seq == seq
}

/// How an event makes its writer the owner of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// It begins the run.
    Start,
    /// It takes the run over, in this epoch.
    Lease(Epoch),
}

fn ownership(event: &Event) -> Option<Claim> {
    if let Event::LeaseTaken(taken) = event {
        return Some(Claim::Lease(taken.epoch));
    }
    matches!(event, Event::RunStarted(_)).then_some(Claim::Start)
}

/// The first key of the request that it may not take.
fn held(view: &dyn View, request: &CommitRequest) -> Result<Option<HeldKey>, LedgerError> {
    let mut effects: BTreeMap<&EffectKey, (&EffectEntry, u64)> = BTreeMap::new();
    let mut starts: BTreeMap<(&Tenant, &StartKey), (RunId, Digest)> = BTreeMap::new();
    for (run, op) in request
        .parts
        .iter()
        .flat_map(|p| p.ops.iter().map(|op| (p.run, op)))
    {
        match op {
            Op::Effect { entry, over, .. } => {
                let stored = as_it_stands(view, &effects, &entry.key)?;
                let version = stored.as_ref().map_or(0, |(_, version)| *version);
                let is_taken_over = |stored: &EffectEntry| {
                    *over == Some(version) && !wait::is_settled(&stored.state)
                };
                let may = |stored: &EffectEntry| may_take(stored, entry) || is_taken_over(stored);
                if let Some(held) = stored.filter(|(stored, _)| !may(stored)) {
                    return Ok(Some(held_effect(held)));
                }
                effects.insert(&entry.key, (entry, version + 1));
            }
            Op::Wait { key, version } => {
                let stored = as_it_stands(view, &effects, key)?;
                if let Some(held) = stored.filter(|(_, now)| now != version) {
                    return Ok(Some(held_effect(held)));
                }
            }
            Op::StartKey { tenant, key, input } => {
                let stored = match starts.get(&(tenant, key)) {
                    Some(own) => Some(*own),
                    None => view.start_key(tenant, key)?,
                };
                if let Some((run, input)) = stored {
                    return Ok(Some(HeldKey::Start { run, input }));
                }
                starts.insert((tenant, key), (run, *input));
            }
            Op::Summary(_) | Op::Drive(_) | Op::Alert(_) | Op::Class(_) | Op::InboxAck(_) => {}
        }
    }
    Ok(None)
}

fn held_effect((entry, version): (EffectEntry, u64)) -> HeldKey {
    HeldKey::Effect {
        entry: Box::new(entry),
        version,
    }
}

/// The entry under `key` and its version, as this request so far leaves it.
fn as_it_stands(
    view: &dyn View,
    own: &BTreeMap<&EffectKey, (&EffectEntry, u64)>,
    key: &EffectKey,
) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
    match own.get(key) {
        Some((own, version)) => Ok(Some(((*own).clone(), *version))),
        None => view.effect(key),
    }
}

/// Whether `wanted` may replace `stored` under their key.
fn may_take(stored: &EffectEntry, wanted: &EffectEntry) -> bool {
    let same_owner = stored.run == wanted.run && stored.call == wanted.call;
    match stored.state {
        EntryState::NotApplied => true,
        EntryState::Open
        | EntryState::InDoubt
        | EntryState::Applied(_)
        | EntryState::PartlyApplied
        | EntryState::Compensated => same_owner,
    }
}
