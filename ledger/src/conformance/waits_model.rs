//! One check: any interleaving of taking, settling, waiting and acknowledging, in groups of any
//! size and over reopenings, against a table that is too simple to be wrong.

use std::collections::BTreeMap;

use mainstay_machine::{EffectEntry, EntryState};
use mainstay_types::Payload;

use super::draw::Draw;
use super::waits::{quiet, waits, word, writes};
use super::{Bench, committed};
use crate::commit::{CommitRequest, HeldKey, Op, Verdict};
use crate::inbox::InboxMessage;
use crate::sample;

const RUNS: u32 = 5;
const ITEMS: u32 = 3;

/// One key: its entry with its version, and who waits since which version.
#[derive(Default)]
struct Key {
    entry: Option<(EffectEntry, u64)>,
    waiting: Vec<(u32, u64)>,
}

#[derive(Default)]
struct Table {
    keys: BTreeMap<u32, Key>,
    inboxes: BTreeMap<u32, Vec<InboxMessage>>,
}

/// What one request does.
enum Move {
    Write(u32, u32, EntryState),
    Wait(u32, u32, u64),
    Ack(u32, InboxMessage),
}

impl Table {
    fn draw(&self, draw: &mut Draw) -> Move {
        let (n, item) = (draw.small(RUNS), draw.small(ITEMS));
        let version = self.version(item);
        match draw.below(8) {
            0 | 1 => Move::Write(n, item, EntryState::Open),
            2 => Move::Write(n, item, EntryState::InDoubt),
            3 => {
                let states = [
                    EntryState::Applied(Payload::from("[]")),
                    EntryState::PartlyApplied,
                    EntryState::NotApplied,
                    EntryState::NotApplied,
                ];
                let at = usize::try_from(draw.below(4)).expect("small");
                Move::Write(n, item, states[at].clone())
            }
            4 => Move::Wait(n, item, version.saturating_sub(draw.below(2))),
            7 => match self.inboxes.get(&n).and_then(|inbox| inbox.first()) {
                Some(first) => Move::Ack(n, first.clone()),
                None => Move::Wait(n, item, version),
            },
            _ => Move::Wait(n, item, version),
        }
    }

    fn version(&self, item: u32) -> u64 {
        let entry = self.keys.get(&item).and_then(|key| key.entry.as_ref());
        entry.map_or(0, |(_, version)| *version)
    }

    /// What the ledger must say to this move, which is done when that is yes.
    fn take(&mut self, made: &Move) -> Verdict {
        let refused = match made {
            Move::Write(n, item, state) => self.write(*n, *item, state),
            Move::Wait(n, item, version) => self.wait(*n, *item, *version),
            Move::Ack(n, message) => {
                let inbox = self.inboxes.entry(*n).or_default();
                inbox.retain(|waiting| waiting != message);
                None
            }
        };
        refused.map_or_else(
            || committed([1]),
            |(entry, version)| {
                let entry = Box::new(entry);
                Verdict::KeyHeld(HeldKey::Effect { entry, version })
            },
        )
    }

    fn write(&mut self, n: u32, item: u32, state: &EntryState) -> Option<(EffectEntry, u64)> {
        let key = self.keys.entry(item).or_default();
        if let Some((entry, version)) = &key.entry {
            let may = entry.run == sample::run(n) || entry.state == EntryState::NotApplied;
            if !may {
                return Some((entry.clone(), *version));
            }
        }
        let version = key.entry.as_ref().map_or(0, |(_, version)| *version) + 1;
        let Op::Effect { entry, .. } = writes(n, item, state.clone()) else {
            unreachable!("it writes an entry")
        };
        key.entry = Some((entry, version));
        if !matches!(state, EntryState::Open | EntryState::InDoubt) {
            for (waiter, _) in std::mem::take(&mut key.waiting) {
                let inbox = self.inboxes.entry(waiter).or_default();
                inbox.push(word(waiter, item, version));
            }
        }
        None
    }

    fn wait(&mut self, n: u32, item: u32, version: u64) -> Option<(EffectEntry, u64)> {
        let key = self.keys.entry(item).or_default();
        let (entry, now) = key.entry.clone()?;
        if now != version {
            return Some((entry, now));
        }
        match key.waiting.iter_mut().find(|(waiter, _)| *waiter == n) {
            Some(known) => known.1 = version,
            None => key.waiting.push((n, version)),
        }
        None
    }
}

fn request(made: &Move) -> CommitRequest {
    let (n, op) = match made {
        Move::Write(n, item, state) => (*n, writes(*n, *item, state.clone())),
        Move::Wait(n, item, version) => (*n, waits(*item, *version)),
        Move::Ack(n, message) => (*n, Op::InboxAck(message.id)),
    };
    quiet(n).with(op).into()
}

pub(super) fn those_who_wait_are_told_exactly_once_whatever_the_order(bench: &mut Bench<'_>) {
    let mut draw = Draw::seeded();
    let mut table = Table::default();
    for n in 0..RUNS {
        bench.must(sample::start_part(n));
    }
    let mut told = 0;
    for round in 0..150 {
        let (mut requests, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..=draw.below(4) {
            let made = table.draw(&mut draw);
            requests.push(request(&made));
            expected.push(table.take(&made));
        }
        assert_eq!(bench.group(requests), expected, "{draw}, round {round}");
        if round % 50 == 49 {
            bench.reopen();
        }
        for n in 0..RUNS {
            let inbox = table.inboxes.entry(n).or_default();
            assert_eq!(bench.inbox(n), *inbox, "{draw}, round {round}, run {n}");
            told += inbox.len();
        }
    }
    assert!(0 < told, "{draw}: nobody was ever told");
}
