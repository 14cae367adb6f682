//! One committer's stream of deeds: each follows from the seed and from what was answered before.
//!
//! A lane owns its runs, keys and messages, so that every answer but those about shared keys is
//! known beforehand. It must never ask for what the ledger may refuse, but for these.

use std::collections::BTreeMap;

use mainstay::types::Rng as _;
use mainstay_sim::SeededRng;

use super::content::{Happened, Key, SHARED, Stand};
use super::deed::{Beside, Deed, Writing, outside_id, told_id};
use super::fact::Said;

/// Runs of a lane that are open at once; beyond, one is closed.
const OPEN_RUNS_MAX: usize = 12;
/// Runs that a lane may begin.
pub const RUNS_MAX: u32 = 1_000;
/// Keys that the lanes of one round compete for.
const SHARED_KEYS: u64 = 60;

/// What a lane is made of.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Draws it.
    pub seed: u64,
    /// The how-manieth process on this store.
    pub round: u32,
    /// The how-manieth lane of it.
    pub lane: u32,
    /// How often, of a thousand, a payload has the largest size there may be.
    pub limit_per_mille: u64,
}

/// A stream of deeds.
pub struct Lane {
    plan: Plan,
    rng: SeededRng,
    begun: u32,
    runs: Vec<Own>,
    keys: BTreeMap<Key, Entry>,
}

/// A run of the lane.
#[derive(Clone, Debug)]
struct Own {
    n: u32,
    seq: u64,
    epoch: u32,
    /// Somebody else drove it: the next event takes it over.
    to_take: bool,
    closed: bool,
    waits: usize,
    inbox: Vec<String>,
    messages: u32,
}

/// An entry that a run of the lane holds.
#[derive(Clone, Debug)]
struct Entry {
    run: u32,
    version: u64,
    stand: Stand,
    waiters: Vec<(u32, u64)>,
}

impl Lane {
    /// The lane of a plan.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let name = format!("lane {} of round {}", plan.lane, plan.round);
        Self {
            plan,
            rng: SeededRng::stream(plan.seed, &name),
            begun: 0,
            runs: Vec::new(),
            keys: BTreeMap::new(),
        }
    }

    /// Goes on with a run that another process left, as it was found.
    pub fn adopt(&mut self, n: u32, (seq, epoch): (u64, u32), inbox: Vec<String>) {
        self.runs.push(Own {
            n,
            seq,
            epoch,
            to_take: true,
            closed: false,
            waits: 0,
            inbox,
            // Beyond all numbers that whoever had it before gave to messages.
            messages: self.plan.round << 12,
        });
    }

    /// What is asked next.
    pub fn next_deed(&mut self) -> Deed {
        let open = self.runs.iter().filter(|run| !run.closed).count();
        if open == 0 {
            return one(self.start());
        }
        if OPEN_RUNS_MAX < open {
            return self.close();
        }
        match self.below(100) {
            0..14 => one(self.start()),
            14..36 => self.append(),
            36..46 => self.intend(),
            46..58 => self.settle(),
            58..63 => self.wait(),
            63..73 => self.enqueue(),
            73..79 => self.take(),
            79..84 => self.close(),
            84..88 => self.pair(),
            88..93 => self.group(),
            93..97 => self.compete(),
            97..98 => self.reopen(),
            _ => self.keep(),
        }
    }

    /// Learns what became of a deed.
    pub fn done(&mut self, deed: &Deed, said: &[Said]) {
        match deed {
            Deed::Commit(requests) => {
                let written = requests.iter().zip(said);
                let written = written.filter(|(_, said)| **said == Said::Yes);
                for writing in written.flat_map(|(request, _)| request) {
                    self.written(writing);
                }
            }
            Deed::Enqueue { run, message, .. } => {
                let id = outside_id(*run, *message);
                if let Some(own) = self.run(*run) {
                    own.inbox.push(id);
                }
            }
            Deed::Keep { .. } => {}
        }
    }

    fn written(&mut self, writing: &Writing) {
        let n = writing.run;
        if self.run(n).is_none() {
            self.runs.push(Own {
                n,
                seq: 0,
                epoch: 1,
                to_take: false,
                closed: false,
                waits: 0,
                inbox: Vec::new(),
                messages: 0,
            });
        }
        let own = self.run(n).expect("it was just put there");
        own.seq = writing.seq();
        own.epoch = writing.epoch;
        own.to_take = false;
        for beside in &writing.beside {
            match beside {
                Beside::Row(closed) => self.run(n).expect("it is there").closed = *closed,
                Beside::Taken(id) => {
                    let own = self.run(n).expect("it is there");
                    own.inbox.retain(|waiting| waiting != id);
                }
                Beside::Effect(key, stand) => self.changed(*key, n, *stand),
                Beside::Wait(key, version) => {
                    self.run(n).expect("it is there").waits += 1;
                    let entry = self
                        .keys
                        .get_mut(key)
                        .expect("a lane waits for its own keys");
                    entry.waiters.retain(|(waiter, _)| *waiter != n);
                    entry.waiters.push((n, *version));
                }
                Beside::Driven
                | Beside::Parked(_)
                | Beside::Off
                | Beside::Alert
                | Beside::Start(_)
                | Beside::Class(_) => {}
            }
        }
    }

    fn changed(&mut self, key: Key, run: u32, stand: Stand) {
        let entry = self.keys.entry(key).or_insert_with(|| Entry {
            run,
            version: 0,
            stand,
            waiters: Vec::new(),
        });
        (entry.stand, entry.run) = (stand, run);
        entry.version += 1;
        if matches!(stand, Stand::Open | Stand::InDoubt) {
            return;
        }
        let version = entry.version;
        for (waiter, _) in std::mem::take(&mut entry.waiters) {
            if let Some(own) = self.run(waiter) {
                own.waits -= 1;
                own.inbox.push(told_id(key, version, waiter));
            }
        }
    }

    fn run(&mut self, n: u32) -> Option<&mut Own> {
        self.runs.iter_mut().find(|run| run.n == n)
    }

    fn below(&self, bound: u64) -> u64 {
        self.rng.next_u64() % bound
    }

    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn size(&self) -> usize {
        if self.below(1_000) < self.plan.limit_per_mille {
            // What stands around the payload of a record has room beyond this bound.
            return mainstay::types::limits::PAYLOAD_BYTES_MAX;
        }
        let drawn = match self.below(100) {
            0..60 => 50 + self.below(350),
            60..88 => 400 + self.below(7_600),
            88..98 => 8_000 + self.below(57_000),
            _ => 65_000 + self.below(200_000),
        };
        usize::try_from(drawn).expect("far below")
    }

    /// An open run, any of them.
    fn any(&self) -> Own {
        let open: Vec<&Own> = self.runs.iter().filter(|run| !run.closed).collect();
        let drawn = usize::try_from(self.below(open.len() as u64)).expect("below a length");
        open[drawn].clone()
    }

    fn start(&mut self) -> Writing {
        let plan = self.plan;
        let n = plan.round * 100_000 + plan.lane * RUNS_MAX + self.begun;
        self.begun += 1;
        let mut events = vec![Happened::Started(self.size())];
        if self.one_in(2) {
            events.push(Happened::Attempted);
        }
        let mut beside = vec![Beside::Row(false), Beside::Driven];
        if self.one_in(2) {
            beside.push(Beside::Start(Key { owner: n, item: 0 }));
        }
        if self.one_in(12) {
            let version = 1 + u32::try_from(self.below(40)).expect("small");
            beside.push(Beside::Class(version));
        }
        Writing {
            run: n,
            after: 0,
            epoch: 1,
            events,
            beside,
        }
    }

    /// An append to a run, with these events after what it may owe.
    fn to(&self, own: &Own, events: impl IntoIterator<Item = Happened>) -> Writing {
        let epoch = own.epoch + u32::from(own.to_take);
        let first = own.to_take.then_some(Happened::Leased(epoch));
        let mut beside = vec![Beside::Row(false)];
        if own.to_take {
            beside.push(Beside::Driven);
        }
        Writing {
            run: own.n,
            after: own.seq,
            epoch,
            events: first.into_iter().chain(events).collect(),
            beside,
        }
    }

    fn some(&self, own: &Own) -> Writing {
        let count = 1 + self.below(3);
        let events: Vec<Happened> = (0..count)
            .map(|_| match self.below(6) {
                0 => Happened::Attempted,
                1 => Happened::Answered,
                2 => Happened::Skipped,
                _ => Happened::Settled(self.size()),
            })
            .collect();
        let mut writing = self.to(own, events);
        match self.below(12) {
            0 => writing
                .beside
                .push(Beside::Parked(Some(self.below(1 << 30)))),
            1 => writing.beside.push(Beside::Parked(None)),
            2 => writing.beside.push(Beside::Off),
            3 | 4 => writing.beside.push(Beside::Driven),
            5 => writing.beside.push(Beside::Alert),
            _ => {}
        }
        writing
    }

    fn append(&self) -> Deed {
        one(self.some(&self.any()))
    }

    fn intend(&self) -> Deed {
        let own = self.any();
        let item = u32::try_from(own.seq + 1).expect("runs are short");
        let key = Key { owner: own.n, item };
        let mut writing = self.to(&own, [Happened::Intended(key), Happened::Attempted]);
        writing.beside.push(Beside::Effect(key, Stand::Open));
        one(writing)
    }

    fn settle(&mut self) -> Deed {
        let open = self.keys.iter().filter(|(_, entry)| is_open(entry.stand));
        let open: Vec<(Key, Entry)> = open.map(|(key, entry)| (*key, entry.clone())).collect();
        let Some((key, entry)) = self.drawn(&open) else {
            return self.append();
        };
        let own = self.run(entry.run).expect("a lane's keys are of its runs");
        let own = own.clone();
        let stand = match self.below(8) {
            0 => Stand::InDoubt,
            // Another lane could take it.
            1 | 2 if key.owner != SHARED => Stand::NotApplied,
            _ => Stand::Applied(self.size()),
        };
        let mut writing = self.to(&own, [Happened::Answered]);
        writing.beside.push(Beside::Effect(key, stand));
        one(writing)
    }

    fn wait(&self) -> Deed {
        let own = self.any();
        let open = self.keys.iter().filter(|(_, entry)| {
            let waits = entry.waiters.iter().any(|(waiter, _)| *waiter == own.n);
            is_open(entry.stand) && entry.run != own.n && !waits
        });
        let open: Vec<(Key, Entry)> = open.map(|(key, entry)| (*key, entry.clone())).collect();
        let Some((key, entry)) = self.drawn(&open) else {
            return self.append();
        };
        let mut writing = self.to(&own, [Happened::Skipped]);
        writing.beside.push(Beside::Wait(key, entry.version));
        writing
            .beside
            .push(Beside::Parked(Some(self.below(1 << 30))));
        one(writing)
    }

    fn enqueue(&mut self) -> Deed {
        let drawn = self.below(self.runs.len() as u64);
        let drawn = usize::try_from(drawn).expect("below a length");
        let bytes = if self.one_in(3) { 0 } else { self.size() };
        let own = &mut self.runs[drawn];
        own.messages += 1;
        Deed::Enqueue {
            run: own.n,
            message: own.messages,
            bytes,
        }
    }

    fn take(&self) -> Deed {
        let waiting = self.runs.iter().filter(|run| !run.closed);
        let Some(own) = waiting.max_by_key(|run| run.inbox.len()) else {
            return self.append();
        };
        let mut writing = self.some(own);
        let taken = own.inbox.iter().take(3);
        writing.beside.extend(taken.cloned().map(Beside::Taken));
        one(writing)
    }

    /// Closes a run that owes nothing and is told of nothing; most have been open for some time.
    fn close(&self) -> Deed {
        let owes = |own: &Own| {
            let entries = self.keys.values();
            let mut open = entries.filter(|entry| is_open(entry.stand));
            0 < own.waits || open.any(|entry| entry.run == own.n)
        };
        let mut may = self.runs.iter().filter(|run| !run.closed && !owes(run));
        let Some(own) = may.next() else {
            return self.append();
        };
        let mut writing = self.to(own, [Happened::Settled(self.size()), Happened::Closed]);
        writing.beside = vec![Beside::Row(true), Beside::Off];
        writing
            .beside
            .extend(own.inbox.iter().cloned().map(Beside::Taken));
        one(writing)
    }

    /// Goes on with a run that was closed.
    fn reopen(&self) -> Deed {
        let closed: Vec<&Own> = self.runs.iter().filter(|run| run.closed).collect();
        let Some(own) = self.drawn(&closed) else {
            return self.append();
        };
        let mut writing = self.some(own);
        writing.beside.insert(1, Beside::Driven);
        one(writing)
    }

    fn pair(&mut self) -> Deed {
        let other = self.some(&self.any());
        Deed::Commit(vec![vec![self.start(), other]])
    }

    fn group(&mut self) -> Deed {
        let begun = self.start();
        let after = Writing {
            after: begun.seq(),
            events: vec![Happened::Settled(self.size())],
            beside: vec![Beside::Row(false), Beside::Alert],
            ..begun.clone()
        };
        let mut requests = vec![vec![begun], vec![after]];
        let mut seen = Vec::new();
        for _ in 0..self.below(5) {
            let own = self.any();
            if !seen.contains(&own.n) {
                seen.push(own.n);
                requests.push(vec![self.some(&own)]);
            }
        }
        Deed::Commit(requests)
    }

    /// A new run that wants a key which other lanes want as well.
    fn compete(&mut self) -> Deed {
        let item = u64::from(self.plan.round) * SHARED_KEYS + self.below(SHARED_KEYS);
        let item = u32::try_from(item).expect("rounds are few");
        let key = Key {
            owner: SHARED,
            item,
        };
        let mut writing = self.start();
        if self.one_in(2) {
            writing.beside.push(Beside::Effect(key, Stand::Open));
            writing.events.push(Happened::Intended(key));
        } else {
            writing.beside.push(Beside::Start(key));
        }
        one(writing)
    }

    fn keep(&self) -> Deed {
        let own = self.any();
        let bytes = self.size().min(200_000);
        Deed::Keep {
            run: own.n,
            seq: own.seq,
            bytes,
        }
    }

    fn drawn<T: Clone>(&self, from: &[T]) -> Option<T> {
        let count = from.len() as u64;
        let drawn = self.rng.next_u64().checked_rem(count)?;
        from.get(usize::try_from(drawn).ok()?).cloned()
    }

    /// Whether it may begin more runs.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.begun + 4 < RUNS_MAX
    }
}

const fn is_open(stand: Stand) -> bool {
    matches!(stand, Stand::Open | Stand::InDoubt)
}

fn one(writing: Writing) -> Deed {
    Deed::Commit(vec![vec![writing]])
}
