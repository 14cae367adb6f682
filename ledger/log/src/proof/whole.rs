//! The kinds that are proven whole: counted and summed by one scan over the table.
//!
//! It reads every row of these kinds and none of the others, so what an open costs is bounded by
//! what is open, not by keys that are remembered.

use std::ops::ControlFlow;

use crate::keys::Key;
use crate::table::{Order, Span, Table, TableError};

use super::{Proof, Sums, hash_of_row, proof_of};

/// Counts and sums every kind that is proven whole.
fn count(table: &dyn Table) -> Result<Sums, TableError> {
    let mut sums = Sums::default();
    for span in spans() {
        table.scan(span.range(), Order::Forward, &mut |key, stored| {
            if let Some(kind) = key.first() {
                sums.change(*kind).add(hash_of_row(key, stored));
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(sums)
}

/// Proves that the table has, of these kinds, what `expected` says, no row more or less.
///
/// Returns how many rows were read.
pub(crate) fn prove(table: &dyn Table, expected: &Sums) -> Result<u64, TableError> {
    let found = count(table)?;
    let mut rows = 0;
    for (kind, expected, found) in expected.beside(&found) {
        rows += found.count;
        if expected != found {
            let detail = format!(
                "its rows of kind {kind:02x} are {} and do not add up; {} were written",
                found.count, expected.count
            );
            return Err(TableError::Damaged(detail));
        }
    }
    Ok(rows)
}

/// The ranges of neighbouring kinds that are proven whole.
fn spans() -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Option<u8> = None;
    for kind in 0..=u8::MAX {
        match (proof_of(kind), open) {
            (Proof::Whole, None) => open = Some(kind),
            (Proof::Buckets | Proof::Itself, Some(first)) => {
                spans.push(span(first, Some(kind)));
                open = None;
            }
            (Proof::Whole, Some(_)) | (Proof::Buckets | Proof::Itself, None) => {}
        }
    }
    spans.extend(open.map(|first| span(first, None)));
    spans
}

fn span(first: u8, end: Option<u8>) -> Span {
    let key = |kind: u8| -> Key { vec![kind] };
    Span {
        from: std::ops::Bound::Included(key(first)),
        to: end.map_or(std::ops::Bound::Unbounded, |end| {
            std::ops::Bound::Excluded(key(end))
        }),
    }
}
