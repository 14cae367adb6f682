//! Orphans: remote work that no run waits for any more, with an owner until it is known what became
//! of it, or its time is over.
//!
//! An attempt that is given up from here while it may have left is told to stop, and what it does
//! then is its provider's affair: a cancel is no roll-back. Its whole life is the table below, and
//! there is no other way through. Nothing here sends anything.

mod apply;

use mainstay_graph::{EffectSemantics, OnLate};
use mainstay_types::{
    AttemptNo, CallId, Code, FailureKind, Millis, Payload, Refusal, Sent, Timestamp, limits,
};

pub(crate) use apply::{
    apply_adopted, apply_closed, apply_given_up, apply_late_value, apply_observed,
};

use crate::attempt;
use crate::call::{Attempt, Call};
use crate::command::{AskOrphan, OrphanWish, SettleEnd};
use crate::doubt;
use crate::event::Event;
use crate::guard::{self, Site};
use crate::next::{self, Move};
use crate::run::{Head, Run};

/// Who owns what nobody was named for.
pub const OWNER_DEFAULT: &str = "mainstay";

/// Remote work that no run waits for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Who asked for the stop, or took it over since. Bound: `limits::TEXT_BYTES_MAX`.
    pub owner: String,
    /// Until when it is waited for.
    pub until: Timestamp,
    /// How it stands.
    pub stand: Stand,
    /// How often a person took it over.
    pub adoptions: u32,
}

/// What was seen of remote work after it was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// It stopped, or had never begun.
    Canceled,
    /// It was done all the same, and answered.
    CompletedLate,
    /// It failed by itself.
    Failed,
    /// Nothing was heard in its time.
    StillRunning,
}

impl Seen {
    /// Everything that may be seen.
    pub const ALL: [Self; 4] = [
        Self::Canceled,
        Self::CompletedLate,
        Self::Failed,
        Self::StillRunning,
    ];

    /// The stable text, for example `completed_late`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::CompletedLate => "completed_late",
            Self::Failed => "failed",
            Self::StillRunning => "still_running",
        }
    }
}

/// How an orphan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It may be running, and is forgotten when its time is over.
    Left,
    /// It may be running, and somebody is told when its time is over.
    Watched,
    /// A person took it over, and is told when its time is over.
    Adopted,
    /// Its time is over, nothing was heard, and somebody was told.
    Overdue,
    /// It is known what became of it; never `StillRunning`.
    Observed(Seen),
    /// A person said that nobody waits for it.
    Closed,
}

impl Stand {
    /// The stable text, for example `overdue`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Left | Self::Watched => "running",
            Self::Adopted => "adopted",
            Self::Overdue => "overdue",
            Self::Observed(seen) => seen.as_str(),
            Self::Closed => "closed",
        }
    }
}

/// Where an orphan stands, without what is known beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The attempt is none.
    NotThere,
    /// It is forgotten when its time is over.
    Left,
    /// Somebody is told when its time is over.
    Watched,
    /// A person has it.
    Adopted,
    /// Somebody was told.
    Overdue,
    /// It is known.
    Observed,
    /// Nobody waits.
    Closed,
}

/// What may happen to an orphan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// Its attempt is given up, and nobody has to hear of it.
    Left,
    /// Its attempt is given up, and somebody has to.
    Watched,
    /// Its attempt reports what became of it.
    Heard,
    /// Its time is over.
    Unheard,
    /// A person takes it over.
    Adopted,
    /// A person says that nobody waits for it.
    Closed,
}

impl Stage {
    /// Every stage, in the order of the table's columns.
    pub const ALL: [Self; 7] = [
        Self::NotThere,
        Self::Left,
        Self::Watched,
        Self::Adopted,
        Self::Overdue,
        Self::Observed,
        Self::Closed,
    ];

    /// Where an orphan stands.
    #[must_use]
    pub const fn of(orphan: Option<&Orphan>) -> Self {
        match orphan {
            None => Self::NotThere,
            Some(orphan) => match orphan.stand {
                Stand::Left => Self::Left,
                Stand::Watched => Self::Watched,
                Stand::Adopted => Self::Adopted,
                Stand::Overdue => Self::Overdue,
                Stand::Observed(_) => Self::Observed,
                Stand::Closed => Self::Closed,
            },
        }
    }
}

impl Happens {
    /// Everything that may happen, in the order of the table's rows.
    pub const ALL: [Self; 6] = [
        Self::Left,
        Self::Watched,
        Self::Heard,
        Self::Unheard,
        Self::Adopted,
        Self::Closed,
    ];
}

/// The table. `None` where it may not happen. Source: mission A20.
///
/// What is known is never unknown again, nobody is told twice of one wait, and what a person closed
/// is still known when its answer comes.
#[must_use]
#[rustfmt::skip]
pub const fn table(from: Stage, what: Happens) -> Option<Stage> {
    const L: Option<Stage> = Some(Stage::Left);
    const W: Option<Stage> = Some(Stage::Watched);
    const A: Option<Stage> = Some(Stage::Adopted);
    const V: Option<Stage> = Some(Stage::Overdue);
    const O: Option<Stage> = Some(Stage::Observed);
    const C: Option<Stage> = Some(Stage::Closed);
    const X: Option<Stage> = None;
    let row = match what {
        //                  not
        //                  there left  watched adopted overdue observed closed
        Happens::Left    => [L,   X,    X,      X,      X,      X,       X],
        Happens::Watched => [W,   X,    X,      X,      X,      X,       X],
        Happens::Heard   => [X,   O,    O,      O,      O,      X,       O],
        Happens::Unheard => [X,   X,    V,      V,      X,      X,       X],
        // Also from one person to the next.
        Happens::Adopted => [X,   A,    A,      A,      A,      X,       X],
        Happens::Closed  => [X,   C,    C,      C,      C,      X,       X],
    };
    row[from as usize]
}

impl Attempt {
    /// What it is to nobody who waits; `None` for one that was not given up.
    #[must_use]
    pub fn orphan(&self) -> Option<&Orphan> {
        self.orphan.as_deref()
    }
}

impl Orphan {
    /// Whether its run is not closed before it is known what became of it.
    #[must_use]
    pub const fn holds(&self) -> bool {
        match self.stand {
            Stand::Watched | Stand::Adopted | Stand::Overdue => true,
            Stand::Left | Stand::Observed(_) | Stand::Closed => false,
        }
    }

    /// Whether anybody may still hear of it at `now`.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.holds() || (self.stand == Stand::Left && now < self.until)
    }

    /// When somebody has to be told that nothing was heard.
    fn told_at(&self) -> Option<Timestamp> {
        let tells = table(Stage::of(Some(self)), Happens::Unheard).is_some();
        tells.then_some(self.until)
    }
}

/// Who owns what the run gives up now.
pub(crate) fn owner(head: &Head) -> &str {
    head.cancel
        .as_ref()
        .map_or(OWNER_DEFAULT, |asked| &asked.by)
}

/// The event that says whose the work of `out` is, which is given up while it may have left; `None`
/// where it leaves nothing behind that anybody could ask about: what ran in our own process, and a
/// write under a key, which is the same effect whoever did it.
pub(crate) fn given_up(
    run: &Run,
    (id, call): (CallId, &Call),
    out: &Attempt,
    owner: &str,
) -> Option<Event> {
    let node = run.class().node(call.node);
    let contract = node.contract()?;
    let timeout_end = out.at + out.timeout;
    let bound = match contract.effect {
        EffectSemantics::ReadOnly if attempt::is_remote(contract, out.rung) => timeout_end,
        EffectSemantics::ReadOnly | EffectSemantics::WriteIdempotentWithKey => return None,
        EffectSemantics::WriteWithoutKey => {
            let effect = node.effect()?;
            timeout_end + Millis::new(limits::SEND_WINDOW_MS) + effect.receiver_bound
        }
    };
    let ttl = contract.orphan_ttl.unwrap_or(Millis::ZERO);
    Some(Event::AttemptOrphaned {
        call: id,
        attempt: out.no,
        owner: owner.to_owned(),
        until: bound.max(timeout_end + ttl),
    })
}

/// What a report says of an orphan; `None` when it says nothing for sure, or there is none.
pub(crate) fn seen(site: Site<'_>, attempt: &Attempt, end: &SettleEnd) -> Option<Seen> {
    table(Stage::of(attempt.orphan()), Happens::Heard)?;
    match end {
        SettleEnd::Answered { .. } => Some(Seen::CompletedLate),
        SettleEnd::Failed(failure) => {
            let follows = next::table(failure.kind, failure.sent, site.semantics());
            // What does not say whether a write was done is no word on it.
            let is_unsure = site.writes() && doubt::proves_nothing(failure);
            match (failure.sent, failure.kind) {
                (Sent::MaybeSent, _) => None,
                _ if follows == Move::Reconcile || is_unsure => None,
                (Sent::NotSent, _) | (Sent::Answered, FailureKind::Canceled) => {
                    Some(Seen::Canceled)
                }
                (Sent::Answered, _) => Some(Seen::Failed),
            }
        }
    }
}

/// What is done with an answer that its call does not take.
pub(crate) fn late_value(site: Site<'_>, attempt: &Attempt, result: &Payload) -> Option<Event> {
    let policy = site.contract()?.late();
    // A read that has its value needs no second one; a write's is under its key.
    let is_kept = match site.semantics() {
        EffectSemantics::ReadOnly => site.call.value().is_none(),
        EffectSemantics::WriteIdempotentWithKey => false,
        EffectSemantics::WriteWithoutKey => true,
    };
    let value = match policy {
        OnLate::Drop => None,
        OnLate::Keep => is_kept.then(|| result.clone()),
        OnLate::Review => Some(result.clone()),
    };
    Some(Event::LateValueRecorded {
        call: site.id,
        attempt: attempt.no,
        policy,
        value,
    })
}

/// Orphans that nothing was heard of in their time, and of which somebody has to hear.
pub(crate) fn overdue(run: &Run, now: Timestamp) -> Vec<Event> {
    let due = waits(run).filter(|(_, _, until)| *until <= now);
    let events = due.map(|(call, attempt, _)| Event::OrphanObserved {
        call,
        attempt,
        seen: Seen::StillRunning,
    });
    events.take(limits::ADVANCE_EVENTS_MAX).collect()
}

/// When somebody has to be told of orphans, each at its own time.
pub(crate) fn moments(run: &Run) -> impl Iterator<Item = Timestamp> {
    waits(run).map(|(_, _, until)| until)
}

fn waits(run: &Run) -> impl Iterator<Item = (CallId, AttemptNo, Timestamp)> {
    run.calls.watched().flat_map(|(id, call)| {
        let attempts = call.attempts.iter();
        attempts.filter_map(move |made| Some((id, made.no, made.orphan()?.told_at()?)))
    })
}

/// What a person wants done about an orphan.
pub(crate) fn decide(run: &Run, ask: AskOrphan, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    guard::started(run)?;
    let AskOrphan {
        call: id,
        attempt,
        wish,
        after,
        by,
        why,
    } = ask;
    let refused = |what: &str| {
        let about = format!("{}, attempt {attempt}: {what}", run.path(id));
        Err(Refusal::new(Code::OrphanNotThere).about(about))
    };
    let made = guard::call(run, id)?.attempt(attempt);
    let Some(orphan) = made.and_then(Attempt::orphan) else {
        return refused("it was not given up while it may have left");
    };
    if after < orphan.adoptions || (wish == OrphanWish::Close && orphan.stand == Stand::Closed) {
        // It was taken, or another one came first; whoever asked sees which.
        return Ok(Vec::new());
    }
    if !orphan.is_open(now) {
        return refused(match orphan.stand {
            Stand::Observed(seen) => seen.as_str(),
            Stand::Closed => "it is closed",
            Stand::Left | Stand::Watched | Stand::Adopted | Stand::Overdue => "its time is over",
        });
    }
    let event = match wish {
        OrphanWish::Adopt { until } => {
            check_until(until, now)?;
            Event::OrphanAdopted {
                call: id,
                attempt,
                by,
                why,
                until,
            }
        }
        OrphanWish::Close => Event::OrphanClosed {
            call: id,
            attempt,
            by,
            why,
        },
    };
    Ok(vec![event])
}

fn check_until(until: Timestamp, now: Timestamp) -> Result<(), Refusal> {
    let most = Millis::new(limits::ORPHAN_TTL_MS_MAX);
    match until <= now + most {
        true => Ok(()),
        false => Err(Refusal::new(Code::InvalidInput)
            .with("wanted_ms", now.until(until).get())
            .with("limit_ms", most.get())
            .about("an orphan is taken over for a bounded time; take it over again when it ends")),
    }
}
