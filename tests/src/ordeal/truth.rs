//! What a store must hold: all that was acknowledged, in a ledger in memory, and by name all that
//! was asked for.
//!
//! Of what was asked and not answered it holds what the store shows, which is settled first and
//! must be whole or absent. It must never believe the store in anything else.

use std::collections::{BTreeMap, BTreeSet};

use mainstay::ledger::{Ledger, LedgerError, MemoryLedger};
use mainstay_ledger::conformance::block_on;

use super::author::ask;
use super::content::{Key, NOBODY, SHARED};
use super::deed::{Beside, Deed, Writing, outside_id};
use super::fact::{Fact, Said};
use super::reading::{Reading, Seen, look};

/// The truth about a store.
pub struct Truth {
    /// What everything is compared with.
    pub ledger: MemoryLedger,
    /// Everything that was ever named.
    pub names: Names,
    /// Asked and not answered, in the order of asking.
    open: BTreeMap<u32, Deed>,
    /// What writers said that they must not.
    pub protests: Vec<String>,
    /// Requests and messages that were acknowledged.
    pub acknowledged: usize,
    /// Requests that found no room.
    pub full: usize,
}

/// What was named, be it there or not.
#[derive(Default)]
pub struct Names {
    runs: BTreeSet<u32>,
    starts: BTreeSet<Key>,
    effects: BTreeSet<Key>,
    classes: BTreeSet<u32>,
    /// Messages from outside that are known to have arrived.
    messages: Vec<(u32, u32)>,
    /// States that were offered: run, event, bytes.
    kept: BTreeSet<(u32, u64, usize)>,
}

/// Keys that nobody ever takes and that are asked for all the same.
const FREE_KEYS: u32 = 40;

impl Names {
    /// Every question about them.
    #[must_use]
    pub fn readings(&self) -> Vec<Reading> {
        let mut all = vec![
            Reading::Classes,
            Reading::Driven,
            Reading::Wakes,
            Reading::Inboxes,
            Reading::Rows(None),
            Reading::Rows(Some(false)),
            Reading::Rows(Some(true)),
            Reading::Alerts,
            Reading::LastTime,
        ];
        for n in &self.runs {
            all.extend([
                Reading::Load(*n),
                Reading::History(*n),
                Reading::Inbox(*n),
                Reading::Driving(*n),
                Reading::Summary(*n),
            ]);
        }
        let free = (0..FREE_KEYS).map(|item| Key {
            owner: NOBODY,
            item,
        });
        let starts = self.starts.iter().copied().chain(free.clone());
        all.extend(starts.map(Reading::Start));
        let effects = self.effects.iter().copied().chain(free);
        all.extend(effects.map(Reading::Effect));
        all.extend(self.classes.iter().map(|version| Reading::Class(*version)));
        all
    }

    /// Messages that must be known, as run and number.
    #[must_use]
    pub fn messages(&self) -> &[(u32, u32)] {
        &self.messages
    }

    /// Whether this state of a run was ever offered.
    #[must_use]
    pub fn was_kept(&self, n: u32, snapshot: &mainstay_ledger::Snapshot) -> bool {
        let offered = self
            .kept
            .range((n, snapshot.seq.get(), 0)..=(n, snapshot.seq.get(), usize::MAX));
        offered
            .into_iter()
            .any(|(n, seq, bytes)| super::content::snapshot(*n, *seq, *bytes) == *snapshot)
    }

    fn add(&mut self, deed: &Deed) {
        match deed {
            Deed::Commit(requests) => requests.iter().flatten().for_each(|part| self.write(part)),
            Deed::Enqueue { run, .. } => {
                self.runs.insert(*run);
            }
            Deed::Keep { run, seq, bytes } => {
                self.kept.insert((*run, *seq, *bytes));
            }
        }
    }

    fn write(&mut self, writing: &Writing) {
        self.runs.insert(writing.run);
        for beside in &writing.beside {
            match beside {
                Beside::Effect(key, _) | Beside::Wait(key, _) => {
                    self.effects.insert(*key);
                }
                Beside::Start(key) => {
                    self.starts.insert(*key);
                }
                Beside::Class(version) => {
                    self.classes.insert(*version);
                }
                Beside::Row(_)
                | Beside::Driven
                | Beside::Parked(_)
                | Beside::Off
                | Beside::Alert
                | Beside::Taken(_) => {}
            }
        }
    }
}

impl Truth {
    /// The truth of what writers and their parent told, but for what was asked last and not
    /// answered.
    #[must_use]
    pub fn of(facts: &[Fact]) -> Self {
        let mut truth = Self {
            ledger: MemoryLedger::new(),
            names: Names::default(),
            open: BTreeMap::new(),
            protests: Vec::new(),
            acknowledged: 0,
            full: 0,
        };
        for fact in facts {
            truth.learn(fact);
        }
        truth
    }

    fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Try(id, deed) => {
                self.names.add(deed);
                self.open.insert(*id, deed.clone());
            }
            Fact::Done(id, said) => {
                let deed = self
                    .open
                    .remove(id)
                    .expect("an answer follows its question");
                self.answered(&deed, said);
            }
            Fact::Found(id, found) => {
                let deed = self.open.remove(id).expect("it was asked and not answered");
                let found: Vec<Said> = found
                    .iter()
                    .map(|found| if *found { Said::Yes } else { Said::Stale })
                    .collect();
                self.apply(&deed, &found);
            }
            Fact::Failed(error) => self.protests.push(format!("a writer failed: {error}")),
            Fact::Opening => assert!(self.open.is_empty(), "the last process is not settled"),
            Fact::Open(_) | Fact::Closing | Fact::Closed(_) => {}
        }
    }

    fn answered(&mut self, deed: &Deed, said: &[Said]) {
        for said in said {
            match said {
                Said::Yes => self.acknowledged += 1,
                Said::Held(_) if wants_shared(deed) => {}
                Said::Full => self.full += 1,
                Said::Held(_) | Said::Known | Said::Stale | Said::Error(_) => {
                    self.protests.push(format!("{said:?} to {deed:?}"));
                }
            }
        }
        self.apply(deed, said);
    }

    /// Does in memory what the store said that it did.
    fn apply(&mut self, deed: &Deed, said: &[Said]) {
        let done = match deed {
            Deed::Commit(requests) => {
                let done = requests.iter().zip(said);
                let done = done.filter(|(_, said)| **said == Said::Yes);
                Deed::Commit(done.map(|(request, _)| request.clone()).collect())
            }
            Deed::Enqueue { run, message, .. } => {
                if said != [Said::Yes] {
                    return;
                }
                self.names.messages.push((*run, *message));
                deed.clone()
            }
            // A hint may be lost, so the truth does not know it.
            Deed::Keep { .. } => return,
        };
        let answers = block_on(ask(&self.ledger, &done));
        if answers.iter().any(|answer| *answer != Said::Yes) {
            self.protests.push(format!(
                "acknowledged, and cannot be: {done:?}: {answers:?}"
            ));
        }
    }

    /// Looks in the store which of the open deeds it has, and does the same in memory.
    ///
    /// # Errors
    /// The store's own.
    pub async fn settle(&mut self, store: &dyn Ledger) -> Result<Vec<Fact>, LedgerError> {
        let mut facts = Vec::new();
        for (id, deed) in std::mem::take(&mut self.open) {
            let found = self.found(store, &deed).await?;
            let fact = Fact::Found(id, found);
            self.open.insert(id, deed);
            self.learn(&fact);
            facts.push(fact);
        }
        Ok(facts)
    }

    async fn found(&mut self, store: &dyn Ledger, deed: &Deed) -> Result<Vec<bool>, LedgerError> {
        let requests = match deed {
            Deed::Commit(requests) => requests,
            Deed::Enqueue { run, message, .. } => {
                let Seen::Inbox(inbox) = look(store, Reading::Inbox(*run)).await? else {
                    return Ok(vec![false]);
                };
                let id = outside_id(*run, *message);
                return Ok(vec![
                    inbox.iter().any(|waiting| waiting.id.to_string() == id),
                ]);
            }
            Deed::Keep { .. } => return Ok(Vec::new()),
        };
        let mut found = Vec::new();
        for request in requests {
            let mut there = Vec::new();
            for writing in request {
                there.push(writing.seq() <= length(store, writing.run).await?);
            }
            if there.iter().any(|is| *is != there[0]) {
                self.protests
                    .push(format!("half there: {request:?}: {there:?}"));
            }
            found.push(there.first().copied().unwrap_or(false));
        }
        Ok(found)
    }
}

/// How many events a store shows of a run.
async fn length(store: &dyn Ledger, n: u32) -> Result<u64, LedgerError> {
    let seen = look(store, Reading::Load(n)).await?;
    let Seen::Load(Some(found)) = seen else {
        return Ok(0);
    };
    let kept = found.snapshot.map_or(0, |snapshot| snapshot.seq.get());
    Ok(found.events.last().map_or(kept, |last| last.seq.get()))
}

fn wants_shared(deed: &Deed) -> bool {
    let Deed::Commit(requests) = deed else {
        return false;
    };
    let mut all = requests
        .iter()
        .flatten()
        .flat_map(|writing| &writing.beside);
    all.any(|beside| match beside {
        Beside::Effect(key, _) | Beside::Start(key) => key.owner == SHARED,
        Beside::Row(_)
        | Beside::Driven
        | Beside::Parked(_)
        | Beside::Off
        | Beside::Wait(..)
        | Beside::Alert
        | Beside::Class(_)
        | Beside::Taken(_) => false,
    })
}
