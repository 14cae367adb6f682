//! The calls of a run: by id, by where they stand, with a way back.
//!
//! Between `begin` and `keep` or `undo` every first change of a call is remembered, so that a
//! failed append costs what it touched and never a copy of the run.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use mainstay_types::{CallId, NodeId};

use crate::call::{Attempt, Call, Phase};
use crate::orphan::Orphan;

/// The calls, indexed by id and by shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    all: Vec<Call>,
    shelves: Shelves,
    journal: Option<Journal>,
}

/// What `undo` needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Journal {
    before: BTreeMap<CallId, Box<Call>>,
    len: usize,
}

/// Open calls by where they stand; final and waiting ones are on no shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shelves {
    preparing: BTreeSet<CallId>,
    ready: BTreeSet<CallId>,
    in_flight: BTreeSet<CallId>,
    in_doubt: BTreeSet<CallId>,
    items: BTreeSet<CallId>,
    /// With orphans that hold their run, wherever the call itself stands.
    watched: BTreeSet<CallId>,
    /// How many calls of each node have not begun. Every soft call of every turn asks, and looking
    /// at all calls for it costs more with each that is over. No node is here with none.
    unstarted: BTreeMap<NodeId, u32>,
    open: usize,
}

impl Shelves {
    fn of(&mut self, call: &Call) -> Option<&mut BTreeSet<CallId>> {
        match &call.phase {
            // What it needs opened again in a later lap: its code has its turn after that.
            Phase::Preparing if 0 < call.needs_open => None,
            Phase::Preparing => Some(&mut self.preparing),
            Phase::Ready { .. } => Some(&mut self.ready),
            Phase::InFlight(_) => Some(&mut self.in_flight),
            Phase::InDoubt => Some(&mut self.in_doubt),
            Phase::Items => Some(&mut self.items),
            Phase::Waiting
            | Phase::Settled { .. }
            | Phase::Omitted { .. }
            | Phase::Skipped
            | Phase::Failed { .. } => None,
        }
    }

    fn put(&mut self, id: CallId, call: &Call) {
        self.open += usize::from(!call.phase.is_final());
        if is_unstarted(&call.phase) {
            *self.unstarted.entry(call.node).or_default() += 1;
        }
        if let Some(shelf) = self.of(call) {
            shelf.insert(id);
        }
        if call.attempts.iter().any(holds) {
            self.watched.insert(id);
        }
    }

    fn take(&mut self, id: CallId, call: &Call) {
        self.open -= usize::from(!call.phase.is_final());
        if is_unstarted(&call.phase)
            && let Entry::Occupied(mut count) = self.unstarted.entry(call.node)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        if let Some(shelf) = self.of(call) {
            shelf.remove(&id);
        }
        self.watched.remove(&id);
    }
}

impl Calls {
    /// The call with this id.
    #[must_use]
    pub fn get(&self, id: CallId) -> Option<&Call> {
        self.all.get(index(id))
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many are not final.
    #[must_use]
    pub const fn open(&self) -> usize {
        self.shelves.open
    }

    /// Every call, in order of its id.
    pub fn iter(&self) -> impl Iterator<Item = (CallId, &Call)> {
        (0u32..).map(CallId).zip(&self.all)
    }

    /// Every call by its id, outside a turn. In full, so that a new field is either among them or
    /// known to follow from them.
    pub(crate) fn all(&self) -> &[Call] {
        let Self {
            all,
            shelves: _,
            journal: _,
        } = self;
        all
    }

    /// Calls whose code has to run.
    pub fn preparing(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.preparing)
    }

    /// Calls that could start.
    pub fn ready(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.ready)
    }

    /// Calls with an attempt out.
    pub fn in_flight(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.in_flight)
    }

    /// Calls whose effect is in doubt.
    pub fn in_doubt(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.in_doubt)
    }

    /// Eaches whose items are open.
    pub fn with_items(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.items)
    }

    /// Calls with orphans that hold their run.
    pub fn watched(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.shelf(&self.shelves.watched)
    }

    /// Nodes with calls that have not begun or are to begin again, and how many.
    pub(crate) fn unstarted(&self) -> impl Iterator<Item = (NodeId, u32)> {
        self.shelves
            .unstarted
            .iter()
            .map(|(&node, &count)| (node, count))
    }

    fn shelf<'a>(
        &'a self,
        shelf: &'a BTreeSet<CallId>,
    ) -> impl Iterator<Item = (CallId, &'a Call)> {
        shelf.iter().map(|&id| (id, &self.all[index(id)]))
    }

    /// Makes room for so many more, in one piece.
    pub(crate) fn expect(&mut self, calls: usize) {
        self.all.reserve_exact(calls);
    }

    /// Adds a call and returns its id.
    pub(crate) fn push(&mut self, call: Call) -> CallId {
        let id = CallId(u32::try_from(self.all.len()).expect("RUN_CALLS_MAX is far below u32"));
        self.shelves.put(id, &call);
        self.all.push(call);
        id
    }

    /// Changes one call.
    pub(crate) fn update<R>(&mut self, id: CallId, change: impl FnOnce(&mut Call) -> R) -> R {
        self.remember(id);
        let call = &mut self.all[index(id)];
        self.shelves.take(id, call);
        let result = change(call);
        self.shelves.put(id, call);
        result
    }

    fn remember(&mut self, id: CallId) {
        if let Some(journal) = &mut self.journal
            && index(id) < journal.len
        {
            journal
                .before
                .entry(id)
                .or_insert_with(|| Box::new(self.all[index(id)].clone()));
        }
    }

    pub(crate) fn begin(&mut self) {
        self.journal = Some(Journal {
            before: BTreeMap::new(),
            len: self.all.len(),
        });
    }

    pub(crate) fn keep(&mut self) {
        self.journal = None;
    }

    pub(crate) fn undo(&mut self) {
        let Some(journal) = self.journal.take() else {
            return;
        };
        for at in (journal.len..self.all.len()).rev() {
            let call = self.all.pop().expect("at is below the length");
            let id = CallId(u32::try_from(at).expect("it was an id"));
            self.shelves.take(id, &call);
        }
        for (id, before) in journal.before {
            let call = &mut self.all[index(id)];
            self.shelves.take(id, call);
            *call = *before;
            self.shelves.put(id, call);
        }
    }
}

fn holds(attempt: &Attempt) -> bool {
    attempt.orphan().is_some_and(Orphan::holds)
}

/// Whether an attempt of the call, its code or its items are still to begin.
const fn is_unstarted(phase: &Phase) -> bool {
    match phase {
        Phase::Waiting | Phase::Preparing | Phase::Ready { .. } => true,
        Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => false,
    }
}

fn index(id: CallId) -> usize {
    usize::try_from(id.get()).expect("usize holds a u32 on every supported platform")
}
