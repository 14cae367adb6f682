//! What may be left of one file when the power goes: whole pages, old and new, and torn ones.
//!
//! It must never keep less than was synced, nor bytes that nobody wrote there.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dice::Dice;

/// Written as one by the system.
const PAGE: u64 = 4_096;
/// Written as one by the disk.
const SECTOR: usize = 512;

/// A file of a volume: what was durable, and what was written to it.
pub(super) struct File<'a> {
    /// Durable from the beginning.
    pub(super) base: Arc<Vec<u8>>,
    /// In order, each with its place in the journal.
    pub(super) changes: Vec<(usize, Change<'a>)>,
    /// Changes with places below this one are durable.
    pub(super) synced: usize,
}

/// A change of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// These bytes, from here on.
    Written(u64, &'a [u8]),
    /// Zeros, from here on, so many.
    Zeroed(u64, u64),
    /// This length.
    Cut(u64),
}

impl<'a> File<'a> {
    /// A file with this content.
    pub(super) fn of(base: Arc<Vec<u8>>) -> Self {
        Self {
            base,
            changes: Vec::new(),
            synced: 0,
        }
    }

    /// Its content after this many changes.
    pub(super) fn after(&self, count: usize) -> Vec<u8> {
        let mut content = self.base.to_vec();
        for (_, change) in &self.changes[..count] {
            change.apply(&mut content);
        }
        content
    }

    /// What may be left of it: of each page `kept` percent have something newer than was synced,
    /// and `torn` percent of these only in some sectors.
    pub(super) fn left(&self, dice: &Dice, kept: u64, torn: u64) -> Vec<u8> {
        let durable = self
            .changes
            .partition_point(|(index, _)| *index < self.synced);
        let mut content = self.after(durable);
        let later: Vec<Change<'a>> = self.changes[durable..].iter().map(|(_, c)| *c).collect();
        if later.is_empty() || kept == 0 {
            return content;
        }
        let lengths = lengths(content.len(), &later);
        let length = match dice.percent(kept) {
            true => lengths[lengths.len() - 1],
            false => *dice.one(&lengths),
        };
        let longest = lengths.iter().copied().max().unwrap_or(0);
        content.resize(longest.max(content.len()), 0);
        for page in pages(&later, longest) {
            if dice.percent(kept) {
                page_left(&mut content, page, &later, (dice, torn));
            }
        }
        content.resize(length, 0);
        content
    }
}

/// Every length that the file had, from the durable one on.
fn lengths(durable: usize, later: &[Change<'_>]) -> Vec<usize> {
    let mut lengths = vec![durable];
    let mut length = durable as u64;
    for change in later {
        length = change.length(length);
        lengths.push(usize::try_from(length).expect("files fit into memory"));
    }
    lengths
}

/// The pages that any of these changes touches.
fn pages(later: &[Change<'_>], longest: usize) -> BTreeSet<u64> {
    let mut pages = BTreeSet::new();
    for change in later {
        let (from, to) = change.range(longest as u64);
        if from < to {
            pages.extend(from / PAGE..to.div_ceil(PAGE));
        }
    }
    pages
}

/// Makes one page of `content` what it was after some of the changes: mostly all of them, else any
/// number; with another number of them in some of its sectors when it is torn.
fn page_left(content: &mut [u8], page: u64, later: &[Change<'_>], (dice, torn): (&Dice, u64)) {
    let from = usize::try_from(page * PAGE).expect("files fit into memory");
    let to = content.len().min(from + 4_096);
    let touching: Vec<Change<'_>> = later
        .iter()
        .filter(|change| {
            let (begin, end) = change.range(u64::MAX);
            begin < to as u64 && (from as u64) < end
        })
        .copied()
        .collect();
    let count = match dice.percent(70) {
        true => touching.len(),
        false => dice.index(touching.len() + 1),
    };
    let mut page = content[from..to].to_vec();
    for change in &touching[..count] {
        change.apply_within(&mut page, from as u64);
    }
    let is_torn = dice.percent(torn);
    for (sector, new) in page.chunks(SECTOR).enumerate() {
        if !is_torn || dice.percent(50) {
            let at = from + sector * SECTOR;
            content[at..at + new.len()].copy_from_slice(new);
        }
    }
}

impl Change<'_> {
    fn apply(&self, content: &mut Vec<u8>) {
        let length = usize::try_from(self.length(content.len() as u64));
        content.resize(length.expect("files fit into memory"), 0);
        self.apply_within(content, 0);
    }

    /// To a part of a file that begins at `from`.
    fn apply_within(&self, part: &mut [u8], from: u64) {
        let end = from + part.len() as u64;
        let (begin, to) = self.range(end);
        let (begin, to) = (begin.max(from), to.min(end));
        if to <= begin {
            return;
        }
        let within = |at: u64| usize::try_from(at - from).expect("within a part");
        let part = &mut part[within(begin)..within(to)];
        match self {
            Self::Written(at, bytes) => {
                let skipped = usize::try_from(begin - at).expect("within a write");
                part.copy_from_slice(&bytes[skipped..skipped + part.len()]);
            }
            Self::Zeroed(..) | Self::Cut(_) => part.fill(0),
        }
    }

    /// Which bytes it changes, in a file of at most `longest` bytes.
    fn range(&self, longest: u64) -> (u64, u64) {
        match self {
            Self::Written(at, bytes) => (*at, at + bytes.len() as u64),
            Self::Zeroed(at, count) => (*at, at + count),
            Self::Cut(length) => (*length, longest),
        }
    }

    fn length(&self, before: u64) -> u64 {
        match self {
            Self::Written(..) | Self::Zeroed(..) => before.max(self.range(0).1),
            Self::Cut(length) => *length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [u8; 12_288] = [1; 12_288];

    /// A file of three pages, a synced change of its first page, and later ones.
    fn file(later: Vec<Change<'_>>) -> File<'_> {
        let mut file = File::of(Arc::new(OLD.to_vec()));
        file.changes.push((0, Change::Written(0, &[2; 100])));
        let later = (5..).zip(later);
        file.changes.extend(later);
        file.synced = 5;
        file
    }

    #[test]
    fn what_was_synced_is_left_whatever_goes() {
        let new = vec![3; 8_192];
        let file = file(vec![Change::Written(4_096, &new), Change::Cut(4_200)]);
        for seed in 0..300 {
            let dice = Dice::of(seed, "synced");
            let left = file.left(&dice, *dice.one(&[0, 10, 50, 90, 100]), 30);
            assert_eq!(left[..100], [2; 100], "seed {seed}");
            assert_eq!(left[100..4_096], OLD[100..4_096], "seed {seed}");
        }
    }

    #[test]
    fn nothing_everything_and_any_part_of_what_was_not_synced_may_be_left() {
        let new = vec![3; 8_192];
        let file = file(vec![Change::Written(4_096, &new)]);
        let mut seen = BTreeSet::new();
        for seed in 0..300 {
            let dice = Dice::of(seed, "any part");
            let left = file.left(&dice, *dice.one(&[0, 10, 50, 90, 100]), 30);
            let sectors = left[4_096..].chunks(SECTOR);
            assert!(
                left[4_096..].iter().all(|byte| [1, 3].contains(byte)),
                "seed {seed}"
            );
            seen.insert(sectors.map(|sector| sector[0]).collect::<Vec<u8>>());
        }
        let [none, all] = [vec![1; 16], vec![3; 16]];
        let second_alone = [vec![1; 8], vec![3; 8]].concat();
        for part in [none, all, second_alone] {
            assert!(seen.contains(&part), "{part:?} was never left");
        }
        let is_torn = |sectors: &Vec<u8>| sectors[..8].iter().any(|byte| *byte != sectors[0]);
        assert!(seen.iter().any(is_torn), "no page was torn");
    }

    #[test]
    fn a_file_that_grew_has_its_old_length_or_a_later_one_and_zeros_where_nothing_came() {
        let new = vec![3; 4_096];
        let file = file(vec![Change::Written(16_384, &new)]);
        let mut lengths = BTreeSet::new();
        for seed in 0..100 {
            let left = file.left(&Dice::of(seed, "length"), 50, 0);
            assert!(
                left.get(12_288..16_384)
                    .is_none_or(|hole| *hole == [0; 4_096])
            );
            lengths.insert(left.len());
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [12_288, 20_480]);
    }
}
