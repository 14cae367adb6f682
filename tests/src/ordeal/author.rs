//! The writer: opens a store, lets many lanes commit at once, and tells each deed before and after.
//!
//! It must never tell an answer that it has not got, nor ask for what it has not told.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use mainstay::ledger::{Ledger, LedgerError, SledLedger};
use mainstay::types::limits;
use mainstay_ledger::{Enqueued, HeldKey, Loaded, Verdict};
use tokio::task::JoinSet;

use super::content::{self, command, message_id, number_of, run_id, snapshot};
use super::deed::{Deed, request};
use super::fact::{Fact, Said};
use super::house;
use super::lane::{Lane, Plan};

/// What a writer is told to do.
#[derive(Clone, Debug)]
pub struct Orders {
    /// The store's folder.
    pub store: PathBuf,
    /// Draws all lanes.
    pub seed: u64,
    /// The how-manieth process on this store.
    pub round: u32,
    /// Committers at once.
    pub lanes: u32,
    /// Deeds of each.
    pub deeds: u32,
    /// How often, of a thousand, a payload has the largest size there may be.
    pub limit_per_mille: u64,
}

/// Runs of earlier processes that one lane goes on with.
const ADOPTED_MAX: usize = 3;

/// Tells a fact: one write, so that a kill leaves it whole or cut, never mixed with another.
pub fn tell(fact: &Fact) {
    let line = fact.line();
    let mut out = std::io::stdout().lock();
    // A parent that is gone wants to know nothing; the process is about to end.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Writes until all deeds are done, then closes the store.
///
/// # Errors
/// The store does not open or close.
pub async fn write(orders: Orders) -> Result<(), LedgerError> {
    tell(&Fact::Opening);
    let begun = Instant::now();
    let ledger = SledLedger::open(&orders.store, house::options())?;
    tell(&Fact::Open(micros(begun)));
    let ledger = Arc::new(ledger);
    let mut lanes = JoinSet::new();
    for (lane, adopted) in adopted(&*ledger, orders.lanes)
        .await?
        .into_iter()
        .enumerate()
    {
        let lane = u32::try_from(lane).expect("lanes are few");
        let work = run_lane(Arc::clone(&ledger), orders.clone(), lane, adopted);
        lanes.spawn(work);
    }
    while let Some(ended) = lanes.join_next().await {
        ended.expect("a lane does not panic");
    }
    tell(&Fact::Closing);
    let begun = Instant::now();
    let ledger = Arc::into_inner(ledger).expect("all lanes are over");
    ledger.close()?;
    tell(&Fact::Closed(micros(begun)));
    Ok(())
}

/// Microseconds since then.
#[must_use]
pub fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A run as it was found.
struct Adopted {
    n: u32,
    place: (u64, u32),
    inbox: Vec<String>,
}

/// Which runs each lane goes on with: some that earlier processes drove.
async fn adopted(ledger: &dyn Ledger, lanes: u32) -> Result<Vec<Vec<Adopted>>, LedgerError> {
    let count = usize::try_from(lanes).expect("lanes are few");
    let mut found: Vec<Vec<Adopted>> = (0..count).map(|_| Vec::new()).collect();
    for driving in ledger.driven(None).await?.rows {
        let n = number_of(driving.run);
        let lane = usize::try_from(n % lanes).expect("lanes are few");
        if ADOPTED_MAX <= found[lane].len() {
            continue;
        }
        let Some(loaded) = ledger.load(driving.run).await? else {
            continue;
        };
        let place = (
            loaded.seq().get(),
            epoch(ledger, driving.run, &loaded).await?,
        );
        let inbox = loaded.inbox.iter().map(|waiting| waiting.id.to_string());
        let inbox = inbox.collect();
        found[lane].push(Adopted { n, place, inbox });
    }
    Ok(found)
}

/// The epoch of a run's newest event.
async fn epoch(
    ledger: &dyn Ledger,
    run: mainstay::types::RunId,
    loaded: &Loaded,
) -> Result<u32, LedgerError> {
    if let Some(last) = loaded.events.last() {
        return Ok(last.epoch.get());
    }
    let before = mainstay::types::Seq(loaded.seq().get().saturating_sub(1));
    let page = ledger.history(run, before).await?;
    let last = page.and_then(|page| page.rows.last().map(|last| last.epoch.get()));
    Ok(last.unwrap_or(1))
}

async fn run_lane(ledger: Arc<SledLedger>, orders: Orders, number: u32, adopted: Vec<Adopted>) {
    let mut lane = Lane::new(Plan {
        seed: orders.seed,
        round: orders.round,
        lane: number,
        limit_per_mille: orders.limit_per_mille,
    });
    for Adopted { n, place, inbox } in adopted {
        lane.adopt(n, place, inbox);
    }
    for turn in 0..orders.deeds {
        if !lane.goes_on() {
            break;
        }
        let deed = lane.next_deed();
        let id = number * orders.deeds + turn;
        tell(&Fact::Try(id, deed.clone()));
        let said = ask(&*ledger, &deed).await;
        lane.done(&deed, &said);
        let failed = said.iter().any(|said| matches!(said, Said::Error(_)));
        tell(&Fact::Done(id, said));
        if failed {
            break;
        }
    }
}

/// Does it, and says what was answered.
pub async fn ask(ledger: &dyn Ledger, deed: &Deed) -> Vec<Said> {
    match deed {
        Deed::Commit(requests) => {
            assert!(requests.len() <= limits::COMMIT_GROUP_MAX);
            let asked = requests.iter().map(|writings| request(writings)).collect();
            match ledger.commit(asked).await {
                Ok(verdicts) => verdicts.into_iter().map(said).collect(),
                Err(error) => vec![failed(&error); requests.len()],
            }
        }
        Deed::Enqueue {
            run,
            message,
            bytes,
        } => {
            let id = message_id(*run, *message);
            let asked = command(*run, *message, *bytes);
            vec![match ledger.enqueue(run_id(*run), id, asked).await {
                Ok(Enqueued::New) => Said::Yes,
                Ok(Enqueued::Known) => Said::Known,
                Err(error) => failed(&error),
            }]
        }
        Deed::Keep { run, seq, bytes } => {
            ledger.keep(run_id(*run), snapshot(*run, *seq, *bytes));
            Vec::new()
        }
    }
}

fn said(verdict: Verdict) -> Said {
    match verdict {
        Verdict::Committed(_) => Said::Yes,
        Verdict::Stale { .. } => Said::Stale,
        Verdict::Full => Said::Full,
        Verdict::KeyHeld(HeldKey::Start { run, .. }) => Said::Held(number_of(run)),
        Verdict::KeyHeld(HeldKey::Effect { entry, .. }) => {
            Said::Held(content::number_of(entry.run))
        }
    }
}

fn failed(error: &LedgerError) -> Said {
    if let LedgerError::Full { .. } = error {
        return Said::Full;
    }
    Said::Error(error.to_string())
}
