//! A receiver's own table: what it did, when, for which key. It is the truth that everything else
//! is held against.
//!
//! A request that has left lands whatever becomes of its sender; it lands when its moment has come
//! and somebody looks, so that no process has to live for it.

use mainstay_graph::Resolution;
use mainstay_types::{AttemptNo, EffectKey, Millis, Payload, RunId};

/// One change of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// When, since the world began.
    pub at: Millis,
    /// Under which key.
    pub key: EffectKey,
    /// For which run.
    pub run: RunId,
    /// For which attempt of the call.
    pub attempt: AttemptNo,
    /// The request.
    pub request: Payload,
    /// The reply that was made, whether it came back or not.
    pub reply: Payload,
    /// Whether only a part of it was done.
    pub in_part: bool,
}

/// What a receiver does with a key that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// It does it once, for as long as it remembers the key; else it does it again.
    pub(super) once: bool,
    /// How long it remembers a key; `None`: for good.
    memory: Option<Millis>,
    /// It cannot be asked.
    pub(super) is_mute: bool,
}

impl Manner {
    /// Of a receiver about which one finds out like this; `once`: it does one key once.
    pub(super) fn of(resolution: Resolution, (once, memory): (bool, Option<Millis>)) -> Self {
        let is_upsert = resolution == Resolution::ByUpsert;
        Self {
            once: once || is_upsert,
            memory: memory.filter(|_| once && !is_upsert),
            is_mute: resolution == Resolution::ByHuman,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) applied: Vec<Applied>,
    /// What is under way, in the order in which it lands.
    coming: Vec<(Millis, Landing)>,
}

/// A request that will land.
#[derive(Clone, Debug)]
pub(super) struct Landing {
    pub(super) key: EffectKey,
    pub(super) run: RunId,
    pub(super) attempt: AttemptNo,
    pub(super) request: Payload,
    pub(super) reply: Payload,
    pub(super) in_part: bool,
}

impl Table {
    /// The request lands at `at`, or at once when that has passed.
    pub(super) fn comes(&mut self, at: Millis, landing: Landing) {
        let place = self.coming.partition_point(|(due, _)| *due <= at);
        self.coming.insert(place, (at, landing));
    }

    /// What has come by `now` has landed.
    pub(super) fn pass(&mut self, now: Millis, manner: Manner) {
        let due = self.coming.partition_point(|(at, _)| *at <= now);
        let landed: Vec<_> = self.coming.drain(..due).collect();
        for (at, landing) in landed {
            self.land(at, landing, manner);
        }
    }

    fn land(&mut self, at: Millis, landing: Landing, manner: Manner) {
        let known = self.known(&landing.key, at, manner);
        // What was done in part is completed by a request that is done whole.
        let is_there = known.is_some_and(|known| !known.in_part || landing.in_part);
        if is_there && manner.once {
            return;
        }
        self.applied.push(Applied {
            at,
            key: landing.key,
            run: landing.run,
            attempt: landing.attempt,
            request: landing.request,
            reply: landing.reply,
            in_part: landing.in_part,
        });
    }

    /// What the receiver knows at `now` of `key`: its first whole change under it, else a part, as
    /// long as it remembers.
    pub(super) fn known(&self, key: &EffectKey, now: Millis, manner: Manner) -> Option<&Applied> {
        let memory = manner.memory;
        let known = self.applied.iter().filter(|applied| {
            let is_remembered = memory.is_none_or(|memory| now < applied.at + memory);
            applied.key == *key && is_remembered
        });
        known.min_by_key(|applied| applied.in_part)
    }
}
