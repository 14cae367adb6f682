//! Alerts in sled: by number, dense, with the newest number in a row of its own.
//!
//! A number is never used twice, and a reader is never led past a gap: either is damage, and said.

use std::ops::Bound;

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::{Knocked, LedgerError, Page, StoredAlert, codec};
use mainstay_machine::Alert;
use mainstay_types::AlertSeq;
use sled::Tree;

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::pieces::{self, Broken, Source};
use crate::read::{entries, page};
use crate::stage::Stage;

/// Stages an alert under the next number.
pub(crate) fn write(stage: &mut Stage<'_>, alert: &Alert) -> Result<(), LedgerError> {
    let newest = match newest(stage).map_err(fault)? {
        Some(newest) => newest,
        // A row that got lost would begin the numbers anew, over alerts nobody has read.
        None if stage
            .first_in_tree(&keys::alerts())
            .map_err(fault)?
            .is_some() =>
        {
            return Err(fault(Broken::bytes("they are there, their number is not")));
        }
        None => AlertSeq(0),
    };
    let seq = newest.next();
    let key = keys::alert(seq);
    stage.put(key.clone(), &codec::encode_alert(&key, alert));
    let key = keys::newest_alert();
    let value = seal_value(&key, &seq.get().to_le_bytes());
    stage.put(key, &value);
    stage.knock(&Knocked {
        alerts: true,
        ..Knocked::default()
    });
    Ok(())
}

/// The number of the newest alert; `None` when there never was one.
fn newest(source: &dyn Source) -> Result<Option<AlertSeq>, Broken> {
    let key = keys::newest_alert();
    let Some(value) = pieces::read(source, &key)? else {
        return Ok(None);
    };
    let mut fields = Fields(open_value(&key, &value)?);
    let seq = fields.u64().filter(|_| fields.is_empty());
    let seq = seq.ok_or_else(|| Broken::bytes("their newest number has no valid form"))?;
    Ok(Some(AlertSeq(seq)))
}

/// Alerts after `after`, in order.
pub(crate) fn read(tree: &Tree, after: AlertSeq) -> Result<Page<StoredAlert>, LedgerError> {
    // Read before the alerts: those that come meanwhile have larger numbers.
    let newest = newest(tree).map_err(fault)?.unwrap_or_default();
    let first = Bound::Excluded(keys::alert(after));
    let rows = entries(tree, first, keys::alerts())
        .zip((after.get()..).skip(1))
        .map(|(entry, expected)| {
            let (key, stored) = entry?;
            let seq = keys::seq_of_alert(&key).filter(|seq| seq.get() == expected);
            let seq = seq.ok_or_else(|| missing(AlertSeq(expected)))?;
            let value = pieces::open(&key, &stored, tree)?;
            let alert = codec::decode_alert(&key, &value)?;
            Ok(StoredAlert { seq, alert })
        });
    let page = page(rows).map_err(fault)?;
    let last = page.rows.last().map_or(after, |last| last.seq);
    if !page.more && last < newest {
        return Err(fault(missing(last.next())));
    }
    Ok(page)
}

fn missing(seq: AlertSeq) -> Broken {
    Broken::bytes(format!("number {seq} is missing"))
}

fn fault(broken: Broken) -> LedgerError {
    fault::of_store("alerts", broken)
}
