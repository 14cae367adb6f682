//! A store whose disk gets full under load, and has room again: what it takes meanwhile.
//!
//! Everything happens in one process, because a store goes on without being opened again. It must
//! never ask for what has no place in a full store and call it an error that there is none.

use std::path::Path;
use std::time::{Duration, Instant};

use mainstay::ledger::{Ledger, SledLedger};
use mainstay_fault_disk::Filler;

use super::author::{ask, tell};
use super::content::{Happened, Key, Stand};
use super::deed::{Beside, Deed, Writing};
use super::fact::{Fact, Said};
use super::house;

/// Runs with an attempt in flight when the disk gets full.
const IN_FLIGHT: u32 = 40;
/// Of these so many settle while it is full.
const SETTLED_FULL: u32 = 30;
/// Starts until the store is full, at most: each brings [`START_BYTES`] to the log and half of it
/// to the table, which is more than memory may hold.
const STARTS_MAX: u32 = 4_000;
const START_BYTES: usize = 64 << 10;
/// What an attempt comes back with.
const RESULT_BYTES: usize = 2_000;
/// What takes longer than this hangs.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// How soon a store with room again takes what is new.
const AGAIN_MAX: Duration = Duration::from_secs(60);
/// The first of those runs that a full store may refuse.
const NEW: u32 = 10_000;

/// What was seen, in milliseconds where it is a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    /// Starts that were taken before one was refused.
    pub taken: u32,
    /// The longest that a settlement took while the disk was full.
    pub settled_ms_max: u64,
    /// From room to the next start that is taken.
    pub again_ms: u64,
}

struct Full {
    ledger: SledLedger,
    asked: u32,
}

/// Fills the volume of `folder` under the store, and makes room again.
///
/// # Errors
/// In words, what a full store must not do.
///
/// # Panics
/// The store does not open.
pub async fn fill(store: &Path, folder: &Path) -> Result<Seen, String> {
    tell(&Fact::Opening);
    let ledger = SledLedger::open(store, house::options()).map_err(|error| error.to_string())?;
    tell(&Fact::Open(0));
    let mut full = Full { ledger, asked: 0 };
    for n in 0..IN_FLIGHT {
        full.must(commit(in_flight(n)), "an attempt before").await?;
    }
    let filler = Filler::of(folder);
    let mut seen = Seen {
        taken: full.until_full(&filler).await?,
        ..Seen::default()
    };
    for n in 0..SETTLED_FULL {
        let begun = Instant::now();
        full.must(commit(settled(n)), "a settlement on a full disk")
            .await?;
        seen.settled_ms_max = seen.settled_ms_max.max(ms(begun));
    }
    let command = Deed::Enqueue {
        run: IN_FLIGHT - 1,
        message: 1,
        bytes: 0,
    };
    full.must(command, "a command on a full disk").await?;
    let refused = full.ask(commit(start(NEW + STARTS_MAX))).await?;
    if refused != Said::Full {
        return Err(format!("a start on a full disk: {refused:?}"));
    }
    drop(filler);
    let begun = Instant::now();
    seen.again_ms = full.until_taken(begun).await?;
    for n in SETTLED_FULL..IN_FLIGHT {
        full.must(commit(settled(n)), "a settlement after").await?;
    }
    tell(&Fact::Closing);
    full.ledger.close().map_err(|error| error.to_string())?;
    tell(&Fact::Closed(0));
    Ok(seen)
}

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Full {
    async fn ask(&mut self, deed: Deed) -> Result<Said, String> {
        let id = self.asked;
        self.asked += 1;
        tell(&Fact::Try(id, deed.clone()));
        let ledger: &dyn Ledger = &self.ledger;
        let answer = tokio::time::timeout(ANSWER_MAX, ask(ledger, &deed)).await;
        let said = answer.map_err(|_| format!("no answer within {ANSWER_MAX:?}: {deed:?}"))?;
        tell(&Fact::Done(id, said.clone()));
        said.into_iter()
            .next()
            .ok_or_else(|| "no answer".to_owned())
    }

    async fn must(&mut self, deed: Deed, what: &str) -> Result<(), String> {
        match self.ask(deed).await? {
            Said::Yes => Ok(()),
            said @ (Said::Held(_) | Said::Known | Said::Full | Said::Stale | Said::Error(_)) => {
                Err(format!("{what}: {said:?}"))
            }
        }
    }

    /// Starts runs until one is refused; how many were not.
    async fn until_full(&mut self, filler: &Filler) -> Result<u32, String> {
        for n in 0..STARTS_MAX {
            match self.ask(commit(start(NEW + n))).await? {
                Said::Full => return Ok(n),
                Said::Yes => filler.again(),
                said @ (Said::Held(_) | Said::Known | Said::Stale | Said::Error(_)) => {
                    return Err(format!("start {n} on a disk that gets full: {said:?}"));
                }
            }
        }
        Err(format!("{STARTS_MAX} starts were taken on a full disk"))
    }

    async fn until_taken(&mut self, begun: Instant) -> Result<u64, String> {
        for n in NEW + STARTS_MAX + 1.. {
            match self.ask(commit(start(n))).await? {
                Said::Yes => return Ok(ms(begun)),
                Said::Full if begun.elapsed() < AGAIN_MAX => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                said
                @ (Said::Held(_) | Said::Known | Said::Full | Said::Stale | Said::Error(_)) => {
                    return Err(format!("{said:?}, {} ms after there is room", ms(begun)));
                }
            }
        }
        unreachable!("there are more numbers than starts in a minute")
    }
}

fn commit(writing: Writing) -> Deed {
    Deed::Commit(vec![vec![writing]])
}

fn key(n: u32) -> Key {
    Key { owner: n, item: 3 }
}

/// A run, and an attempt of it that is about to leave.
fn in_flight(n: u32) -> Writing {
    Writing {
        run: n,
        after: 0,
        epoch: 1,
        events: vec![
            Happened::Started(500),
            Happened::Intended(key(n)),
            Happened::Attempted,
        ],
        beside: vec![
            Beside::Row(false),
            Beside::Driven,
            Beside::Effect(key(n), Stand::Open),
        ],
    }
}

/// Its answer.
fn settled(n: u32) -> Writing {
    Writing {
        run: n,
        after: 3,
        epoch: 1,
        events: vec![Happened::Answered, Happened::Settled(RESULT_BYTES)],
        beside: vec![
            Beside::Row(false),
            Beside::Effect(key(n), Stand::Applied(RESULT_BYTES)),
        ],
    }
}

/// A new run with much to keep, in the log and in the table.
fn start(n: u32) -> Writing {
    Writing {
        run: n,
        after: 0,
        epoch: 1,
        events: vec![
            Happened::Started(START_BYTES / 2),
            Happened::Intended(key(n)),
        ],
        beside: vec![
            Beside::Row(false),
            Beside::Driven,
            Beside::Start(key(n)),
            Beside::Effect(key(n), Stand::Applied(START_BYTES / 2)),
        ],
    }
}
