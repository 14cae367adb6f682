//! A run taken apart and put together again, so that its state can be kept beside its log.
//!
//! Parts are what cannot be worked out: the head and the calls. What follows from the class or from
//! the calls (the plan, the shelves of open calls) is never among them. Nothing here decides, and
//! what is put together must be a state that the core can go on from without a panic.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_types::{AttemptNo, CallId, Corrupt, Payload, Seq};

use crate::call::{Call, Phase};
use crate::run::{Head, Run};

/// The number of the state's shape and meaning. To be raised with every change of [`Head`],
/// [`Call`] or anything in them, and with every change of what `apply` makes of the same events:
/// a state with another number is not read, its events are folded instead.
pub const SNAPSHOT_SCHEMA: u32 = 6;

/// The parts of a run, as it lends them.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// How many events made them.
    pub seq: Seq,
    /// Everything that is not a call.
    pub head: &'a Head,
    /// The calls, in the order of their ids.
    pub calls: &'a [Call],
}

/// The parts of a run, to put it together from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunParts {
    /// How many events made them.
    pub seq: Seq,
    /// Everything that is not a call.
    pub head: Head,
    /// The calls, in the order of their ids.
    pub calls: Vec<Call>,
}

impl RunParts {
    /// The same, lent.
    #[must_use]
    pub fn lend(&self) -> Parts<'_> {
        Parts {
            seq: self.seq,
            head: &self.head,
            calls: &self.calls,
        }
    }
}

impl Run {
    /// The parts of a run that has started; `None` before.
    ///
    /// # Panics
    /// Between `begin` and `keep` or `undo`: a scratch is nothing to be kept.
    #[must_use]
    pub fn parts(&self) -> Option<Parts<'_>> {
        // In full, so that a new field is either a part or known to follow from the others.
        let Self {
            class: _,
            plan: _,
            head,
            calls,
            seq,
            undo,
        } = self;
        assert!(undo.is_none(), "a run is taken apart between its turns");
        Some(Parts {
            seq: *seq,
            head: head.as_ref()?,
            calls: calls.all(),
        })
    }

    /// The run of `class` that these parts make.
    ///
    /// `Corrupt` when they are of another class, or refer to what is not there.
    pub fn from_parts(class: Arc<TaskClass>, parts: RunParts) -> Result<Self, Corrupt> {
        let RunParts { seq, head, calls } = parts;
        let same = head.class.name == class.name && head.class.version == class.version;
        if !same {
            return Err(corrupt("it is of another class"));
        }
        let caps = class.caps.dependencies.len();
        let mut laps = std::iter::once(&head.lap).chain(&head.past);
        if laps.any(|lap| lap.uses.dependencies.len() != caps) {
            return Err(corrupt("a lap has other caps than the class"));
        }
        for call in &calls {
            check(call, class.nodes.len(), calls.len())?;
        }
        let mut run = Self::unborn(class);
        for call in calls {
            run.calls.push(call);
        }
        (run.head, run.seq) = (Some(head), seq);
        Ok(run)
    }
}

/// Whether everything the call refers to is there.
fn check(call: &Call, nodes: usize, calls: usize) -> Result<(), Corrupt> {
    let is_call = |id: CallId| usize::try_from(id.get()).is_ok_and(|at| at < calls);
    if nodes <= usize::from(call.node.get()) {
        return Err(corrupt("a call is of no node of the class"));
    }
    if call.item.is_some_and(|item| !is_call(item.parent)) {
        return Err(corrupt("an item belongs to no call"));
    }
    if call.undoes.is_some_and(|undoes| !is_call(undoes.call)) {
        return Err(corrupt("what is undone is no call"));
    }
    let are_calls = call.items.is_none_or(|items| {
        let end = items.first.get().checked_add(items.count);
        end.is_some_and(|end| usize::try_from(end).is_ok_and(|end| end <= calls))
    });
    if !are_calls {
        return Err(corrupt("an each has items that are no calls"));
    }
    let asked = call.asked.iter();
    let mut made = asked.flat_map(|asked| asked.calls.iter().map(|&(_, call)| call));
    if !made.all(is_call) {
        return Err(corrupt("a tool call is no call"));
    }
    let is_made = |(no, _): &(AttemptNo, Payload)| call.attempt(*no).is_some();
    if !call.kept.as_ref().is_none_or(is_made) {
        return Err(corrupt(
            "an answer is kept of an attempt that was never made",
        ));
    }
    if matches!(call.phase, Phase::InFlight(_)) && call.in_flight().is_none() {
        return Err(corrupt("an attempt is out that was never made"));
    }
    Ok(())
}

fn corrupt(detail: &str) -> Corrupt {
    Corrupt::new("snapshot", detail)
}
