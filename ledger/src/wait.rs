//! Runs that wait for an effect key another run holds, and how they hear of its end.
//!
//! A wait is a convenience: the run's own timer asks again whatever happens here. It must therefore
//! never fail or enlarge without bound the commit that settles a key.

use mainstay_types::{Digest, EffectKey, MessageId, RunId, limits};

use mainstay_machine::EntryState;

/// Runs that wait for one key, in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiters(Vec<Waiter>);

/// One run that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The run.
    pub run: RunId,
    /// How often the entry had changed when the run last looked: it waits for a later change.
    pub version: u64,
}

impl Waiters {
    /// Runs read back from storage.
    #[must_use]
    pub const fn from_list(list: Vec<Waiter>) -> Self {
        Self(list)
    }

    /// Who waits, in the order they came.
    #[must_use]
    pub fn list(&self) -> &[Waiter] {
        &self.0
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Registers `run`, which saw the entry in `version`; says whether anything changed.
    ///
    /// A run waits once. Beyond `limits::KEY_WAITERS_MAX` it is not registered.
    pub fn register(&mut self, run: RunId, version: u64) -> bool {
        if let Some(known) = self.0.iter_mut().find(|waiter| waiter.run == run) {
            let changed = known.version != version;
            known.version = version;
            return changed;
        }
        if limits::KEY_WAITERS_MAX <= self.0.len() {
            return false;
        }
        self.0.push(Waiter { run, version });
        true
    }

    /// Takes out at most `max` runs, the longest waiting first, that wait for a change up to
    /// `version`.
    pub fn take(&mut self, version: u64, max: usize) -> Vec<RunId> {
        let mut taken = Vec::new();
        self.0.retain(|waiter| {
            let wakes = waiter.version < version && taken.len() < max;
            if wakes {
                taken.push(waiter.run);
            }
            !wakes
        });
        taken
    }
}

/// Whether an entry in this state tells waiters what they wait for.
#[must_use]
pub const fn is_settled(state: &EntryState) -> bool {
    match state {
        EntryState::Applied(_)
        | EntryState::PartlyApplied
        | EntryState::NotApplied
        | EntryState::Compensated => true,
        EntryState::Open | EntryState::InDoubt => false,
    }
}

/// The id of the message that tells `run` of the change of `key` to `version`: the same however
/// often it is made, so that no run is told twice.
#[must_use]
pub fn wake_id(key: &EffectKey, version: u64, run: RunId) -> MessageId {
    let text = format!("key settled\0{key}\0{version}\0{run}");
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Digest::of(text.as_bytes()).as_bytes()[..16]);
    // A UUID whose content is ours to define (version 8), so that none of another kind is equal.
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    MessageId::from_bytes(bytes)
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
