//! A store in a folder of its own, over tables in memory that outlive it or do not.

use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::{
    CommitRequest, Drive, InboxCommand, Ledger, LedgerError, Op, Part, RunFilter, Verdict, sample,
};
use mainstay_machine::{EffectEntry, EntryState, Event, RunState, Summary};
use mainstay_types::{AlertSeq, Payload};

use crate::blocking::wait;
use crate::keys;
use crate::rows::effects::EffectRow;

use crate::files::RealDisk;
use crate::ledger::LogLedger;
use crate::maintain::{EraseError, Erasure};
use crate::open::{OpenOptions, open_on};
use crate::segment::LogSettings;
use crate::settings::Settings;
use crate::standing::StandingSettings;
use crate::table::MemoryFactory;

/// Whether the table is there at the next open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Stays,
    IsLost,
}

/// A store that is opened again and again.
pub(super) struct House {
    folder: tempfile::TempDir,
    pub(super) factory: MemoryFactory,
    table: Table,
    pub(super) options: OpenOptions,
    /// `None` only while it is opened again.
    ledger: Option<LogLedger<MemoryFactory>>,
}

impl House {
    pub(super) fn new(table: Table) -> Self {
        Self::with(table, OpenOptions::creating())
    }

    /// One with segments and generations so small that everything happens all the time.
    pub(super) fn small(table: Table) -> Self {
        let settings = Settings {
            log: LogSettings {
                segment_bytes: 16 << 10,
                first_bytes: 8 << 10,
                short_bytes: 4 << 10,
                ballast_bytes: 0,
                beside: false,
            },
            standing: StandingSettings {
                freeze_rows: 8,
                ..StandingSettings::default()
            },
            ..Settings::default()
        };
        Self::with(table, OpenOptions::creating().settings(settings))
    }

    fn with(table: Table, options: OpenOptions) -> Self {
        let mut house = Self {
            folder: tempfile::tempdir().unwrap(),
            factory: MemoryFactory::default(),
            table,
            options,
            ledger: None,
        };
        house.ledger = Some(house.open().unwrap());
        house
    }

    /// The same store as it was made once, with its first segment as it was then.
    pub(super) fn begin_anew(&mut self, first_segment: &[u8]) {
        self.close();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir()
                && path
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with("replaced-")
            {
                // The log as it was before it was mended.
                std::fs::remove_dir_all(self.folder.path().join("log")).unwrap();
                std::fs::rename(path.join("log"), self.folder.path().join("log")).unwrap();
                for name in ["ACKED", "OLDEST"] {
                    std::fs::rename(path.join(name), self.folder.path().join(name)).unwrap();
                }
                std::fs::remove_dir_all(path).unwrap();
            }
        }
        let first = self.folder.path().join("log/0000000001.log");
        std::fs::write(first, first_segment).unwrap();
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn ledger(&self) -> &LogLedger<MemoryFactory> {
        self.ledger.as_ref().unwrap()
    }

    pub(super) fn open(&self) -> Result<LogLedger<MemoryFactory>, LedgerError> {
        let factory = match self.table {
            Table::Stays => self.factory.clone(),
            Table::IsLost => MemoryFactory::default(),
        };
        let parts = (Arc::new(factory) as Arc<_>, Arc::new(RealDisk) as Arc<_>);
        let folder = self.folder.path();
        let opened = open_on(folder, &self.options, parts, &mut |_, _| {})?;
        LogLedger::begin(folder, self.options.clone(), opened)
    }

    /// Commits one request, which has to be committed.
    pub(super) fn must(&self, request: impl Into<CommitRequest>) {
        let verdicts = wait(self.ledger().commit(vec![request.into()])).unwrap();
        let committed = matches!(verdicts[..], [Verdict::Committed(_)]);
        assert!(committed, "{verdicts:?}");
    }

    /// The n-th sample run: begun under a start key of its own, an effect applied with this result,
    /// closed, with all rows that a run can have.
    pub(super) fn live(&self, n: u32, secret: &str) {
        let key = format!("start-{n}");
        let begun = Event::RunStarted(Box::new(sample::started(n, Payload::from(secret))));
        let start = Part {
            events: sample::stamped(u64::from(n), [begun]),
            ..sample::start_part(n)
        };
        let start = start
            .with(Op::Summary(summary(n, RunState::Running)))
            .with(sample::store_class("meeting-analysis", 3))
            .with(sample::take_start_key(&key, "{}"))
            .with(sample::driven_by(1));
        self.must(start);
        let message = sample::message(n);
        let command = InboxCommand::Cancel {
            by: secret.to_owned(),
            why: secret.to_owned(),
        };
        wait(self.ledger().enqueue(sample::run(n), message, command)).unwrap();
        let effect = effect(n, EntryState::Applied(Payload::from(secret)));
        self.must(
            sample::next_part(n, 1)
                .with(sample::effect(effect))
                .with(Op::InboxAck(message))
                .with(Op::Alert(sample::alert(n))),
        );
        let close = sample::next_part(n, 2)
            .with(Op::Summary(summary(n, RunState::Closed)))
            .with(Op::Drive(Drive::Off));
        self.must(close);
    }

    /// A run that begins and is closed at this moment, and leaves nothing that outlives it.
    pub(super) fn live_until(&self, n: u32, ended: u64) {
        self.must(sample::start_part(n).with(Op::Summary(summary(n, RunState::Running))));
        let closed = Summary {
            ended_at: Some(sample::at(ended)),
            ..summary(n, RunState::Closed)
        };
        let part = Part {
            events: sample::stamped(ended, [Event::RunClosed]),
            ..sample::next_part(n, 1)
        };
        self.must(part.with(Op::Summary(closed)).with(Op::Drive(Drive::Off)));
    }

    /// Everything that can be asked of the store, as text.
    pub(super) fn dump(&self, runs: u32) -> Vec<String> {
        let ledger = self.ledger();
        let mut lines = Vec::new();
        for n in 1..=runs {
            let run = sample::run(n);
            let loaded = wait(ledger.load(run)).unwrap();
            lines.push(format!("{run}: {loaded:?}"));
            let key = sample::start_key(&format!("start-{n}"));
            let start = wait(ledger.start_key(sample::tenant("acme"), key)).unwrap();
            lines.push(format!("start {n}: {start:?}"));
            lines.push(format!("effect {n}: {:?}", self.holder(n)));
        }
        let runs = wait(ledger.runs(RunFilter::default(), None)).unwrap();
        lines.push(format!("{runs:?}"));
        let alerts = wait(ledger.alerts(AlertSeq(0))).unwrap();
        lines.push(format!("{alerts:?}"));
        let driven = wait(ledger.driven(None)).unwrap();
        lines.push(format!("{driven:?}"));
        lines.push(format!("{:?}", wait(ledger.classes()).unwrap()));
        lines
    }

    /// The entry of the n-th run's effect key.
    pub(super) fn holder(&self, n: u32) -> Option<EffectEntry> {
        let key = keys::effect(&effect(n, EntryState::Open).key);
        let found = self.ledger().reader().standing.look_up(&key).unwrap();
        let row = found
            .value
            .map(|value| EffectRow::decode(&key, &value).unwrap());
        row.map(|row| row.entry)
    }

    pub(super) fn close(&mut self) {
        self.ledger.take().unwrap().close().unwrap();
    }

    pub(super) fn open_again(&mut self) {
        self.ledger = Some(self.open().unwrap());
    }

    /// Erases a run; the store is open again afterwards.
    pub(super) fn erase(&mut self, erasure: &Erasure) -> Result<(), EraseError> {
        let begun = self.ledger().begin_erasing(erasure).map(drop);
        if begun.is_ok() {
            // What the real thing does between the two: a table in memory outlives a factory only
            // when the house opens it.
            self.reopen();
        }
        begun
    }

    /// The first half of it, as if the process died then.
    pub(super) fn begin_erasing(&self, erasure: &Erasure) {
        self.ledger().begin_erasing(erasure).unwrap();
    }

    pub(super) fn reopen(&mut self) {
        self.ledger.take().unwrap().close().unwrap();
        self.ledger = Some(self.open().unwrap());
    }
}

/// The effect of the n-th sample run, under a key that no other run has.
pub(super) fn effect(n: u32, state: EntryState) -> EffectEntry {
    sample::entry(sample::effect_key(&format!("business-{n}"), 1), n, 4, state)
}

/// The row of the n-th sample run, with its own start key.
pub(super) fn summary(n: u32, state: RunState) -> Summary {
    Summary {
        start_key: Some(sample::start_key(&format!("start-{n}"))),
        in_doubt: 0,
        ..sample::summary(n, state)
    }
}
