//! Reading: from sled, in the caller's thread, every value proven before it is believed.
//!
//! A read takes no lock of ours and blocks no commit. It may see what is not durable yet; the
//! caller of this file waits for that (`Progress::durable`) before anyone learns of it.
//!
//! Reads of several keys are no snapshot, and need none: a run's head, records and inbox change
//! together, and the head is read first. Who acts on a run that moved meanwhile is fenced by it.

use std::ops::Bound;

use mainstay_ledger::check::Head;
use mainstay_ledger::query::open_all;
use mainstay_ledger::{
    InboxMessage, LedgerError, Loaded, Page, Recorded, RunFilter, StoredClass, codec,
};
use mainstay_machine::Summary;
use mainstay_types::{ClassName, ClassVersion, RunId, Seq, limits};
use sled::Tree;

use crate::fault;
use crate::keys;
use crate::pieces::{self, Broken};
use crate::rows::records_in;
use crate::stage::read_head;

/// A run's events and waiting inbox; `None` when nothing of it is here.
pub(crate) fn load(tree: &Tree, run: RunId) -> Result<Option<Loaded>, LedgerError> {
    let traces = traces_of(tree, run)?;
    let Some(head) = read_head(tree, run)? else {
        return match traces {
            None => Ok(None),
            Some(what) => Err(LedgerError::CorruptChain {
                run,
                seq: Seq(0),
                detail: format!("the run has {what} and no head"),
            }),
        };
    };
    let events = events(tree, run, head)?;
    let inbox = inbox(tree, run)?;
    Ok(Some(Loaded { events, inbox }))
}

/// What is there of a run besides its head. Looked up before the head, which is written with it.
fn traces_of(tree: &Tree, run: RunId) -> Result<Option<&'static str>, LedgerError> {
    let fault = |error: sled::Error| fault::of_run(run, Seq(0), "its traces", error.into());
    if tree
        .scan_prefix(keys::records_of(run))
        .next()
        .transpose()
        .map_err(fault)?
        .is_some()
    {
        return Ok(Some("records"));
    }
    let listed = tree.contains_key(keys::summary(run)).map_err(fault)?;
    Ok(listed.then_some("a row in listings"))
}

/// The events up to `head`; later ones may have been written meanwhile.
fn events(tree: &Tree, run: RunId, head: Head) -> Result<Vec<Recorded>, LedgerError> {
    let mut packs = Vec::new();
    for entry in tree.scan_prefix(keys::records_of(run)) {
        let fault = |broken| fault::of_run(run, Seq(0), "its records", broken);
        let (key, stored) = entry.map_err(|error| fault(error.into()))?;
        let first = keys::first_of_records(&key)
            .ok_or_else(|| fault(Broken::bytes("a key of records has no number")))?;
        if head.seq < first {
            break;
        }
        let pack = pieces::open(&key, &stored, tree)
            .map_err(|broken| fault::of_run(run, first, "a value of records", broken))?;
        packs.push((first, pack));
    }
    let mut records = Vec::new();
    for (first, pack) in &packs {
        expect_next(run, Seq(records.len() as u64).next(), *first)?;
        let next = records_in(pack)
            .map_err(|broken| fault::of_run(run, *first, "a value of records", broken))?;
        records.extend(next);
    }
    open_all(run, head, records)
}

/// A hole says where it begins, not that some checksum after it fails.
fn expect_next(run: RunId, expected: Seq, found: Seq) -> Result<(), LedgerError> {
    if expected == found {
        return Ok(());
    }
    let detail = format!("records are missing: the next that is there is {found}");
    Err(LedgerError::CorruptChain {
        run,
        seq: expected,
        detail,
    })
}

fn inbox(tree: &Tree, run: RunId) -> Result<Vec<InboxMessage>, LedgerError> {
    let message = |entry: sled::Result<(sled::IVec, sled::IVec)>| {
        let (key, stored) = entry?;
        let value = pieces::open(&key, &stored, tree)?;
        Ok(codec::decode_message(&key, &value)?)
    };
    tree.scan_prefix(keys::inbox_of(run))
        .map(message)
        .collect::<Result<_, _>>()
        .map_err(|broken| fault::of_run(run, Seq(0), "its inbox", broken))
}

/// Runs that have to be driven, by id, after `cursor`.
pub(crate) fn driven(tree: &Tree, cursor: Option<RunId>) -> Result<Page<RunId>, LedgerError> {
    let first = match cursor {
        Some(run) => Bound::Excluded(keys::driven(run)),
        None => Bound::Included(keys::all_driven()),
    };
    let runs = tree
        .range((first, Bound::Unbounded))
        .map(|entry| entry.map_err(Broken::from))
        .take_while(|entry| match entry {
            Ok((key, _)) => key.starts_with(&keys::all_driven()),
            Err(_) => true,
        })
        .map(|entry| {
            let (key, _) = entry?;
            keys::run_at_end(&key).ok_or_else(|| Broken::bytes("a key without a run"))
        });
    page(runs).map_err(|broken| fault::of_store("the list of driven runs", broken))
}

/// Rows of the runs that pass `filter`, newest first, before `cursor`.
pub(crate) fn runs(
    tree: &Tree,
    filter: &RunFilter,
    cursor: Option<RunId>,
) -> Result<Page<Summary>, LedgerError> {
    let first = keys::summaries();
    let rows = match cursor {
        Some(run) => tree.range(first..keys::summary(run)),
        None => tree.scan_prefix(first),
    };
    let rows = rows.rev().map(|entry| {
        let (key, stored) = entry?;
        let value = pieces::open(&key, &stored, tree)?;
        Ok(codec::decode_summary(&key, &value)?)
    });
    let passing = rows.filter(|row| match row {
        Ok(summary) => filter.passes(summary),
        Err(_) => true,
    });
    page(passing).map_err(|broken: Broken| fault::of_store("a row of the listing", broken))
}

/// A page of rows, or the first error in it.
fn page<T>(rows: impl Iterator<Item = Result<T, Broken>>) -> Result<Page<T>, Broken> {
    let mut broken = None;
    let page = Page::of(rows.map_while(|row| row.map_err(|error| broken = Some(error)).ok()));
    broken.map_or(Ok(page), Err)
}

/// The stored form of a class.
pub(crate) fn class(
    tree: &Tree,
    name: &ClassName,
    version: ClassVersion,
) -> Result<Option<StoredClass>, LedgerError> {
    let key = keys::class(name, version);
    pieces::read(tree, &key)
        .and_then(|value| {
            value
                .map(|value| Ok(codec::decode_class(&key, &value)?))
                .transpose()
        })
        .map_err(|broken| fault::of_store(&format!("class {name} {version}"), broken))
}

/// All stored classes, by name and version.
pub(crate) fn classes(tree: &Tree) -> Result<Vec<StoredClass>, LedgerError> {
    let class = |entry: sled::Result<(sled::IVec, sled::IVec)>| {
        let (key, stored) = entry?;
        let value = pieces::open(&key, &stored, tree)?;
        Ok(codec::decode_class(&key, &value)?)
    };
    tree.scan_prefix(keys::classes())
        .take(limits::PAGE_ROWS_MAX)
        .map(class)
        .collect::<Result<_, _>>()
        .map_err(|broken| fault::of_store("a class", broken))
}
