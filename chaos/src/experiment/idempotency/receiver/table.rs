//! The receiver's table: what was applied, for whom, under which key. It is the truth.
//!
//! It must never be written by anything but a landing; nothing is taken out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OnceCell;

use super::super::draw::{Ask, Intent};
use super::api::{OrderRequest, Placed};

/// An order that was applied; one that is applied twice is here twice.
#[derive(Clone, Debug)]
pub struct Applied {
    /// For which wanted order its request was sent.
    pub intent: Intent,
    /// What it made.
    pub placed: Placed,
    /// When its request arrived.
    pub arrived: Instant,
}

/// What really happened at a receiver.
#[derive(Clone, Debug)]
pub struct Truth {
    /// All that was applied, in order.
    pub applied: Vec<Applied>,
    /// Requests to place an order that arrived, executed or not.
    pub sends: u64,
    /// Those of them that were drawn to be lost or late.
    pub sends_struck: u64,
    /// Those that came to their turn behind the bound, because the machine was busy, and were
    /// dropped.
    pub sends_expired: u64,
}

impl Truth {
    /// What was applied for one wanted order.
    pub fn of(&self, intent: Intent) -> impl Iterator<Item = &Applied> {
        self.applied
            .iter()
            .filter(move |applied| applied.intent == intent)
    }
}

/// One key: what it was first used for, and its result once there is one.
pub(super) struct KeyEntry {
    pub(super) item: String,
    pub(super) qty: u32,
    /// Empty while the receiver works on it.
    pub(super) result: OnceCell<Placed>,
}

impl KeyEntry {
    /// Whether this is the same request: the memo may differ, what is ordered may not.
    pub(super) fn fits(&self, request: &OrderRequest) -> bool {
        (self.item.as_str(), self.qty) == (request.item.as_str(), request.qty)
    }
}

#[derive(Default)]
pub(super) struct Table {
    applied: Vec<Applied>,
    keys: HashMap<String, Arc<KeyEntry>>,
    /// How many requests of a kind there were for a wanted order.
    counts: HashMap<(Ask, Intent), u32>,
    pub(super) sends: u64,
    pub(super) sends_struck: u64,
    pub(super) sends_expired: u64,
}

impl Table {
    /// Counts a request, and says how many of its kind came before it for the same order.
    pub(super) fn arrives(&mut self, ask: Ask, intent: Intent) -> u32 {
        let count = self.counts.entry((ask, intent)).or_default();
        let nth = *count;
        *count += 1;
        nth
    }

    /// The entry of a key; made for this request when there is none.
    pub(super) fn claim(&mut self, key: &str, request: &OrderRequest) -> Arc<KeyEntry> {
        let make = || {
            Arc::new(KeyEntry {
                item: request.item.clone(),
                qty: request.qty,
                result: OnceCell::new(),
            })
        };
        Arc::clone(self.keys.entry(key.to_owned()).or_insert_with(make))
    }

    pub(super) fn entry(&self, key: &str) -> Option<Arc<KeyEntry>> {
        self.keys.get(key).cloned()
    }

    /// Executes a request.
    pub(super) fn execute(
        &mut self,
        intent: Intent,
        request: &OrderRequest,
        arrived: Instant,
    ) -> Placed {
        let number = self.applied.len() + 1;
        let placed = Placed {
            order_no: format!("PO-{number:06}"),
            request: request.clone(),
        };
        self.applied.push(Applied {
            intent,
            placed: placed.clone(),
            arrived,
        });
        placed
    }

    /// The orders with this request number, and this slot if one is asked for.
    pub(super) fn search(&self, request_no: &str, slot: Option<u32>) -> Vec<Placed> {
        let all = self.applied.iter().map(|applied| &applied.placed);
        all.filter(|placed| placed.request.request_no.as_deref() == Some(request_no))
            .filter(|placed| slot.is_none() || placed.request.slot == slot)
            .cloned()
            .collect()
    }

    pub(super) fn truth(&self) -> Truth {
        Truth {
            applied: self.applied.clone(),
            sends: self.sends,
            sends_struck: self.sends_struck,
            sends_expired: self.sends_expired,
        }
    }
}
