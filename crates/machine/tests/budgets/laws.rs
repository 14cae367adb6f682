//! The laws of a budget, each with a name, and what the books say about them after every event.
//!
//! A law that is broken is told with its numbers; nothing here knows why the core decided as it
//! did. `bends` holds, for each law, a core or a log that breaks it.

use std::fmt;

use mainstay_graph::{DependencyCap, FallbackKind};
use mainstay_machine::{AttemptStarted, Event, Lap, Run};
use mainstay_types::{CostUnits, LapNo, Millis, NodeId, Rung, Timestamp, Tokens};

use super::books::{Books, CallBook, End, Entry, LapBook};
use super::reserve;

/// What has to hold at every prefix of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Law {
    /// An event names a lap, call or attempt that exists.
    Known,
    /// Retry tokens, those of client libraries included, are within the lap's when one is taken.
    Retries,
    /// An attempt beyond the lap's first of its call takes a retry token, where it loads anybody.
    Paid,
    /// A call takes no more retry tokens than its contract says.
    CallRetries,
    /// A rung has no more attempts that count than its contract says.
    RungAttempts,
    /// Attempts that are out, or may be without their process, are within the tokens.
    Concurrency,
    /// What is reserved and spent is within the limit when an attempt is authorised.
    Cost,
    /// What lies beyond a limit is what attempts that were out cost more than was reserved for
    /// them, and what client libraries retried. Source: architecture, G3.
    Overshoot,
    /// Attempts of all calls are within the cap.
    Attempts,
    /// Calls that are attempted are within the cap.
    Branches,
    /// What is reserved at once is within the cap.
    AtOnce,
    /// A dependency's retries are within its cap.
    DependencyRetries,
    /// A dependency's attempts at once are within its cap.
    DependencyConcurrency,
    /// What a dependency costs is within its cap.
    DependencyCost,
    /// An attempt can end before `work_by` less all reserves.
    Covered,
    /// A reservation is settled or refunded once.
    SettledOnce,
    /// A cost is corrected once, and only one that was assumed or of an attempt that failed.
    CorrectedOnce,
    /// A run that owes nothing has nothing reserved.
    AllSettled,
    /// The core's figures are the sums over the attempts.
    Figures,
}

impl Law {
    /// Every law.
    pub(crate) const ALL: [Self; 19] = [
        Self::Known,
        Self::Retries,
        Self::Paid,
        Self::CallRetries,
        Self::RungAttempts,
        Self::Concurrency,
        Self::Cost,
        Self::Overshoot,
        Self::Attempts,
        Self::Branches,
        Self::AtOnce,
        Self::DependencyRetries,
        Self::DependencyConcurrency,
        Self::DependencyCost,
        Self::Covered,
        Self::SettledOnce,
        Self::CorrectedOnce,
        Self::AllSettled,
        Self::Figures,
    ];
}

/// A law that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) law: Law,
    told: String,
}

impl Broken {
    pub(super) const fn of(law: Law, told: String) -> Self {
        Self { law, told }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.told)
    }
}

/// `law` when `holds` does not.
pub(super) fn keep(holds: bool, law: Law, told: impl FnOnce() -> String) -> Result<(), Broken> {
    match holds {
        true => Ok(()),
        false => Err(Broken::of(law, told())),
    }
}

/// What a rung promises, as far as a law asks.
struct Promise {
    attempts: u32,
    timeout: Millis,
    useful: Millis,
    is_load: bool,
}

impl Books {
    /// What has to hold before an attempt is entered.
    pub(super) fn check_start(&mut self, started: &AttemptStarted) -> Result<(), Broken> {
        let lap = self.newest()?.clone();
        let call = self.call(started.call)?.clone();
        let promise = self.promise(call.node, started.rung);
        let promise =
            promise.ok_or_else(|| Broken::of(Law::Known, format!("no rung {}", started.rung)))?;
        self.check_times(&lap, started, &promise, call.node)?;
        let in_lap = || call.entries.iter().filter(|made| made.lap == lap.no);
        let never_came = call.is_absent
            && matches!(
                call.entries.last().map(|last| last.end),
                Some(End::Assumed(_))
            );
        let pays = in_lap().any(|made| !made.is_stopped) && promise.is_load && !never_came;
        keep(
            started.retry_tokens == Tokens::new(u32::from(pays)),
            Law::Paid,
            || format!("{started:?} after {:?}", call.entries),
        )?;
        let counted = in_lap().filter(|made| made.rung == started.rung && made.counts);
        let counted = number(counted.count());
        keep(counted < promise.attempts, Law::RungAttempts, || {
            format!("{started:?}: {counted} of {}", promise.attempts)
        })?;
        let cap = self
            .class
            .node(call.node)
            .contract()
            .and_then(|all| all.retry_cap);
        let taken = in_lap().fold(started.retry_tokens, |sum, made| sum + made.tokens);
        keep(cap.is_none_or(|cap| taken <= cap), Law::CallRetries, || {
            format!("{started:?}: {taken} of {cap:?}")
        })
    }

    /// Time for the attempt, for the rungs below it and for everything that follows it.
    fn check_times(
        &self,
        lap: &LapBook,
        started: &AttemptStarted,
        promise: &Promise,
        node: NodeId,
    ) -> Result<(), Broken> {
        let times = &lap.times;
        let until = times
            .expires_at
            .map_or(times.work_by, |void| void.min(times.work_by));
        let contract = self.class.node(node).contract();
        let below = contract.map_or(Millis::ZERO, |all| reserve::below(all, started.rung));
        let after = self.reserves[usize::from(node.get())];
        let end = started.at + started.timeout + after + below;
        let is_useful = promise.useful.max(Millis::new(1)) <= started.timeout;
        let fits = end <= until && is_useful && started.timeout <= promise.timeout;
        keep(fits && !lap.has_ended, Law::Covered, || {
            format!("{started:?} with {after} after it, {below} below it, until {until:?}")
        })
    }

    /// What has to hold after an event was entered.
    pub(super) fn check(&mut self, event: &Event) -> Result<(), Broken> {
        let mut started = None;
        if let Event::AttemptStarted(start) = event {
            self.check_concurrency(start.at)?;
            self.check_counts()?;
            started = Some(start);
        }
        for lap in &self.laps {
            self.check_sums(lap, started.filter(|_| Some(lap.no) == self.newest_no()))?;
        }
        let out = self.sums(|entry| entry.end == End::Out).out;
        keep(
            !self.is_closed || out == Tokens::ZERO,
            Law::AllSettled,
            || format!("closed with {out} out"),
        )
    }

    fn newest_no(&self) -> Option<LapNo> {
        self.laps.last().map(|lap| lap.no)
    }

    /// Cost and retries of one lap, and of each dependency in it.
    fn check_sums(&self, lap: &LapBook, started: Option<&AttemptStarted>) -> Result<(), Broken> {
        let pays = started.is_some_and(|started| started.cost != CostUnits::ZERO);
        let retries = started.is_some_and(|started| started.retry_tokens != Tokens::ZERO);
        let caps = self.class.caps.dependencies.iter().map(Some);
        for (place, cap) in std::iter::once(None).chain(caps).enumerate() {
            let of = place.checked_sub(1);
            let sums = self.sums(|made| made.lap == lap.no && (cap.is_none() || made.place == of));
            let Limits {
                cost,
                tokens,
                of_cost,
                of_retries,
            } = Limits::of(lap, cap);
            let beyond = lap.beyond[place];
            let (used, taken) = (
                sums.spent + sums.reserved,
                sums.tokens + sums.client_retries,
            );
            let law = if pays { of_cost } else { Law::Overshoot };
            keep(
                cost.is_none_or(|most| used <= most + beyond.cost),
                law,
                || format!("{used} of {cost:?}, excused {beyond:?}, {started:?}"),
            )?;
            let law = if retries { of_retries } else { Law::Overshoot };
            let is_within = tokens.is_none_or(|most| taken <= most + beyond.retries);
            keep(is_within, law, || {
                format!("{taken} of {tokens:?}, excused {beyond:?}, {started:?}")
            })?;
        }
        Ok(())
    }

    /// What is out, and what may be out without its process, at the moment of a start.
    fn check_concurrency(&self, now: Timestamp) -> Result<(), Broken> {
        let lives = |made: &Entry| {
            let is_unheard = matches!(made.end, End::Assumed(_) | End::Failed(_));
            let is_left = is_unheard && made.outlives && now < made.until;
            (made.end == End::Out && !made.is_local) || is_left
        };
        let out = self.sums(|made| made.end == End::Out).attempts;
        let live = Tokens::new(self.sums(lives).attempts.max(out));
        let most = self.laps.last().map(|lap| lap.limits.concurrency_tokens);
        keep(
            most.is_some_and(|most| live <= most),
            Law::Concurrency,
            || format!("{live} of {most:?} at {now:?}"),
        )?;
        for (place, cap) in self.class.caps.dependencies.iter().enumerate() {
            let live = self
                .sums(|made| made.place == Some(place) && lives(made))
                .attempts;
            let is_within = cap
                .concurrency_tokens
                .is_none_or(|most| Tokens::new(live) <= most);
            keep(is_within, Law::DependencyConcurrency, || {
                format!("{live} of {cap:?}")
            })?;
        }
        Ok(())
    }

    /// Attempts, branches and cost at once of the newest lap.
    fn check_counts(&self) -> Result<(), Broken> {
        let caps = &self.class.caps;
        let Some(no) = self.newest_no() else {
            return Ok(());
        };
        let sums = self.sums(|made| made.lap == no);
        let is_within = caps.attempts.is_none_or(|most| sums.attempts <= most);
        keep(is_within, Law::Attempts, || {
            format!("{} of {:?}", sums.attempts, caps.attempts)
        })?;
        let branches = self.branches(no);
        let is_within = caps.branches.is_none_or(|most| branches <= most);
        keep(is_within, Law::Branches, || {
            format!("{branches} of {:?}", caps.branches)
        })?;
        let is_within = caps.parallel_cost.is_none_or(|most| sums.reserved <= most);
        keep(is_within, Law::AtOnce, || {
            format!("{} of {:?}", sums.reserved, caps.parallel_cost)
        })
    }

    fn branches(&self, lap: LapNo) -> u32 {
        let has_any = |call: &&CallBook| call.entries.iter().any(|made| made.lap == lap);
        number(self.calls.iter().filter(has_any).count())
    }

    /// Whether the core's figures are these sums. `now`: for what is held.
    pub(crate) fn check_figures(&self, run: &Run, now: Timestamp) -> Result<(), Broken> {
        let Some(head) = run.head() else {
            return Ok(());
        };
        for lap in head.past.iter().chain([&head.lap]) {
            self.check_lap(lap, lap.no == head.lap.no)?;
        }
        // A report of an attempt that is held does not free its place: it was said to be dead.
        let held = self.sums(|made| made.outlives && now < made.until).attempts;
        keep(head.held_at(now) == Tokens::new(held), Law::Figures, || {
            format!("{held} are held, not {}", head.held_at(now))
        })
    }

    fn check_lap(&self, lap: &Lap, is_newest: bool) -> Result<(), Broken> {
        let (sums, budget) = (self.sums(|made| made.lap == lap.no), &lap.budget);
        let mine = (
            sums.tokens + sums.client_retries,
            (sums.reserved, sums.spent, sums.assumed),
            (sums.attempts, self.branches(lap.no)),
        );
        let theirs = (
            budget.retry_used,
            (budget.reserved, budget.spent, budget.assumed),
            (lap.uses.attempts, lap.uses.branches),
        );
        keep(mine == theirs, Law::Figures, || {
            format!("{mine:?} and not {theirs:?}")
        })?;
        let limits = self
            .laps
            .iter()
            .find(|book| book.no == lap.no)
            .map(|book| book.limits);
        keep(limits == Some(budget.limits), Law::Figures, || {
            format!("{limits:?}")
        })?;
        if is_newest {
            let out = self.sums(|made| made.end == End::Out).out;
            keep(budget.in_flight == out, Law::Figures, || {
                format!("{out} are out")
            })?;
        }
        for (place, taken) in lap.uses.dependencies.iter().enumerate() {
            let of = self.sums(|made| made.lap == lap.no && made.place == Some(place));
            let mine = (of.tokens + of.client_retries, of.reserved, of.spent);
            let theirs = (taken.retry_used, taken.reserved, taken.spent);
            keep(mine == theirs, Law::Figures, || {
                format!("{mine:?} and not {theirs:?}")
            })?;
        }
        Ok(())
    }

    fn promise(&self, node: NodeId, rung: Rung) -> Option<Promise> {
        let contract = self.class.node(node).contract()?;
        let Some(below) = usize::from(rung.get()).checked_sub(1) else {
            return Some(Promise {
                attempts: contract.max_attempts,
                timeout: contract.timeout,
                useful: contract.min_useful,
                is_load: true,
            });
        };
        let fallback = contract
            .fallbacks
            .get(below)
            .filter(|rung| rung.kind.attempts())?;
        Some(Promise {
            attempts: fallback.max_attempts,
            timeout: fallback.timeout,
            useful: fallback.min_useful,
            is_load: fallback.kind == FallbackKind::Provider,
        })
    }
}

/// The limits of a lap or of a dependency in it, and whose law they are.
struct Limits {
    cost: Option<CostUnits>,
    tokens: Option<Tokens>,
    of_cost: Law,
    of_retries: Law,
}

impl Limits {
    const fn of(lap: &LapBook, cap: Option<&DependencyCap>) -> Self {
        match cap {
            None => Self {
                cost: Some(lap.limits.cost_units),
                tokens: Some(lap.limits.retry_tokens),
                of_cost: Law::Cost,
                of_retries: Law::Retries,
            },
            Some(cap) => Self {
                cost: cap.cost_units,
                tokens: cap.retry_tokens,
                of_cost: Law::DependencyCost,
                of_retries: Law::DependencyRetries,
            },
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("few")
}
