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
    Driving, InboxMessage, LedgerError, Loaded, Page, Recorded, RunFilter, StoredClass, codec,
};
use mainstay_machine::Summary;
use mainstay_types::{ClassName, ClassVersion, RunId, Seq, Timestamp, limits};
use sled::Tree;

use crate::drive::worker_in;
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

pub(crate) fn inbox(tree: &Tree, run: RunId) -> Result<Vec<InboxMessage>, LedgerError> {
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

/// Entries from `first` on whose keys begin with `prefix`.
pub(crate) fn entries(
    tree: &Tree,
    first: Bound<keys::Key>,
    prefix: keys::Key,
) -> impl Iterator<Item = Result<(sled::IVec, sled::IVec), Broken>> {
    tree.range((first, Bound::Unbounded))
        .map(|entry| entry.map_err(Broken::from))
        .take_while(move |entry| match entry {
            Ok((key, _)) => key.starts_with(&prefix),
            Err(_) => true,
        })
}

/// Runs that are driven, by id, after `cursor`.
///
/// One process holds the store, so whoever drove them in an earlier one is gone.
pub(crate) fn driven(tree: &Tree, cursor: Option<RunId>) -> Result<Page<Driving>, LedgerError> {
    let all = keys::all_driven();
    let first = match cursor {
        Some(run) => Bound::Excluded(keys::driven(run)),
        None => Bound::Included(all.clone()),
    };
    let rows = entries(tree, first, all).map(|entry| {
        let (key, stored) = entry?;
        let run = keys::run_at_end(&key).ok_or_else(|| Broken::bytes("a key without a run"))?;
        Ok(Driving {
            run,
            worker: worker_in(&key, &stored, tree)?,
            lease_until: None,
        })
    });
    page(rows).map_err(|broken| fault::of_store("the list of driven runs", broken))
}

/// Who drives one run, or drove it in an earlier process.
pub(crate) fn driving(tree: &Tree, run: RunId) -> Result<Option<Driving>, LedgerError> {
    let key = keys::driven(run);
    let read = || -> Result<Option<Driving>, Broken> {
        let Some(stored) = tree.get(&key)? else {
            return Ok(None);
        };
        Ok(Some(Driving {
            run,
            worker: worker_in(&key, &stored, tree)?,
            lease_until: None,
        }))
    };
    read().map_err(|broken| fault::of_run(run, Seq(0), "who drives it", broken))
}

/// Parked runs by the moment they wake at, after `cursor`.
pub(crate) fn wakes(
    tree: &Tree,
    cursor: Option<(Timestamp, RunId)>,
) -> Result<Page<(Timestamp, RunId)>, LedgerError> {
    let all = keys::wakes();
    let first = match cursor {
        Some((at, run)) => Bound::Excluded(keys::wake(at, run)),
        None => Bound::Included(all.clone()),
    };
    let rows = entries(tree, first, all).map(|entry| {
        let (key, _) = entry?;
        keys::wake_in(&key).ok_or_else(|| Broken::bytes("a key without a moment"))
    });
    page(rows).map_err(|broken| fault::of_store("the list of runs that wake", broken))
}

/// Runs with a waiting inbox, by id, after `cursor`: one look per run, however much waits for it.
pub(crate) fn inboxes(tree: &Tree, cursor: Option<RunId>) -> Result<Page<RunId>, LedgerError> {
    let all = keys::inboxes();
    let mut last = cursor;
    let rows = std::iter::from_fn(|| {
        let first = match last {
            Some(run) => Bound::Excluded(keys::inbox(run, u64::MAX)),
            None => Bound::Included(all.clone()),
        };
        let entry = entries(tree, first, all.clone()).next()?;
        let run = entry.and_then(|(key, _)| {
            keys::run_of_inbox(&key).ok_or_else(|| Broken::bytes("a key without a run"))
        });
        last = run.as_ref().ok().copied().or(last);
        Some(run)
    });
    page(rows).map_err(|broken| fault::of_store("the list of waiting inboxes", broken))
}

/// The row of one run.
pub(crate) fn summary(tree: &Tree, run: RunId) -> Result<Option<Summary>, LedgerError> {
    let key = keys::summary(run);
    pieces::read(tree, &key)
        .and_then(|value| {
            value
                .map(|value| Ok(codec::decode_summary(&key, &value)?))
                .transpose()
        })
        .map_err(|broken| fault::of_run(run, Seq(0), "its row in listings", broken))
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
pub(crate) fn page<T>(rows: impl Iterator<Item = Result<T, Broken>>) -> Result<Page<T>, Broken> {
    let mut broken = None;
    let good = rows.map_while(|row| row.map_err(|error| broken = Some(error)).ok());
    // Fused: a row after the first error would replace it.
    let page = Page::of(good.fuse());
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
