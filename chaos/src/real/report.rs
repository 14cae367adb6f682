//! What came out of a campaign of real processes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use serde::Serialize;

use super::{Options, Progress};

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The class.
    pub class: String,
    /// What was drawn came from it.
    pub seed: u64,
    /// Stores.
    pub stores: u32,
    /// Over all of them.
    #[serde(flatten)]
    pub figures: Figures,
    /// Acknowledgements that were gone or another thing in the end.
    pub lost: u64,
    /// How long it took to open a store, in ms, in a life that had the time.
    pub opened_ms: Opened,
    /// How long all of it took.
    pub seconds: f64,
    /// What was not tried.
    pub skipped: Vec<Skipped>,
    /// What did not hold.
    pub violations: Vec<Breached>,
    #[serde(skip)]
    began: Instant,
    #[serde(skip)]
    opened: Vec<u64>,
}

/// How much was done, and how much came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Deaths by `kill -9`, those with a loss of power included.
    pub kills: u32,
    /// Of these so many while the store was opened.
    pub kills_while_opening: u32,
    /// Losses of power.
    pub power_losses: u32,
    /// Times that a process was stopped for seconds.
    pub pauses: u32,
    /// Jumps of a wall clock.
    pub clock_jumps: u32,
    /// Processes that wanted a store that another one had, and were refused.
    pub rivals_refused: u32,
    /// Times that a disk got full and had room again.
    pub full_disks: u32,
    /// Refusals for want of room while a disk was full.
    pub refused_while_full: u32,
    /// Starts, cancels, answers and outcomes that callers were told.
    pub acknowledged: BTreeMap<String, u64>,
    /// Runs.
    pub runs: u64,
    /// How their newest laps ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Events in the logs.
    pub events: u64,
    /// Requests that arrived outside, look-ups not counted.
    pub requests: u64,
    /// Look-ups that arrived.
    pub look_ups: u64,
    /// Requests and look-ups that something went wrong with outside.
    pub troubles_outside: u64,
    /// Keys under which a receiver did something.
    pub effects: u64,
    /// Keys under which one did it more than once.
    pub effects_more_than_once: u64,
}

impl Figures {
    pub(super) fn add(&mut self, more: &Self) {
        for (all, more) in [
            (&mut self.kills, more.kills),
            (&mut self.kills_while_opening, more.kills_while_opening),
            (&mut self.power_losses, more.power_losses),
            (&mut self.pauses, more.pauses),
            (&mut self.clock_jumps, more.clock_jumps),
            (&mut self.rivals_refused, more.rivals_refused),
            (&mut self.full_disks, more.full_disks),
            (&mut self.refused_while_full, more.refused_while_full),
        ] {
            *all += more;
        }
        for (all, more) in [
            (&mut self.runs, more.runs),
            (&mut self.events, more.events),
            (&mut self.requests, more.requests),
            (&mut self.look_ups, more.look_ups),
            (&mut self.troubles_outside, more.troubles_outside),
            (&mut self.effects, more.effects),
            (
                &mut self.effects_more_than_once,
                more.effects_more_than_once,
            ),
        ] {
            *all += more;
        }
        for (all, more) in [
            (&mut self.acknowledged, &more.acknowledged),
            (&mut self.outcomes, &more.outcomes),
        ] {
            for (name, times) in more {
                *all.entry(name.clone()).or_default() += times;
            }
        }
    }
}

/// Times to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Opened {
    /// How many opened.
    pub count: u64,
    /// The median.
    pub p50: u64,
    /// The longest.
    pub max: u64,
}

/// Something that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Something that did not hold in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breached {
    /// Which store of the campaign, from 0.
    pub store: usize,
    /// Which guarantee or check.
    pub property: String,
    /// What was seen.
    pub what: String,
    /// Where the store is kept.
    pub kept: String,
}

/// What came out of one store.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) figures: Figures,
    /// How long each opening took, in ms.
    pub(super) opened: Vec<u64>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) violations: Vec<Breached>,
}

impl Report {
    pub(super) fn new(class: &str, options: &Options) -> Self {
        Self {
            class: class.to_owned(),
            seed: options.seed,
            stores: 0,
            figures: Figures::default(),
            lost: 0,
            opened_ms: Opened::default(),
            seconds: 0.0,
            skipped: Vec::new(),
            violations: Vec::new(),
            began: Instant::now(),
            opened: Vec::new(),
        }
    }

    /// Adds what came out of one store.
    pub(super) fn add(&mut self, tally: Tally) {
        self.stores += 1;
        self.figures.add(&tally.figures);
        let lost = tally.violations.iter().filter(|one| one.property == "G2");
        self.lost += lost.count() as u64;
        self.opened.extend(tally.opened);
        self.violations.extend(tally.violations);
        for skipped in tally.skipped {
            if !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
    }

    /// All stores are counted.
    pub(super) fn conclude(&mut self) {
        self.seconds = self.began.elapsed().as_secs_f64();
        self.opened.sort_unstable();
        let opened = &self.opened;
        self.opened_ms = Opened {
            count: opened.len() as u64,
            p50: opened.get(opened.len() / 2).copied().unwrap_or_default(),
            max: opened.last().copied().unwrap_or_default(),
        };
        self.violations.sort_by_key(|one| one.store);
    }

    /// Whether everything held.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.violations.is_empty()
    }
}

fn counts(of: &BTreeMap<String, u64>) -> String {
    let parts: Vec<String> = of
        .iter()
        .map(|(name, times)| format!("{times} {name}"))
        .collect();
    parts.join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures {
            kills,
            kills_while_opening,
            ..
        } = self.figures;
        writeln!(
            f,
            "{}, seed {}: {kills} kills on {} stores in {:.0} s, {kills_while_opening} of them \
             while a store was opened",
            self.class, self.seed, self.stores, self.seconds
        )?;
        write!(f, "{}", self.figures)?;
        writeln!(
            f,
            "opened {} times: median {} ms, longest {} ms; acknowledged and lost or changed: {}",
            self.opened_ms.count, self.opened_ms.p50, self.opened_ms.max, self.lost
        )?;
        for Skipped { what, why } in &self.skipped {
            writeln!(f, "NOT TRIED  {what}: {why}")?;
        }
        for one in &self.violations {
            writeln!(
                f,
                "VIOLATED  {} in store {}: {} (kept in {})",
                one.property, one.store, one.what, one.kept
            )?;
        }
        let held = match self.violations.len() {
            0 if self.skipped.is_empty() => "everything held".to_owned(),
            0 => "everything that was tried held".to_owned(),
            count => format!("{count} violations"),
        };
        f.write_str(&held)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "besides: {} losses of power, {} pauses, {} clock jumps, {} rivals refused, {} full \
             disks ({} refusals for want of room)",
            self.power_losses,
            self.pauses,
            self.clock_jumps,
            self.rivals_refused,
            self.full_disks,
            self.refused_while_full
        )?;
        writeln!(f, "acknowledged: {}", counts(&self.acknowledged))?;
        writeln!(
            f,
            "{} runs ended: {}; {} events",
            self.runs,
            counts(&self.outcomes),
            self.events
        )?;
        writeln!(
            f,
            "outside: {} requests, {} look-ups, {} of them went wrong; {} keys, {} of them done \
             more than once",
            self.requests,
            self.look_ups,
            self.troubles_outside,
            self.effects,
            self.effects_more_than_once
        )
    }
}

/// Counts deaths, and says so.
pub(super) struct Meter {
    kills: AtomicU32,
    of: u32,
    tell: Box<dyn Fn(Progress) + Send + Sync>,
}

impl Meter {
    pub(super) fn new(of: u32, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self {
            kills: AtomicU32::new(0),
            of,
            tell: Box::new(tell),
        }
    }

    pub(super) fn died(&self) {
        let kills = self.kills.fetch_add(1, Ordering::SeqCst) + 1;
        (self.tell)(Progress { kills, of: self.of });
    }
}
