//! Every question that the `Ledger` trait answers, as a value, so that two ledgers can be asked it.
//!
//! None of them writes. A read that the trait has and this does not ask could be wrong unseen.

use std::fmt;

use mainstay::ledger::{Ledger, LedgerError, RunFilter};
use mainstay::types::{AlertSeq, Digest, RunId, Seq, Timestamp};
use mainstay_ledger::{
    CommitRequest, Driving, HeldKey, InboxMessage, Op, Page, Part, Recorded, Snapshot, Stamped,
    StoredClass, Verdict, sample,
};
use mainstay_machine::{Alert, EffectEntry, RunState, Summary};

use super::content::{Happened, Key, NOBODY, class_version, event, moment, run_id};

/// One question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All events of a run.
    History(u32),
    /// A run as it is loaded to go on.
    Load(u32),
    /// Its inbox.
    Inbox(u32),
    /// Who drives it.
    Driving(u32),
    /// Its row.
    Summary(u32),
    /// What a start key stands for.
    Start(Key),
    /// The entry under an effect key.
    Effect(Key),
    /// A class of this version.
    Class(u32),
    /// All classes.
    Classes,
    /// Who drives what.
    Driven,
    /// What wakes by itself.
    Wakes,
    /// Who has messages.
    Inboxes,
    /// The rows of all runs, of all but the closed, or of the closed.
    Rows(Option<bool>),
    /// All alerts.
    Alerts,
    /// The newest time.
    LastTime,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Reading {
    /// The run it asks about, when it asks about one.
    #[must_use]
    pub const fn run(self) -> Option<u32> {
        match self {
            Self::History(n)
            | Self::Load(n)
            | Self::Inbox(n)
            | Self::Driving(n)
            | Self::Summary(n) => Some(n),
            Self::Start(_)
            | Self::Effect(_)
            | Self::Class(_)
            | Self::Classes
            | Self::Driven
            | Self::Wakes
            | Self::Inboxes
            | Self::Rows(_)
            | Self::Alerts
            | Self::LastTime => None,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Events; `None`: no such run.
    Events(Option<Vec<Recorded>>),
    /// A kept state, how many events and messages it came with.
    Load(Option<LoadSeen>),
    /// Messages.
    Inbox(Vec<InboxMessage>),
    /// Who drives one run.
    Driving(Option<Driving>),
    /// A row.
    Summary(Option<Summary>),
    /// A start key's run and input.
    Start(Option<(RunId, Digest)>),
    /// An entry and how often it has changed.
    Effect(Option<(EffectEntry, u64)>),
    /// Stored classes.
    Classes(Vec<StoredClass>),
    /// Who drives what.
    Driven(Vec<Driving>),
    /// What wakes when.
    Wakes(Vec<(Timestamp, RunId)>),
    /// Runs.
    Runs(Vec<RunId>),
    /// Rows, newest first.
    Rows(Vec<Summary>),
    /// What was alerted, by its reason, and whether the numbers have no gap.
    Alerts(Vec<Alert>, bool),
    /// A moment.
    Time(Option<Timestamp>),
    /// The question was answered by something that is no answer to it.
    Nonsense(String),
}

/// What loading gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadSeen {
    /// The kept state.
    pub snapshot: Option<Snapshot>,
    /// Events after it.
    pub events: Vec<Recorded>,
    /// Messages.
    pub inbox: Vec<InboxMessage>,
}

impl Seen {
    /// In short, for a message about a difference.
    #[must_use]
    pub fn short(&self) -> String {
        let events = |events: &[Recorded]| {
            let last = events.last().map(|last| last.seq.get());
            format!("{} events up to {last:?}", events.len())
        };
        match self {
            Self::Events(found) => format!("{:?}", found.as_deref().map(events)),
            Self::Load(None) => "no run".to_owned(),
            Self::Load(Some(found)) => {
                let kept = found.snapshot.as_ref().map(|snapshot| snapshot.seq);
                let events = events(&found.events);
                format!(
                    "state at {kept:?}, {events}, {} messages",
                    found.inbox.len()
                )
            }
            Self::Rows(rows) => format!("{} rows", rows.len()),
            Self::Alerts(alerts, dense) => format!("{} alerts, dense: {dense}", alerts.len()),
            Self::Driven(driven) => format!("{} driven", driven.len()),
            Self::Wakes(wakes) => format!("{} wakes", wakes.len()),
            Self::Runs(runs) => format!("{} runs", runs.len()),
            Self::Classes(classes) => format!("{} classes", classes.len()),
            Self::Inbox(_)
            | Self::Driving(_)
            | Self::Summary(_)
            | Self::Start(_)
            | Self::Effect(_)
            | Self::Time(_)
            | Self::Nonsense(_) => {
                let text = format!("{self:?}");
                text.chars().take(400).collect()
            }
        }
    }
}

/// Asks a ledger.
///
/// # Errors
/// Its own.
pub async fn look(ledger: &dyn Ledger, reading: Reading) -> Result<Seen, LedgerError> {
    Ok(match reading {
        Reading::History(n) => Seen::Events(history(ledger, run_id(n)).await?),
        Reading::Load(n) => Seen::Load(ledger.load(run_id(n)).await?.map(|found| LoadSeen {
            snapshot: found.snapshot,
            events: found.events,
            inbox: found.inbox,
        })),
        Reading::Inbox(n) => Seen::Inbox(ledger.inbox(run_id(n)).await?),
        Reading::Driving(n) => Seen::Driving(ledger.driving(run_id(n)).await?),
        Reading::Summary(n) => Seen::Summary(ledger.summary(run_id(n)).await?),
        Reading::Start(key) => {
            let tenant = sample::tenant("acme");
            Seen::Start(ledger.start_key(tenant, key.start_key()).await?)
        }
        Reading::Effect(key) => effect(ledger, key).await?,
        Reading::Class(version) => {
            let name = super::content::class_ref(version).name;
            let found = ledger.class(name, class_version(version)).await?;
            Seen::Classes(found.into_iter().collect())
        }
        Reading::Classes => Seen::Classes(ledger.classes().await?),
        Reading::Driven => Seen::Driven(driven(ledger).await?),
        Reading::Wakes => Seen::Wakes(wakes(ledger).await?),
        Reading::Inboxes => Seen::Runs(inboxes(ledger).await?),
        Reading::Rows(closed) => Seen::Rows(rows(ledger, closed).await?),
        Reading::Alerts => alerts(ledger).await?,
        Reading::LastTime => Seen::Time(ledger.last_time().await?),
    })
}

/// Asks until a page says that it is the last.
macro_rules! pages {
    ($from:expr, |$cursor:ident| $page:expr, |$last:ident| $next:expr) => {{
        let mut all = Vec::new();
        let mut $cursor = $from;
        loop {
            let Page { rows, more } = $page;
            all.extend(rows);
            match all.last() {
                Some($last) if more => $cursor = $next,
                Some(_) | None => break all,
            }
        }
    }};
}

async fn history(ledger: &dyn Ledger, run: RunId) -> Result<Option<Vec<Recorded>>, LedgerError> {
    let mut exists = true;
    let events = pages!(
        Seq(0),
        |after| match ledger.history(run, after).await? {
            Some(page) => page,
            None => {
                exists = false;
                Page {
                    rows: Vec::new(),
                    more: false,
                }
            }
        },
        |last| last.seq
    );
    Ok(exists.then_some(events))
}

async fn driven(ledger: &dyn Ledger) -> Result<Vec<Driving>, LedgerError> {
    Ok(pages!(
        None,
        |cursor| ledger.driven(cursor).await?,
        |last| Some(last.run)
    ))
}

async fn wakes(ledger: &dyn Ledger) -> Result<Vec<(Timestamp, RunId)>, LedgerError> {
    Ok(pages!(None, |cursor| ledger.wakes(cursor).await?, |last| {
        Some(*last)
    }))
}

async fn inboxes(ledger: &dyn Ledger) -> Result<Vec<RunId>, LedgerError> {
    Ok(pages!(
        None,
        |cursor| ledger.inboxes(cursor).await?,
        |last| Some(*last)
    ))
}

async fn rows(ledger: &dyn Ledger, closed: Option<bool>) -> Result<Vec<Summary>, LedgerError> {
    let state = closed.map(|closed| match closed {
        true => RunState::Closed,
        false => RunState::Running,
    });
    let filter = RunFilter {
        state,
        ..RunFilter::default()
    };
    Ok(pages!(
        None,
        |cursor| ledger.runs(filter.clone(), cursor).await?,
        |last| Some(last.run)
    ))
}

async fn alerts(ledger: &dyn Ledger) -> Result<Seen, LedgerError> {
    let all = pages!(AlertSeq(0), |after| ledger.alerts(after).await?, |last| {
        last.seq
    });
    let dense = (1..).zip(&all).all(|(seq, stored)| stored.seq.get() == seq);
    // Which lane came first is not known from what the lanes told.
    let mut alerts: Vec<Alert> = all.into_iter().map(|stored| stored.alert).collect();
    alerts.sort_by(|one, other| one.reason.cmp(&other.reason));
    Ok(Seen::Alerts(alerts, dense))
}

/// The trait has no question for an entry. A request that must be refused is told why: first for
/// this key, when it is held; else for a start key that it wants twice.
async fn effect(ledger: &dyn Ledger, key: Key) -> Result<Seen, LedgerError> {
    let twice = Op::StartKey {
        tenant: sample::tenant("acme"),
        key: Key {
            owner: NOBODY,
            item: u32::MAX,
        }
        .start_key(),
        input: Digest::of(b"probe"),
    };
    let wait = Op::Wait {
        key: key.effect_key(),
        version: u64::MAX,
    };
    let first = Stamped {
        at: moment(NOBODY, 1),
        event: event(NOBODY, 1, Happened::Started(50)),
    };
    let asked = CommitRequest {
        parts: vec![Part {
            run: run_id(NOBODY),
            expected_seq: Seq(0),
            epoch: mainstay::types::Epoch(1),
            events: vec![first],
            ops: vec![wait, twice.clone(), twice],
        }],
    };
    let verdicts = ledger.commit(vec![asked]).await?;
    Ok(match verdicts.into_iter().next() {
        Some(Verdict::KeyHeld(HeldKey::Effect { entry, version })) => {
            Seen::Effect(Some((*entry, version)))
        }
        Some(Verdict::KeyHeld(HeldKey::Start { run, .. })) if run == run_id(NOBODY) => {
            Seen::Effect(None)
        }
        other => Seen::Nonsense(format!("a probe of {key:?} was answered {other:?}")),
    })
}
