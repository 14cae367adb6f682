//! A log, a model and a table: what is written goes to all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::value::seal_value;
use mainstay_types::Millis;

use crate::files::{RealDisk, StoreId};
use crate::keys::Key;
use crate::segment::{Place, SegmentNo};
use crate::standing::{Change, Site, Standing, StandingSettings};
use crate::table::TableFactory;

/// Kinds of each way of being proven that the log has.
pub const KINDS: [u8; 5] = [0x11, 0x20, 0x30, 0x31, 0x40];

/// Whose table it is.
pub const STORE: StoreId = StoreId::from_bytes([7; 16]);

/// Nothing moves before it is asked for.
pub fn patient() -> StandingSettings {
    StandingSettings {
        freeze_age: Millis::from_hours(1),
        high_age: Millis::from_hours(2),
        retry: (Millis::new(1), Millis::new(4)),
        batch_rows_max: 3,
        ..StandingSettings::default()
    }
}

/// Everything moves at once.
pub fn eager() -> StandingSettings {
    StandingSettings {
        freeze_age: Millis::ZERO,
        ..patient()
    }
}

/// A log, a model and a table.
#[derive(Debug)]
pub struct World<F> {
    folder: PathBuf,
    /// What opens the table.
    pub factory: F,
    settings: StandingSettings,
    /// What each frame changes; the place after frame `n` is `place(n + 1)`.
    log: Vec<Vec<(Key, Option<Vec<u8>>)>>,
    /// How things stand.
    pub model: BTreeMap<Key, Vec<u8>>,
    standing: Option<Standing>,
}

/// The place after so many frames.
#[must_use]
pub fn place(frames: usize) -> Place {
    Place {
        segment: SegmentNo(1 + frames as u64 / 8),
        offset: u32::try_from(frames % 8).expect("it holds in a test") * 64,
    }
}

/// A key of a kind; those of one kind are spread over all hashes.
pub fn key(kind: u8, number: u8) -> Key {
    let mut key = vec![kind];
    key.extend_from_slice(&blake3::hash(&[number]).as_bytes()[..16]);
    key
}

/// A value of so many bytes and some more.
pub fn value(key: &[u8], number: u64, bytes: usize) -> Vec<u8> {
    let mut payload = number.to_le_bytes().to_vec();
    payload.resize(
        8 + bytes,
        u8::try_from(number % 251).expect("it holds in a test"),
    );
    seal_value(key, &payload)
}

impl<F: TableFactory + Clone + 'static> World<F> {
    /// A world whose table is in `folder`.
    pub fn on(factory: F, folder: &Path, settings: StandingSettings) -> Self {
        let mut world = Self {
            folder: folder.to_owned(),
            factory,
            settings,
            log: Vec::new(),
            model: BTreeMap::new(),
            standing: None,
        };
        world.open();
        world
    }

    /// Where its table belongs.
    pub fn site(&self) -> Site {
        Site {
            folder: self.folder.clone(),
            store: STORE,
            disk: Arc::new(RealDisk),
        }
    }

    /// The table's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// From now on its table is in another folder; nothing is open.
    pub fn move_to(&mut self, folder: &Path) {
        assert!(self.standing.is_none(), "it is open");
        folder.clone_into(&mut self.folder);
    }

    /// What stands, open.
    pub fn standing(&self) -> &Standing {
        self.standing.as_ref().expect("it is open")
    }

    /// Opens the table and replays the log; says from which frame on.
    pub fn open(&mut self) -> usize {
        assert!(self.standing.is_none());
        let factory = Arc::new(self.factory.clone());
        let (standing, from) =
            Standing::open(self.site(), factory, self.settings).expect("it holds in a test");
        self.standing = Some(standing);
        self.replay(from).expect("it holds in a test")
    }

    fn replay(&self, from: Option<Place>) -> Result<usize, LedgerError> {
        let from = from.map_or(0, |from| {
            (0..=self.log.len())
                .find(|n| place(*n) == from)
                .expect("a place of the log")
        });
        for (number, frame) in self.log.iter().enumerate().skip(from) {
            let changes = frame.iter().map(|(key, value)| Change {
                key: key.clone(),
                value: value.as_deref().map(Arc::from),
                fresh: false,
            });
            self.standing()
                .replay(changes.collect(), place(number + 1))?;
        }
        Ok(from)
    }

    /// Commits one frame.
    pub fn commit(&mut self, changes: Vec<(Key, Option<Vec<u8>>)>) {
        let mut rows = Vec::new();
        for (key, value) in &changes {
            let fresh = value.is_some() && !self.model.contains_key(key);
            rows.push(Change {
                key: key.clone(),
                value: value.as_deref().map(Arc::from),
                fresh,
            });
            match value {
                Some(value) => self.model.insert(key.clone(), value.clone()),
                None => self.model.remove(key),
            };
        }
        self.log.push(changes);
        self.standing().write(rows, place(self.log.len()));
    }

    /// Commits one row; see [`value`].
    pub fn put(&mut self, key: &[u8], number: u64, bytes: usize) {
        self.commit(vec![(key.to_vec(), Some(value(key, number, bytes)))]);
    }

    /// Commits that a row goes.
    pub fn remove(&mut self, key: &[u8]) {
        self.commit(vec![(key.to_vec(), None)]);
    }

    /// Brings the table up to date and closes it.
    pub fn close(&mut self) {
        self.standing
            .take()
            .expect("it is open")
            .close()
            .expect("it holds in a test");
    }

    /// Lets go of the standing without closing it.
    pub fn take(&mut self) -> Standing {
        self.standing.take().expect("it is open")
    }

    /// The log has to be replayed from its start.
    pub fn start_over(&mut self, why: &str) {
        let standing = self.take().start_over(why).expect("it holds in a test");
        self.standing = Some(standing);
        self.replay(None).expect("it holds in a test");
    }

    /// Everything stands as the model says, whichever way it is read.
    #[track_caller]
    pub fn check(&self) {
        for kind in KINDS {
            let expected: Vec<(Key, Vec<u8>)> = self
                .model
                .iter()
                .filter(|(key, _)| key[0] == kind)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            assert_eq!(self.dump(kind, 3, false), expected, "kind {kind:02x}");
            assert_eq!(self.dump(kind, 100, false), expected, "kind {kind:02x}");
            let mut reverse = self.dump(kind, 2, true);
            reverse.reverse();
            assert_eq!(reverse, expected, "kind {kind:02x} in reverse");
            for number in 0..24 {
                let key = key(kind, number);
                let found = self.standing().get(&key).expect("it holds in a test");
                assert_eq!(found.as_deref(), self.model.get(&key).map(Vec::as_slice));
                let looked = self.standing().look_up(&key).expect("it holds in a test");
                assert_eq!(looked.value, found);
            }
        }
    }

    /// The same once all of it is in the table, which is proven to have it.
    #[track_caller]
    pub fn check_settled(&self) {
        self.check();
        self.standing().flush().expect("it holds in a test");
        wait(|| self.standing().lag().rows == 0);
        self.check();
        self.standing().verify().expect("it holds in a test");
    }

    fn dump(&self, kind: u8, page: usize, reverse: bool) -> Vec<(Key, Vec<u8>)> {
        let mut rows: Vec<(Key, Vec<u8>)> = Vec::new();
        loop {
            let cursor = rows.last().map(|(key, _)| key.clone());
            let found = self
                .standing()
                .scan(&[kind], cursor.as_deref(), page, reverse);
            let found = found.expect("it holds in a test");
            let ended = found.len() < page;
            rows.extend(found.into_iter().map(|(key, value)| (key, value.to_vec())));
            if ended {
                return rows;
            }
        }
    }
}

/// Waits until something is so.
#[track_caller]
pub fn wait(is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "it never came");
        std::thread::yield_now();
    }
}
