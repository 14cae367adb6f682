//! Runs that end and expire while the store is written, so that segments of its log are freed and
//! used again: what a crash at any moment of that must leave.
//!
//! A run that is not closed, or closed and not yet expired, is there; an expired one is there whole
//! or not at all. It must never call a run expired that might still be remembered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mainstay::ledger::{Ledger, LedgerError, OpenOptions, SledLedger};
use mainstay::types::{Millis, Seq};
use mainstay_ledger::{CommitRequest, Recorded, Verdict};
use tokio::task::JoinSet;

use super::author::tell;
use super::bulk::{RUN_CALLS, later, run};
use super::check::{Report, Told};
use super::content::{Key, run_id};
use super::deed::{Deed, request};
use super::fact::Fact;
use super::house;

/// Closed runs that are remembered.
const REMEMBERED: u32 = 30;
/// Of each call's result.
const RESULT_BYTES: usize = 700;
/// Committers at once.
const LANES: u32 = 6;
/// One in so many runs is left open.
const LEFT_OPEN: u32 = 17;
/// One in so many runs is followed by taking out what has expired.
const PRUNED_EVERY: u32 = 20;
/// Commits of a run have numbers below this one.
const COMMITS: u32 = 16;

fn options() -> OpenOptions {
    let mut options = house::options();
    let memory = Millis::from_secs(u64::from(REMEMBERED));
    options.settings.run_memory = memory;
    options.settings.start_key_memory = memory;
    options
}

/// Writes runs from number `first` on, so many, and closes the store.
///
/// # Errors
/// The store does not open or close.
///
/// # Panics
/// It refuses a commit.
pub async fn write(store: &Path, first: u32, count: u32) -> Result<(), LedgerError> {
    tell(&Fact::Opening);
    let begun = std::time::Instant::now();
    let ledger = Arc::new(SledLedger::open(store, options())?);
    tell(&Fact::Open(super::author::micros(begun)));
    let next = Arc::new(AtomicU32::new(first));
    let mut lanes = JoinSet::new();
    for _ in 0..LANES {
        let (ledger, next) = (Arc::clone(&ledger), Arc::clone(&next));
        lanes.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::SeqCst);
                if first + count <= n {
                    return;
                }
                write_run(&ledger, n).await;
                if n.is_multiple_of(PRUNED_EVERY) {
                    prune(&ledger).await;
                }
            }
        });
    }
    while let Some(ended) = lanes.join_next().await {
        ended.expect("a lane does not panic");
    }
    tell(&Fact::Closing);
    Arc::into_inner(ledger)
        .expect("all lanes are over")
        .close()?;
    tell(&Fact::Closed(0));
    Ok(())
}

/// What the store does by itself now and then, at moments that do not hang on the machine's speed.
async fn prune(ledger: &SledLedger) {
    if let Ok(Some(now)) = ledger.last_time().await {
        // What it could not do now it does later; a store that fails tells the next commit.
        let _ = ledger.prune(None, now, &mut |_, _| {});
    }
}

async fn write_run(ledger: &SledLedger, n: u32) {
    for (commit, asked) in (0..).zip(commits(n)) {
        let id = n * COMMITS + commit;
        tell(&Fact::Try(id, Deed::Commit(Vec::new())));
        let verdicts = ledger
            .commit(vec![asked])
            .await
            .expect("the store takes it");
        assert!(
            matches!(verdicts.as_slice(), [Verdict::Committed(_)]),
            "{n}: {verdicts:?}"
        );
        tell(&Fact::Done(id, Vec::new()));
    }
}

/// What is asked for a run, in order.
fn commits(n: u32) -> Vec<CommitRequest> {
    let open = n.is_multiple_of(LEFT_OPEN);
    let count = if open { RUN_CALLS / 2 } else { RUN_CALLS + 1 };
    let all = run(n, RESULT_BYTES).take(count as usize);
    all.map(|writing| {
        let mut asked = request(&[writing]);
        later(&mut asked, n);
        asked
    })
    .collect()
}

/// How many commits of a run were asked for, and how many were acknowledged.
#[derive(Clone, Copy, Default)]
struct Commits {
    asked: u32,
    acknowledged: u32,
}

/// Checks a store against what its writers told.
pub async fn check(store: &Path, facts: &[Fact]) -> Report {
    let mut report = Report::default();
    let runs = runs(facts, &mut report);
    let newest = runs.keys().max().copied().unwrap_or(0);
    let ledger = match SledLedger::open(store, options()) {
        Ok(ledger) => ledger,
        Err(error) => {
            report.refused = Some(Told::new("opening", None, &error));
            return report;
        }
    };
    for (n, told) in &runs {
        report.readings += 1;
        let is_closed = commits(*n).len() <= told.asked as usize && !n.is_multiple_of(LEFT_OPEN);
        let may_be_gone = is_closed && n + REMEMBERED <= newest;
        match whole(&ledger, *n, *told, may_be_gone).await {
            Ok(()) => {}
            Err(Odd::Wrong(text)) => report.wrong(format!("run {n}"), &text),
            Err(Odd::Error(error)) => report.error("a run", Some(*n), &error),
        }
    }
    write_run_quietly(&ledger, newest + 1, &mut report).await;
    if let Err(error) = ledger.close() {
        report.error("closing", None, &error);
    }
    report
}

fn runs(facts: &[Fact], report: &mut Report) -> BTreeMap<u32, Commits> {
    let mut runs: BTreeMap<u32, Commits> = BTreeMap::new();
    for fact in facts {
        match fact {
            Fact::Try(id, _) => runs.entry(id / COMMITS).or_default().asked += 1,
            Fact::Done(id, _) => {
                runs.entry(id / COMMITS).or_default().acknowledged += 1;
                report.acknowledged += 1;
            }
            Fact::Failed(why) => report.protests.push(why.clone()),
            Fact::Opening | Fact::Open(_) | Fact::Closing | Fact::Closed(_) | Fact::Found(..) => {}
        }
    }
    runs
}

enum Odd {
    Wrong(String),
    Error(LedgerError),
}

impl From<LedgerError> for Odd {
    fn from(error: LedgerError) -> Self {
        Self::Error(error)
    }
}

/// Whether a run and its start key are as they must be.
async fn whole(ledger: &SledLedger, n: u32, told: Commits, may_be_gone: bool) -> Result<(), Odd> {
    let mut events: Vec<Recorded> = Vec::new();
    let mut after = Seq(0);
    while let Some(page) = ledger.history(run_id(n), after).await? {
        events.extend(page.rows);
        after = events.last().map_or(after, |last| last.seq);
        if !page.more {
            break;
        }
    }
    let expected: Vec<_> = commits(n)
        .into_iter()
        .flat_map(|asked| asked.parts)
        .flat_map(|part| part.events)
        .collect();
    let same = (1_u64..)
        .zip(&events)
        .zip(&expected)
        .all(|((seq, found), expected)| {
            found.seq == Seq(seq) && found.at == expected.at && found.event == expected.event
        });
    let count = u32::try_from(events.len() / 2).expect("runs are short");
    let is_whole =
        (told.acknowledged..=told.asked).contains(&count) && events.len().is_multiple_of(2);
    let is_gone = may_be_gone && events.is_empty();
    if !same || !(is_whole || is_gone) {
        return Err(Odd::Wrong(format!(
            "{} events, right: {same}; acknowledged {} commits of {}, may be gone: {may_be_gone}",
            events.len(),
            told.acknowledged,
            told.asked
        )));
    }
    let may_be_free = may_be_gone || told.acknowledged == 0;
    start_key(ledger, n, may_be_free).await
}

async fn start_key(ledger: &SledLedger, n: u32, may_be_free: bool) -> Result<(), Odd> {
    let key = Key { owner: n, item: 1 }.start_key();
    let tenant = mainstay_ledger::sample::tenant("acme");
    let found = ledger.start_key(tenant, key).await?.map(|(run, _)| run);
    match found {
        Some(run) if run == run_id(n) => Ok(()),
        None if may_be_free => Ok(()),
        Some(_) | None => Err(Odd::Wrong(format!("its start key is {found:?}"))),
    }
}

async fn write_run_quietly(ledger: &SledLedger, n: u32, report: &mut Report) {
    for asked in commits(n) {
        match ledger.commit(vec![asked]).await {
            Ok(verdicts) if matches!(verdicts.as_slice(), [Verdict::Committed(_)]) => {}
            Ok(verdicts) => report.wrong("a new run", &format!("{verdicts:?}")),
            Err(error) => report.error("a new run", None, &error),
        }
    }
}
