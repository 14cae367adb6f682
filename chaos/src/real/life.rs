//! One life of a worker: what it is asked for, what is done to it, and how it dies.

use std::collections::VecDeque;
use std::time::Duration;

use mainstay_fault_disk::Filler;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::RealError;
use super::plan::{Act, From, LifePlan};
use super::process::{Gone, Process};
use super::series::Series;
use super::speech::{Ask, Heard, Say};

/// How long a store may take to open: what takes longer hangs.
const OPENS_WITHIN: Duration = Duration::from_secs(60);
/// How long a process may take to say that somebody else has its store.
const REFUSED_WITHIN: Duration = Duration::from_secs(30);
/// How soon a store without room refuses a new run, when somebody wants one.
const REFUSES_WITHIN: Duration = Duration::from_secs(10);
/// How soon is looked again whether something has come.
const LOOKS_AGAIN: Duration = Duration::from_millis(50);
/// How soon a store with room again takes a new run.
const TAKES_WITHIN: Duration = Duration::from_secs(60);
/// How long everything may take to end once nothing goes wrong any more.
const ENDS_WITHIN: Duration = Duration::from_secs(240);
/// Runs that callers want at a time.
const OPEN: usize = 6;
/// Runs that they want while a disk is full.
const OPEN_WHILE_FULL: usize = 12;
/// What a store says that another process has.
const LOCKED: &str = "STORE_LOCKED";
/// What a store says that has no room.
const FULL: &str = "STORE_FULL";

/// See the module.
pub(super) struct Life<'s, 'a> {
    series: &'s mut Series<'a>,
    worker: Process,
    acts: VecDeque<(Duration, Act)>,
    from: From,
    /// When its acts are counted from, once that is known.
    base: Option<Instant>,
    is_open: bool,
    /// What takes all room of its disk, and since when.
    filler: Option<(Filler, Instant)>,
    /// Whether somebody was refused for want of room since then.
    is_refused: bool,
    /// When its disk had room again, until a new run has begun.
    has_room_since: Option<Instant>,
}

/// Whether a life goes on.
#[derive(PartialEq)]
enum Goes {
    On,
    Over,
}

impl<'s, 'a> Life<'s, 'a> {
    fn begin(series: &'s mut Series<'a>, plan: LifePlan) -> Result<Self, RealError> {
        let worker = series.worker()?;
        let base = Instant::now();
        Ok(Self {
            series,
            worker,
            acts: plan.acts.into(),
            from: plan.from,
            base: Some(base).filter(|_| plan.from == From::Start),
            is_open: false,
            filler: None,
            is_refused: false,
            has_room_since: None,
        })
    }

    /// A worker lives as planned, and is killed.
    pub(super) async fn of(series: &'s mut Series<'a>, plan: LifePlan) -> Result<(), RealError> {
        let mut life = Self::begin(series, plan)?;
        while life.goes_on().await? == Goes::On {}
        life.dies().await;
        Ok(())
    }

    /// What comes next: a line of the worker, or something that is done to it.
    async fn goes_on(&mut self) -> Result<Goes, RealError> {
        let latest = Instant::now() + OPENS_WITHIN;
        let next = match (self.base, self.acts.front()) {
            (Some(base), Some((at, _))) => base + *at,
            _ => latest,
        };
        tokio::select! {
            said = self.worker.says.recv() => match said {
                Some(say) => self.hears(say).await,
                None => {
                    self.series.breach("life", "a worker ended by itself".to_owned());
                    Ok(Goes::Over)
                }
            },
            () = sleep_until(next) => match self.base {
                Some(_) => self.acts().await,
                None => {
                    let what = format!("a store does not open within {OPENS_WITHIN:?}");
                    self.series.breach("opens", what);
                    Ok(Goes::Over)
                }
            },
        }
    }

    async fn hears(&mut self, say: Say) -> Result<Goes, RealError> {
        match say {
            Say::Open { ms } => {
                self.is_open = true;
                self.series.tally.opened.push(ms);
                if self.from == From::Open {
                    self.base = Some(Instant::now());
                }
                self.series.calls_open(&mut self.worker).await?;
                self.calls_more().await?;
            }
            Say::Told { order, told } => {
                if self.has_room_since.is_some() && matches!(told, Heard::Started { .. }) {
                    self.has_room_since = None;
                }
                if let Some(run) = self.series.told(order, told) {
                    let run = run.to_string();
                    self.worker.ask(&Ask::Cancel { order, run }).await?;
                }
                self.calls_more().await?;
            }
            Say::Refused { code } => {
                if self.filler.is_some() && code == FULL {
                    self.series.tally.figures.refused_while_full += 1;
                    self.is_refused = true;
                }
            }
            Say::Failed { code, message } => {
                let what = format!("a worker cannot go on: {code}: {message}");
                self.series.breach("opens", what);
                return Ok(Goes::Over);
            }
            Say::Finished => return Ok(Goes::Over),
        }
        Ok(Goes::On)
    }

    async fn acts(&mut self) -> Result<Goes, RealError> {
        let Some((_, act)) = self.acts.pop_front() else {
            return Ok(Goes::Over);
        };
        match act {
            Act::Pause(length) => {
                self.worker.stop();
                sleep(length).await;
                self.worker.go_on();
                self.series.tally.figures.pauses += 1;
            }
            Act::Jump(ms) => {
                self.series.jumps(ms);
                self.worker.ask(&Ask::Jump { ms }).await?;
            }
            Act::Rival => self.has_a_rival().await?,
            Act::Fill => {
                self.filler = self.series.filler().map(|filler| (filler, Instant::now()));
                self.is_refused = false;
                self.calls_more().await?;
            }
            Act::Room => self.has_room_again().await?,
            Act::Kill => return Ok(self.may_die()),
        }
        Ok(Goes::On)
    }

    /// The disk has room again, once somebody was refused for want of it.
    async fn has_room_again(&mut self) -> Result<(), RealError> {
        let since = self.filler.as_ref().map(|(_, since)| *since);
        if !self.is_refused && since.is_some_and(|since| since.elapsed() < REFUSES_WITHIN) {
            self.comes_later(Act::Room);
            return Ok(());
        }
        self.filler = None;
        self.series.tally.figures.full_disks += 1;
        self.has_room_since = Some(Instant::now());
        // Somebody has to want a run that can begin now.
        self.series.calls_one_more(&mut self.worker).await
    }

    /// There are always so many runs that somebody wants; more while a disk is full, so that some
    /// are refused.
    async fn calls_more(&mut self) -> Result<(), RealError> {
        let open = match self.filler {
            Some(_) => OPEN_WHILE_FULL,
            None => OPEN,
        };
        self.series.calls_more(&mut self.worker, open).await
    }

    /// A process whose disk had no room is let go only once a new run has begun.
    fn may_die(&mut self) -> Goes {
        let Some(since) = self.has_room_since else {
            return Goes::Over;
        };
        if TAKES_WITHIN < since.elapsed() {
            let what = format!("no run begins within {TAKES_WITHIN:?} of the room being there");
            self.series.breach("room", what);
            return Goes::Over;
        }
        self.comes_later(Act::Kill);
        Goes::On
    }

    /// Something that has to wait for something else is looked at again soon, before all that
    /// follows it.
    fn comes_later(&mut self, act: Act) {
        let base = self.base.unwrap_or_else(Instant::now);
        self.acts.push_front((base.elapsed() + LOOKS_AGAIN, act));
    }

    /// Another process wants the store, and is told that it is taken.
    async fn has_a_rival(&mut self) -> Result<(), RealError> {
        let mut rival = self.series.rival()?;
        let said = timeout(REFUSED_WITHIN, rival.says.recv()).await;
        match said {
            Ok(Some(Say::Failed { code, .. })) if code == LOCKED => {
                self.series.tally.figures.rivals_refused += 1;
            }
            other => {
                let what = format!("another process on the same store said {other:?}");
                self.series.breach("rival", what);
            }
        }
        let _ = rival.kill().await;
        Ok(())
    }

    async fn dies(self) {
        self.series.tally.figures.kills += 1;
        self.series.tally.figures.kills_while_opening += u32::from(!self.is_open);
        let Gone {
            said,
            status,
            stderr,
        } = self.worker.kill().await;
        self.series.heard_late(said);
        if status.is_none() {
            self.series
                .breach("life", "a killed process does not go".to_owned());
        }
        if !stderr.is_empty() {
            self.series
                .breach("life", format!("a worker said on stderr: {stderr}"));
        }
    }

    /// The last worker is not killed: everything ends. Why it does not.
    pub(super) async fn last(series: &'s mut Series<'a>) -> Result<Option<String>, RealError> {
        let plan = LifePlan {
            from: From::Open,
            acts: Vec::new(),
        };
        let mut life = Self::begin(series, plan)?;
        let ended = timeout(ENDS_WITHIN, life.ends_all()).await;
        let stuck = match ended {
            Ok(ended) => ended?,
            Err(_) => Some(format!("not everything ends within {ENDS_WITHIN:?}")),
        };
        let gone = match stuck {
            Some(_) => life.worker.kill().await,
            None => life.worker.gone().await,
        };
        let is_good = gone.status.is_some_and(|status| status.success());
        life.series.heard_late(gone.said);
        Ok(stuck.or_else(|| {
            let said = gone.stderr;
            (!is_good).then(|| format!("the last worker ended with {:?}: {said}", gone.status))
        }))
    }

    async fn ends_all(&mut self) -> Result<Option<String>, RealError> {
        let mut is_asked = false;
        loop {
            let Some(say) = self.worker.says.recv().await else {
                return Ok(Some("the last worker ended by itself".to_owned()));
            };
            match say {
                Say::Finished => return Ok(None),
                Say::Failed { code, message } => return Ok(Some(format!("{code}: {message}"))),
                Say::Open { ms } => {
                    self.series.tally.opened.push(ms);
                    self.series.calls_open(&mut self.worker).await?;
                }
                Say::Told { order, told } => drop(self.series.told(order, told)),
                Say::Refused { .. } => {}
            }
            if !is_asked && self.series.has_all_outcomes() {
                is_asked = true;
                self.worker.ask(&Ask::Finish).await?;
            }
        }
    }
}
