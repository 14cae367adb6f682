//! Where the things of a run lie in one segment, in memory: of the segment that is written, and of
//! those whose footer is not there or does not prove itself.
//!
//! Adding costs one look-up and no allocation of its own. Nothing here reads the segment.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use mainstay_types::{RunId, Seq, Timestamp};

use super::SegmentNo;
use super::entry::{Entry, Records};

/// What the index knows of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) run: RunId,
    /// Where the entry is.
    pub(super) offset: u32,
    /// Its length.
    pub(super) bytes: u32,
    pub(super) what: What,
}

/// What kind of entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Records {
        first: Seq,
        count: u32,
        prev: Option<SegmentNo>,
        carried: bool,
    },
    Closed {
        expires_at: Timestamp,
    },
    Pruned,
}

/// Where records lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackAt {
    pub(super) first: Seq,
    pub(super) count: u32,
    /// Where the entry is.
    pub(super) offset: u32,
    /// Its length.
    pub(super) bytes: u32,
    /// Whether it is a copy of older records.
    pub(super) carried: bool,
}

/// How a run stands by what one segment says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    /// The segment says nothing about that.
    #[default]
    Silent,
    /// Closed; its row is in this entry.
    Closed {
        offset: u32,
        bytes: u32,
        expires_at: Timestamp,
    },
    /// Nothing before this is there any more.
    Pruned,
}

/// All that one segment knows of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunAt {
    pub(super) run: RunId,
    /// The newest earlier segment with records of it.
    pub(super) prev: Option<SegmentNo>,
    pub(super) standing: Standing,
    /// In the order they were written.
    pub(super) packs: Vec<PackAt>,
}

/// The number of no item.
const NONE: u32 = u32::MAX;

/// The index of one segment in memory.
#[derive(Clone, Debug)]
pub(super) struct MemoryIndex {
    segment: SegmentNo,
    /// Each with the number of the item before it of the same run.
    items: Vec<(Item, u32)>,
    /// The newest item of each run.
    newest: HashMap<RunId, u32>,
}

impl Item {
    /// What the index has to know of an entry.
    pub(super) fn of(entry: &Entry<'_>, offset: u32, bytes: u32) -> Option<Self> {
        let (run, what) = match *entry {
            Entry::Records(Records {
                run,
                first,
                count,
                prev,
                carried,
                ..
            }) => {
                let what = What::Records {
                    first,
                    count,
                    prev,
                    carried,
                };
                (run, what)
            }
            Entry::Closed {
                run, expires_at, ..
            } => (run, What::Closed { expires_at }),
            Entry::Pruned { run } => (run, What::Pruned),
            Entry::Row { .. } | Entry::Gone { .. } => return None,
        };
        Some(Self {
            run,
            offset,
            bytes,
            what,
        })
    }
}

impl RunAt {
    fn new(run: RunId) -> Self {
        Self {
            run,
            prev: None,
            standing: Standing::Silent,
            packs: Vec::new(),
        }
    }

    /// Takes in one more item, later than those before.
    fn add(&mut self, segment: SegmentNo, item: &Item) {
        let Item { offset, bytes, .. } = *item;
        match item.what {
            What::Records {
                first,
                count,
                prev,
                carried,
            } => {
                // Whoever writes names the newest segment with records, which may be this one.
                if self.prev.is_none() {
                    self.prev = prev.filter(|prev| *prev < segment);
                }
                self.packs.push(PackAt {
                    first,
                    count,
                    offset,
                    bytes,
                    carried,
                });
            }
            What::Closed { expires_at } => {
                self.standing = Standing::Closed {
                    offset,
                    bytes,
                    expires_at,
                };
            }
            What::Pruned => {
                *self = Self::new(self.run);
                self.standing = Standing::Pruned;
            }
        }
    }
}

impl MemoryIndex {
    pub(super) fn new(segment: SegmentNo) -> Self {
        Self {
            segment,
            items: Vec::new(),
            newest: HashMap::new(),
        }
    }

    /// Takes in what a frame at `offset` says.
    pub(super) fn add_frame(&mut self, offset: u32, items: &[Item]) {
        self.items.reserve(items.len());
        for item in items {
            self.add(Item {
                offset: offset + item.offset,
                ..*item
            });
        }
    }

    /// Takes in one entry, later than all before.
    pub(super) fn add(&mut self, item: Item) {
        let number = u32::try_from(self.items.len()).expect("an entry takes more than a byte");
        let before = match self.newest.entry(item.run) {
            Slot::Occupied(mut slot) => slot.insert(number),
            Slot::Vacant(slot) => {
                slot.insert(number);
                NONE
            }
        };
        self.items.push((item, before));
    }

    /// How many items it holds.
    pub(super) fn items(&self) -> usize {
        self.items.len()
    }

    /// All it knows of a run.
    pub(super) fn find(&self, run: RunId) -> Option<RunAt> {
        let newest = *self.newest.get(&run)?;
        let mut chain: Vec<&Item> = self.chain(newest).collect();
        chain.reverse();
        let mut at = RunAt::new(run);
        for item in chain {
            at.add(self.segment, item);
        }
        Some(at)
    }

    /// Whether it knows anything of a run.
    pub(super) fn has(&self, run: RunId) -> bool {
        self.newest.contains_key(&run)
    }

    /// All its runs, in no order.
    pub(super) fn runs(&self) -> impl Iterator<Item = RunId> {
        self.newest.keys().copied()
    }

    /// Runs that are closed or pruned here, the highest ids below `below` first, at most `max`.
    pub(super) fn ended_below(&self, below: Option<RunId>, max: usize) -> Vec<(RunId, Standing)> {
        let mut found: Vec<(RunId, Standing)> = self
            .newest
            .iter()
            .filter(|(run, _)| below.is_none_or(|below| **run < below))
            .map(|(run, newest)| (*run, self.standing(*newest)))
            .filter(|(_, standing)| *standing != Standing::Silent)
            .collect();
        if max < found.len() {
            found.select_nth_unstable_by_key(max, |(run, _)| Reverse(*run));
            found.truncate(max);
        }
        found.sort_unstable_by_key(|(run, _)| Reverse(*run));
        found
    }

    /// The highest run id.
    pub(super) fn last_run(&self) -> Option<RunId> {
        self.newest.keys().max().copied()
    }

    fn standing(&self, newest: u32) -> Standing {
        for item in self.chain(newest) {
            match item.what {
                What::Records { .. } => {}
                What::Closed { expires_at } => {
                    return Standing::Closed {
                        offset: item.offset,
                        bytes: item.bytes,
                        expires_at,
                    };
                }
                What::Pruned => return Standing::Pruned,
            }
        }
        Standing::Silent
    }

    /// The items of one run, newest first.
    fn chain(&self, newest: u32) -> impl Iterator<Item = &Item> {
        let at = |number: u32| self.items.get(usize::try_from(number).ok()?);
        std::iter::successors(at(newest), move |(_, before)| at(*before)).map(|(item, _)| item)
    }
}
