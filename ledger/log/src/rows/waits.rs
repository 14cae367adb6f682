//! Runs that wait for an effect key: one row by key.
//!
//! Waking must never make a request fail that would be written without it.

use mainstay_ledger::check::View;
use mainstay_ledger::codec::{decode_waiters, encode_waiters};
use mainstay_ledger::wait::{Waiters, wake_id};
use mainstay_ledger::{InboxCommand, InboxMessage, LedgerError};
use mainstay_types::{EffectKey, RunId, limits};

use crate::fault;
use crate::keys;
use crate::rows::{Settled, inbox};
use crate::stage::Stage;

/// Stages that `run`, which saw the entry in `version`, waits for it to be settled.
pub(crate) fn register(
    stage: &mut Stage<'_>,
    run: RunId,
    key: &EffectKey,
    version: u64,
) -> Result<(), LedgerError> {
    if stage.effect(key)?.is_none() {
        return Ok(());
    }
    let mut waiters = read(stage, key)?;
    if waiters.register(run, version) {
        write(stage, key, &waiters);
    }
    Ok(())
}

/// Stages word to those who wait for the keys that a request settled, in the order they came. The
/// others stay registered, and so do those whose row cannot be read: the next one to wait is told
/// of the damage, the run that settles has nothing to do with it.
pub(crate) fn wake(stage: &mut Stage<'_>, settled: Settled) -> Result<(), LedgerError> {
    let mut room = limits::KEY_WAKES_MAX;
    for (key, version) in settled {
        if room == 0 {
            return Ok(());
        }
        let Ok(mut waiters) = read(stage, &key) else {
            continue;
        };
        let woken = waiters.take(version, room);
        if woken.is_empty() {
            continue;
        }
        write(stage, &key, &waiters);
        room -= woken.len();
        for run in woken {
            tell(stage, run, &key, version)?;
        }
    }
    Ok(())
}

fn tell(
    stage: &mut Stage<'_>,
    run: RunId,
    key: &EffectKey,
    version: u64,
) -> Result<(), LedgerError> {
    let message = InboxMessage {
        id: wake_id(key, version, run),
        command: InboxCommand::KeySettled { key: key.clone() },
    };
    match inbox::enqueue(stage, run, &message) {
        // A run that cannot be told asks again by its own timer, and damage in its inbox is told
        // to whoever loads it: neither is this commit's business.
        Ok(_)
        | Err(
            LedgerError::InboxFull { .. }
            | LedgerError::RunUnknown { .. }
            | LedgerError::CorruptRecord { .. }
            | LedgerError::CorruptChain { .. },
        ) => Ok(()),
        Err(error) => Err(error),
    }
}

fn read(stage: &Stage<'_>, effect: &EffectKey) -> Result<Waiters, LedgerError> {
    let key = keys::waiters(effect);
    let Some(value) = stage.value(&key)? else {
        return Ok(Waiters::default());
    };
    let (named, waiters) = decode_waiters(&key, &value)
        .map_err(|error| fault::of_store("those who wait for an effect key", &error))?;
    if named != *effect {
        let held = keys::waiters(&named);
        return Err(fault::in_the_place(
            &waited(&named, &held),
            &waited(effect, &key),
        ));
    }
    Ok(waiters)
}

fn waited<'a>(key: &'a EffectKey, place: &'a [u8]) -> fault::Named<'a> {
    fault::Named {
        what: "those who wait for effect",
        name: key,
        place,
    }
}

fn write(stage: &mut Stage<'_>, effect: &EffectKey, waiters: &Waiters) {
    let key = keys::waiters(effect);
    match waiters.is_empty() {
        true => stage.remove(key),
        false => stage.put(key.clone(), encode_waiters(&key, effect, waiters)),
    }
}
