//! Acknowledged rows that are not in the table yet: one layer that is written, and frozen ones
//! below it on their way into the table.
//!
//! Rules against resurrection: a row may vanish with its removal only when it was made in the same
//! layer, nothing below can have it, and the layer never began to be applied. A layer leaves memory
//! only when it is in the table and nobody looked something up before it was written. Nothing here
//! reads or writes a disk, and nothing unacknowledged ever gets here.

mod layer;
mod merge;
mod pin;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::keys::Key;
use crate::segment::Place;

pub(crate) use layer::{Layer, Row};
pub(crate) use merge::{Below, Snapshot, Stands, Wanted, merge};
pub(crate) use pin::Pin;

/// A row that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its key; at most 114 bytes, so that pieces of it have keys, too.
    pub key: Key,
    /// Its new value, `None` when it is removed.
    pub value: Option<Arc<[u8]>>,
    /// Nothing that stands has this key: neither the table nor a row of any earlier change. Only
    /// true when it is certain; then a row that comes and goes quickly costs the table nothing.
    pub fresh: bool,
}

/// What is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Not in the table yet.
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    pub(crate) oldest: Duration,
    /// In the table, and kept for someone.
    pub(crate) kept_bytes: usize,
}

/// The layers.
#[derive(Debug)]
pub(crate) struct Overlay {
    active: Layer,
    /// The oldest first.
    frozen: VecDeque<Arc<Layer>>,
    /// Every layer up to this number is in the table.
    applied: u64,
}

impl Overlay {
    pub(crate) fn new() -> Self {
        Self {
            active: Layer::new(1),
            frozen: VecDeque::new(),
            applied: 0,
        }
    }

    /// Takes what was acknowledged; `end` is where the log ends with it.
    ///
    /// Returns whether someone who waits for work should look.
    pub(crate) fn write(&mut self, changes: Vec<Change>, end: Option<Place>) -> bool {
        let was_idle = self.active.is_idle();
        for change in changes {
            debug_assert!(
                !(change.fresh && change.value.is_some() && self.is_held(&change.key)),
                "a row that is not fresh is said to be"
            );
            self.active.put(change);
        }
        self.active.reach(end);
        was_idle
    }

    /// The same for what is read from the log at open. Nothing of it is fresh unless `absent` says
    /// that the table has no such row: an earlier process may have applied a part, unless the table
    /// was `empty` when this one opened it.
    pub(crate) fn write_again(
        &mut self,
        changes: Vec<Change>,
        (absent, empty): (&[bool], bool),
        end: Place,
    ) -> bool {
        self.active.replayed |= !empty;
        let was_idle = self.active.is_idle();
        for (change, absent) in changes.into_iter().zip(absent) {
            let fresh = *absent && self.row(&change.key).is_none();
            self.active.put(Change { fresh, ..change });
        }
        self.active.reach(Some(end));
        was_idle
    }

    /// The active layer, from now on unchangeable, when it has anything to apply.
    pub(crate) fn freeze(&mut self) -> Option<Arc<Layer>> {
        if self.active.is_idle() {
            return None;
        }
        let next = Layer::new(self.active.number + 1);
        let layer = Arc::new(std::mem::replace(&mut self.active, next));
        self.frozen.push_back(Arc::clone(&layer));
        Some(layer)
    }

    /// Says that the table has every layer up to `number`.
    pub(crate) fn mark_applied(&mut self, number: u64) {
        self.applied = number;
    }

    /// Takes out the layers nobody needs any more, for the caller to drop without the lock. Pinned
    /// ones stay as long as those in the table come to at most `kept_bytes_max`.
    pub(crate) fn release(&mut self, kept_bytes_max: usize) -> Vec<Arc<Layer>> {
        let mut kept: usize = self.kept().map(Layer::bytes).sum();
        let mut released = Vec::new();
        while let Some(layer) = self.frozen.front()
            && layer.number <= self.applied
            && (!layer.is_pinned() || kept_bytes_max < kept)
        {
            kept -= layer.bytes();
            layer.give_up();
            released.extend(self.frozen.pop_front());
        }
        released
    }

    /// The layers that are in the table.
    fn kept(&self) -> impl Iterator<Item = &Layer> {
        let frozen = self.frozen.iter().map(|layer| &**layer);
        frozen.take_while(|layer| layer.number <= self.applied)
    }

    /// Whether layers that are in the table are kept for someone.
    pub(crate) fn keeps_applied(&self) -> bool {
        self.frozen
            .front()
            .is_some_and(|layer| layer.number <= self.applied)
    }

    /// The number of the newest layer that has changes.
    pub(crate) fn newest(&self) -> u64 {
        match self.active.is_idle() {
            true => self.active.number - 1,
            false => self.active.number,
        }
    }

    pub(crate) fn active(&self) -> &Layer {
        &self.active
    }

    /// The layers, the newest first.
    fn layers(&self) -> impl Iterator<Item = &Layer> {
        let frozen = self.frozen.iter().rev().map(|layer| &**layer);
        std::iter::once(&self.active).chain(frozen)
    }

    /// What the layers say of `key`; `None` when they say nothing.
    pub(crate) fn row(&self, key: &[u8]) -> Option<&Row> {
        self.layers().find_map(|layer| layer.row(key))
    }

    fn is_held(&self, key: &[u8]) -> bool {
        self.row(key).is_some_and(|row| row.value.is_some())
    }

    /// Keeps every layer that is written from now on in memory while the pin lives.
    pub(crate) fn pin(&self) -> Pin {
        self.active.pin()
    }

    /// What is in memory; the age is that of the oldest row that is not in the table.
    pub(crate) fn load(&self, now: Instant) -> Load {
        let mut load = Load::default();
        for layer in self.layers() {
            if layer.number <= self.applied {
                load.kept_bytes += layer.bytes();
                continue;
            }
            load.rows += layer.rows();
            load.bytes += layer.bytes();
            if let Some(begun) = layer.begun {
                load.oldest = load.oldest.max(now.saturating_duration_since(begun));
            }
        }
        load
    }
}
