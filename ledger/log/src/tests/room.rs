//! A disk that gets full between two looks at its room: what ends something is written all the
//! same, with what the log holds back, whatever stands in the same group (F32).

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Ledger, Verdict, sample};

use crate::blocking::wait;
use crate::files::faults::{FailingDisk, MemoryDisk};
use crate::ledger::LogLedger;
use crate::open::{OpenOptions, open_on};
use crate::segment::LogSettings;
use crate::settings::Settings;
use crate::table::MemoryFactory;

/// Far above what a store wants before it begins a run.
const ROOMY: u64 = 1 << 30;
/// Enough for all that is in flight.
const BALLAST: u64 = 64 << 10;
const IN_FLIGHT: u32 = 60;

/// A store in a folder of its own, whose log is on a disk of which the test says how full it is.
struct Full {
    disk: FailingDisk,
    ledger: LogLedger<MemoryFactory>,
    _folder: tempfile::TempDir,
}

impl Full {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = LogSettings {
            segment_bytes: 16 << 10,
            first_bytes: 8 << 10,
            short_bytes: 4 << 10,
            ballast_bytes: BALLAST,
            beside: false,
        };
        let settings = Settings {
            log,
            ..Settings::default()
        };
        let options = OpenOptions::creating().settings(settings);
        let disk = FailingDisk::new(Arc::new(MemoryDisk::new()), ROOMY);
        let parts = (
            Arc::new(MemoryFactory::default()) as Arc<_>,
            Arc::new(disk.clone()) as Arc<_>,
        );
        let opened = open_on(folder.path(), &options, parts, &mut |_, _| {}).unwrap();
        let ledger = LogLedger::begin(folder.path(), options, opened).unwrap();
        Self {
            disk,
            ledger,
            _folder: folder,
        }
    }

    fn commit(&self, requests: Vec<CommitRequest>) -> Vec<Verdict> {
        wait(self.ledger.commit(requests)).unwrap()
    }

    /// Runs that were begun while there was room.
    fn with_runs_in_flight() -> Self {
        let full = Self::new();
        for n in 1..=IN_FLIGHT {
            let begun = full.commit(vec![sample::start_part(n).into()]);
            assert!(matches!(begun[..], [Verdict::Committed(_)]), "{begun:?}");
        }
        full
    }
}

#[test]
fn f32_what_is_in_flight_settles_on_a_disk_that_got_full_since_it_was_last_looked_at() {
    let full = Full::with_runs_in_flight();
    full.disk.set_free(0);
    for n in 1..=IN_FLIGHT {
        let settled = full.commit(vec![sample::next_part(n, 1).into()]);
        assert!(
            matches!(settled[..], [Verdict::Committed(_)]),
            "{n}: {settled:?}"
        );
    }
}

#[test]
fn f32_in_one_group_what_begins_is_refused_and_what_ends_is_written() {
    let full = Full::with_runs_in_flight();
    full.disk.set_free(0);
    let mut refused = 0;
    for n in 1..=IN_FLIGHT {
        let start = sample::start_part(1_000 + n).into();
        let said = full.commit(vec![start, sample::next_part(n, 1).into()]);
        match &said[..] {
            [Verdict::Full, Verdict::Committed(_)] => refused += 1,
            [Verdict::Committed(_), Verdict::Committed(_)] if refused == 0 => {}
            other => panic!("{n}: {other:?}"),
        }
    }
    assert!(0 < refused, "the disk was never full");
}

#[test]
fn f32_with_room_again_what_was_in_flight_settles_and_what_was_refused_begins() {
    let full = Full::with_runs_in_flight();
    full.disk.set_free(0);
    let starts = 1_000..;
    let refused = starts.into_iter().find(|n| {
        let said = full.commit(vec![sample::start_part(*n).into()]);
        matches!(said[..], [Verdict::Full])
    });
    full.disk.set_free(ROOMY);
    for n in 1..=IN_FLIGHT {
        let settled = full.commit(vec![sample::next_part(n, 1).into()]);
        assert!(
            matches!(settled[..], [Verdict::Committed(_)]),
            "{n}: {settled:?}"
        );
    }
    let start = sample::start_part(refused.unwrap()).into();
    let begun = full.commit(vec![start]);
    assert!(matches!(begun[..], [Verdict::Committed(_)]), "{begun:?}");
}
