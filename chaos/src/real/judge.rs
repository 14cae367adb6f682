//! What is known once a store's last process has stopped, and what of it must not be.
//!
//! It reads the store, the tables of what was outside and the book of what callers were told, and
//! holds the same guarantees against them as against worlds in virtual time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::{Ledger, LedgerError, RunFilter, Stamped};
use mainstay_ledger_sled::{OpenOptions, SledFactory, SledLedger, verify};
use mainstay_machine::Summary;
use mainstay_sim::ledger::Append;
use mainstay_types::{Millis, RunId, Seq};

use super::report::Figures;
use super::service::Service;
use crate::campaign::{Plan, breaches_of};
use crate::facts::{Facts, Outside};
use crate::fault::Kind;
use crate::guarantee::Breach;
use crate::world::book::Book;
use crate::world::disturbance::Disturbances;
use crate::world::injector::Hit;

/// What was seen of a store while processes lived and died.
pub(super) struct Past<'a> {
    pub(super) seed: u64,
    /// Why not everything ended.
    pub(super) stuck: Option<String>,
    pub(super) book: &'a Book,
    /// When a process began.
    pub(super) lives: Vec<Millis>,
    pub(super) faults: (Vec<Hit>, Vec<Kind>),
}

/// What must not be, and how much there was.
pub(super) async fn judge(
    plan: &Plan,
    (store, service): (&Path, &Service),
    past: Past<'_>,
) -> (Vec<Breach>, Figures) {
    let mut breaches = hurt(store);
    match facts(plan, (store, service), past).await {
        Ok(facts) => {
            breaches.extend(breaches_of(&facts, &plan.checks));
            (breaches, counts(&facts))
        }
        Err(error) => {
            breaches.push(breach_of_store(&error));
            (breaches, Figures::default())
        }
    }
}

fn breach_of_store(what: &dyn std::fmt::Display) -> Breach {
    Breach {
        property: "store".to_owned(),
        what: what.to_string(),
    }
}

/// Every file of the store is what was written.
fn hurt(store: &Path) -> Vec<Breach> {
    match verify(store, &SledFactory, &mut |_, _| {}) {
        Ok(report) => {
            let findings = report.findings.iter();
            findings
                .map(|finding| breach_of_store(&finding.detail))
                .collect()
        }
        Err(error) => vec![breach_of_store(&error)],
    }
}

async fn facts(
    plan: &Plan,
    (store, service): (&Path, &Service),
    past: Past<'_>,
) -> Result<Facts, LedgerError> {
    let ledger = SledLedger::open(store, OpenOptions::default())?;
    let mut rows: Vec<(RunId, Option<Summary>, Seq)> = Vec::new();
    let mut appends = Vec::new();
    for row in all_rows(&ledger).await? {
        let of_it = log(&ledger, row.run).await?;
        let head = of_it.last().map(|append| append.last).unwrap_or_default();
        rows.push((row.run, Some(row), head));
        appends.extend(of_it);
    }
    ledger.close()?;
    let outside = service.doubles().map(|double| Outside {
        name: double.name().to_owned(),
        arrivals: double.arrivals(),
        applied: double.applied(),
        is_write: double.is_write(),
        names_its_price: double.names_its_price(),
    });
    Ok(Facts {
        seed: past.seed,
        ended: past.stuck.is_none(),
        stuck: past.stuck,
        class: Arc::clone(&plan.setup.class.data),
        appends,
        // What engines were told died with them; what callers were told is in the book.
        acked: Vec::new(),
        lines: past.book.lines(),
        outside: outside.collect(),
        hits: past.faults.0,
        kinds: past.faults.1,
        // Nobody is promised an answer in time by a process that is dead.
        disturbances: Disturbances::all_the_time(),
        lives: past.lives,
        gate: None,
        rows,
    })
}

async fn all_rows(ledger: &SledLedger) -> Result<Vec<Summary>, LedgerError> {
    let mut rows: Vec<Summary> = Vec::new();
    loop {
        let cursor = rows.last().map(|row| row.run);
        let page = ledger.runs(RunFilter::default(), cursor).await?;
        rows.extend(page.rows);
        if !page.more {
            return Ok(rows);
        }
    }
}

/// A run's log, an append for each event: how many came at once is not kept, nor is when.
async fn log(ledger: &SledLedger, run: RunId) -> Result<Vec<Append>, LedgerError> {
    let mut appends: Vec<Append> = Vec::new();
    loop {
        let after = appends.last().map(|append| append.last).unwrap_or_default();
        let Some(page) = ledger.history(run, after).await? else {
            return Ok(appends);
        };
        appends.extend(page.rows.into_iter().map(|recorded| Append {
            run,
            epoch: recorded.epoch,
            last: recorded.seq,
            at: Millis::new(u64::MAX),
            events: vec![Stamped {
                at: recorded.at,
                event: recorded.event,
            }],
            summary: None,
        }));
        if !page.more {
            return Ok(appends);
        }
    }
}

fn counts(facts: &Facts) -> Figures {
    let mut counts = Figures {
        runs: facts.rows.len() as u64,
        events: facts.appends.len() as u64,
        ..Figures::default()
    };
    for (_, row, _) in &facts.rows {
        let outcome = row.as_ref().and_then(|row| row.outcome);
        let name = outcome.map_or("open", |outcome| outcome.as_str());
        *counts.outcomes.entry(name.to_owned()).or_default() += 1;
    }
    for outside in &facts.outside {
        let arrivals = outside.arrivals.iter();
        let look_ups = arrivals.filter(|arrival| arrival.is_look_up).count() as u64;
        counts.look_ups += look_ups;
        counts.requests += outside.arrivals.len() as u64 - look_ups;
        let mut times: BTreeMap<String, u64> = BTreeMap::new();
        for applied in outside.applied.iter().filter(|applied| !applied.in_part) {
            *times.entry(applied.key.to_string()).or_default() += 1;
        }
        counts.effects += times.len() as u64;
        counts.effects_more_than_once += times.values().filter(|times| 1 < **times).count() as u64;
    }
    counts
}
