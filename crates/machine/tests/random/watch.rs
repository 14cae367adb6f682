//! The laws, checked at every event on a second run that only sees the log.
//!
//! That second run is replay: after each look it has to equal the live one.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_graph::{DependencyCap, FallbackKind};
use mainstay_machine::caps::DependencyUse;
use mainstay_machine::{
    AttemptStarted, AttemptState, Call, EffectStatus, Event, Head, Lap, Phase, Run, apply,
    compensate, effect, pending,
};
use mainstay_types::{AttemptNo, CallId, CostUnits, LapNo, Tokens};

use super::orphans::Orphans;
use super::storm::THEIRS;
use super::{elsewhere, model};
use crate::scenario::fair::Receiver;
use crate::scenario::world::World;

/// Follows a log.
pub(crate) struct Watch {
    run: Run,
    seen: usize,
    ends: BTreeMap<(CallId, AttemptNo), u32>,
    /// Whether something cost more than its estimate, or a client library retried.
    overshot: bool,
    orphans: Orphans,
    given: Given,
}

/// The cost units that each lap was given, by its start and by whoever raised them.
#[derive(Default)]
struct Given(Vec<(LapNo, CostUnits)>);

impl Given {
    fn enter(&mut self, event: &Event) {
        if let Event::RunStarted(started) = event {
            self.0.push((started.lap, started.budget.cost_units));
        } else if let Event::LapStarted(started) = event {
            self.0.push((started.lap, started.budget.cost_units));
        } else if let Event::BudgetRaised(raised) = event {
            let lap = self.0.last().expect("a lap is raised").0;
            self.0.push((lap, raised.more.cost_units));
        }
    }

    fn to(&self, lap: LapNo) -> CostUnits {
        let of_lap = self.0.iter().filter(|(of, _)| *of == lap);
        of_lap.map(|(_, given)| *given).sum()
    }
}

impl Watch {
    pub(crate) fn new(world: &World) -> Self {
        let run = Run::unborn(Arc::clone(world.run.class()));
        Self {
            run,
            seen: 0,
            ends: BTreeMap::new(),
            overshot: false,
            orphans: Orphans::of(world.run.class()),
            given: Given::default(),
        }
    }

    /// The end of an attempt is about to be reported.
    pub(crate) fn reported(&mut self, request: (CallId, AttemptNo)) {
        let call = self.run.calls().get(request.0);
        // What is reported later was ended before, by whomever.
        if call.is_some_and(|call| call.phase == Phase::InFlight(request.1)) {
            self.orphans.report(request);
        }
    }

    pub(crate) fn orphans(&self) -> &Orphans {
        &self.orphans
    }

    /// Checks what is new in the log.
    #[track_caller]
    pub(crate) fn look(&mut self, world: &World, receiver: &Receiver) {
        for stamped in &world.log[self.seen..] {
            elsewhere::check(world, &stamped.event);
            self.check_before(&stamped.event, receiver);
            let holds = self.orphans.enter(stamped);
            assert_eq!(holds, Ok(()), "{:?}", stamped.event);
            apply(&mut self.run, &stamped.event).expect("what was decided can be applied");
            self.given.enter(&stamped.event);
            self.check_budget();
        }
        self.seen = world.log.len();
        assert!(self.run == world.run, "replay is not live");
        assert_eq!(
            pending(&self.run, world.now),
            pending(&world.run, world.now)
        );
        assert_eq!(self.orphans.is_told(world.now), Ok(()));
        receiver.assert_at_most_once();
        check_answer(world);
        check_attempts_out(world);
    }

    fn check_before(&mut self, event: &Event, receiver: &Receiver) {
        match event {
            Event::AttemptStarted(started) => self.check_start(started, receiver),
            Event::AttemptSettled {
                call,
                attempt,
                cost,
                client_retries,
                ..
            } => {
                self.overshot |= self.reserved(*call, *attempt) < *cost || 0 < *client_retries;
                self.count_end(*call, *attempt);
            }
            Event::EffectCompensated { call } => self.check_undone(*call, receiver),
            Event::ToolCalled(called) => model::check(&self.run, called, receiver),
            Event::AttemptInterrupted { call, attempt, .. } => self.count_end(*call, *attempt),
            Event::LateResult { .. } => self.overshot = true,
            Event::LapEnded { .. } => {
                let head = self.run.head().expect("started");
                assert!(head.lap.outcome.is_none(), "two outcomes");
            }
            Event::RunStarted(_)
            | Event::AdmissionDecided(_)
            | Event::NextDecided(_)
            | Event::RepairWanted { .. }
            | Event::LeaseTaken(_)
            | Event::CallPrepared { .. }
            | Event::ListRecorded { .. }
            | Event::CallSettled { .. }
            | Event::CallRescheduled { .. }
            | Event::CallOmitted { .. }
            | Event::CallSkipped { .. }
            | Event::CallFailed { .. }
            | Event::CodeFailed { .. }
            | Event::EffectIntended { .. }
            | Event::EffectApplied { .. }
            | Event::EffectInDoubt { .. }
            | Event::EffectAbsent { .. }
            | Event::EffectPartlyApplied { .. }
            | Event::CompensationWanted(_)
            | Event::ControlSettled { .. }
            | Event::KeyAwaited { .. }
            | Event::KeyTakenOver { .. }
            | Event::LateValueRecorded { .. }
            | Event::AttemptOrphaned { .. }
            | Event::OrphanObserved { .. }
            | Event::OrphanAdopted { .. }
            | Event::OrphanClosed { .. }
            | Event::CancelRequested { .. }
            | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. }
            | Event::AddendumRecorded { .. }
            | Event::RunClosed
            | Event::RunQuarantined { .. }
            | Event::QuarantineLifted { .. }
            | Event::BudgetRaised(_)
            | Event::EffectSettledByHand(_)
            | Event::ToolsDone { .. }
            | Event::RunTerminated { .. } => {}
            Event::LapStarted(started) => {
                let head = self.run.head().expect("started");
                assert!(
                    head.lap.outcome.is_some(),
                    "a lap before the last has ended"
                );
                assert_eq!(started.lap, head.lap.no.next());
            }
        }
    }

    fn reserved(&self, call: CallId, attempt: AttemptNo) -> CostUnits {
        let call = self.run.calls().get(call);
        let made = call.and_then(|call| call.attempt(attempt));
        made.map_or(CostUnits::ZERO, |made| made.reserved)
    }

    fn count_end(&mut self, call: CallId, attempt: AttemptNo) {
        let ends = self.ends.entry((call, attempt)).or_default();
        *ends += 1;
        assert_eq!(*ends, 1, "a reservation is settled once");
    }

    /// Nothing starts in doubt, after the end, beyond the time, or beyond the budget.
    fn check_start(&self, started: &AttemptStarted, receiver: &Receiver) {
        let head = self.run.head().expect("started");
        let call = self.run.calls().get(started.call).expect("a call");
        if call.undoes.is_none() {
            check_lap(head, started);
        }
        self.check_sent(started, receiver);
        self.check_reserve(started);
    }

    /// A write leaves only where nothing of it may be in the world.
    fn check_sent(&self, started: &AttemptStarted, receiver: &Receiver) {
        let call = self.run.calls().get(started.call).expect("a call");
        let status = call.effect.as_ref().map(|effect| &effect.status);
        let may = match status {
            None | Some(EffectStatus::Intended | EffectStatus::Absent(_)) => true,
            Some(
                EffectStatus::Dispatched
                | EffectStatus::InDoubt(_)
                | EffectStatus::Applied(_)
                | EffectStatus::PartlyApplied
                | EffectStatus::Compensated,
            ) => false,
        };
        assert!(may, "a send while {status:?}");
        for no in call.attempts.iter().map(|made| made.no).chain([THEIRS]) {
            let request = (started.call, no);
            let may_land = receiver.has_landed(request) || receiver.is_coming(request);
            assert!(!may_land, "a second send beside {request:?}");
        }
    }

    fn check_reserve(&self, started: &AttemptStarted) {
        let head = self.run.head().expect("started");
        let call = self.run.calls().get(started.call).expect("a call");
        let budget = &head.lap.budget;
        // What undoes an effect brings what it costs: `check_cover` sees that the lap pays nothing.
        if !call.is_undo() {
            let taken = budget.spent + budget.reserved;
            let left = budget.limits.cost_units.less(taken);
            assert!(started.cost <= left, "cost beyond the limit");
            assert!(
                started.retry_tokens <= budget.retries_left(),
                "a retry beyond the limit"
            );
        }
        // What works in the process is no copy elsewhere.
        let contract = self.run.class().node(call.node).contract();
        let fallback = contract.and_then(|contract| contract.fallback(started.rung));
        let is_local = fallback.is_some_and(|rung| rung.kind == FallbackKind::LocalCompute);
        let held = match is_local {
            true => Tokens::ZERO,
            false => head.held_at(started.at),
        };
        assert!(
            held < budget.concurrency_left(),
            "an attempt beyond concurrency"
        );
    }

    /// Only what somebody wants undone is, and only by a request that is in the world.
    fn check_undone(&self, id: CallId, receiver: &Receiver) {
        let undone = self.run.calls().get(id).expect("a call");
        if effect::is_adopted(undone) {
            // Where it was done.
            return;
        }
        let (undo, call) = compensate::of(&self.run, id).expect("somebody asked for it");
        let landed = |made: &mainstay_machine::Attempt| receiver.has_landed((undo, made.no));
        let is_undone = call.attempts.iter().any(landed);
        assert!(is_undone, "undone by nothing");
    }

    /// The figures are the sum of the attempts, and within the limits unless something overshot.
    fn check_budget(&self) {
        let Some(head) = self.run.head() else { return };
        let calls = self.run.calls();
        let out = Tokens::new(u32::try_from(calls.in_flight().count()).expect("few are out"));
        assert_eq!(head.lap.budget.in_flight, out, "whichever lap sent them");
        // What another lap sent was within that one's limit, which somebody may have raised.
        let is_own = |call: &Call| call.in_flight().is_some_and(|out| out.lap == head.lap.no);
        let own = calls.in_flight().filter(|(_, call)| is_own(call)).count();
        let own = Tokens::new(u32::try_from(own).expect("few are out"));
        assert!(own <= head.lap.budget.limits.concurrency_tokens);
        for lap in head.past.iter().chain([&head.lap]) {
            self.check_budget_of(lap);
            self.check_cover(lap);
            self.check_uses_of(lap);
        }
        let parallel = self.run.class().caps.parallel_cost;
        let undoing = calls.in_flight().filter(|(_, call)| call.is_undo());
        let undoing = undoing.filter_map(|(_, call)| call.in_flight().map(|out| out.reserved));
        let reserved = head.lap.budget.reserved.less(undoing.sum());
        assert!(
            parallel.is_none_or(|cap| reserved <= cap),
            "too much at once"
        );
    }

    /// What undoes an effect takes nothing from a lap and leaves it nothing: the limit is what was
    /// given to it and what its undoing takes.
    fn check_cover(&self, lap: &Lap) {
        let undoing = self.run.calls().iter().filter(|(_, call)| call.is_undo());
        let made = undoing.flat_map(|(_, call)| &call.attempts);
        let taken = made
            .filter(|made| made.lap == lap.no)
            .map(|made| match made.state {
                AttemptState::InFlight => made.reserved,
                AttemptState::Answered { cost }
                | AttemptState::Failed { cost, .. }
                | AttemptState::Interrupted { cost }
                | AttemptState::Late { cost } => cost,
            });
        let limit = self.given.to(lap.no) + taken.sum();
        assert_eq!(lap.budget.limits.cost_units, limit, "paid by its lap");
    }

    /// The lap that sent an attempt pays for it, also when its end is known in a later one.
    fn check_budget_of(&self, lap: &Lap) {
        let budget = &lap.budget;
        let attempts = self.run.calls().iter().flat_map(|(_, call)| &call.attempts);
        let attempts = attempts.filter(|attempt| attempt.lap == lap.no);
        let (mut reserved, mut spent) = (CostUnits::ZERO, CostUnits::ZERO);
        let mut retries = Tokens::ZERO;
        for attempt in attempts {
            retries = retries + attempt.retry_tokens;
            match attempt.state {
                AttemptState::InFlight => reserved = reserved + attempt.reserved,
                AttemptState::Answered { cost }
                | AttemptState::Failed { cost, .. }
                | AttemptState::Interrupted { cost }
                | AttemptState::Late { cost } => spent = spent + cost,
            }
        }
        assert_eq!((budget.reserved, budget.spent), (reserved, spent));
        assert!(retries <= budget.retry_used && retries <= budget.limits.retry_tokens);
        if !self.overshot {
            assert!(
                spent + reserved <= budget.limits.cost_units,
                "authorised beyond the limit"
            );
            assert_eq!(retries, budget.retry_used);
        }
    }
}

impl Watch {
    /// What a lap has taken of its caps is the sum of its attempts, and within them.
    fn check_uses_of(&self, lap: &Lap) {
        let caps = &self.run.class().caps;
        let of_lap = |call: &Call| call.attempts.iter().filter(|a| a.lap == lap.no).count();
        let made: Vec<usize> = self
            .run
            .calls()
            .iter()
            .filter(|(_, call)| !call.is_undo())
            .map(|(_, call)| of_lap(call))
            .collect();
        let number = |n: usize| u32::try_from(n).expect("few");
        let attempts = number(made.iter().sum());
        let branches = number(made.iter().filter(|made| **made != 0).count());
        assert_eq!((lap.uses.attempts, lap.uses.branches), (attempts, branches));
        assert!(caps.attempts.is_none_or(|cap| attempts <= cap));
        assert!(caps.branches.is_none_or(|cap| branches <= cap));
        for (cap, taken) in caps.dependencies.iter().zip(&lap.uses.dependencies) {
            self.check_use(lap, cap, taken);
        }
    }

    fn check_use(&self, lap: &Lap, cap: &DependencyCap, taken: &DependencyUse) {
        let mut sum = DependencyUse::default();
        let newest = self.run.head().expect("started").lap.no == lap.no;
        for (_, call) in self.run.calls().iter().filter(|(_, call)| !call.is_undo()) {
            let contract = self.run.class().node(call.node).contract();
            for made in &call.attempts {
                let asks = contract.and_then(|contract| match made.rung.get() {
                    0 => Some(&contract.dependency),
                    below => contract.fallbacks[usize::from(below) - 1]
                        .dependency
                        .as_ref(),
                });
                if asks != Some(&cap.dependency) {
                    continue;
                }
                let out = made.state == AttemptState::InFlight;
                if newest && out {
                    sum.in_flight = sum.in_flight + Tokens::new(1);
                }
                if made.lap == lap.no {
                    sum.retry_used = sum.retry_used + made.retry_tokens;
                    match made.state {
                        AttemptState::InFlight => sum.reserved = sum.reserved + made.reserved,
                        AttemptState::Answered { cost }
                        | AttemptState::Failed { cost, .. }
                        | AttemptState::Interrupted { cost }
                        | AttemptState::Late { cost } => sum.spent = sum.spent + cost,
                    }
                }
            }
        }
        assert_eq!(
            (taken.in_flight, taken.reserved),
            (sum.in_flight, sum.reserved)
        );
        assert_eq!(taken.spent, sum.spent);
        assert!(
            cap.concurrency_tokens
                .is_none_or(|cap| sum.in_flight <= cap)
        );
        assert!(cap.retry_tokens.is_none_or(|cap| sum.retry_used <= cap));
        if !self.overshot {
            assert_eq!(taken.retry_used, sum.retry_used);
            let cost = sum.spent + sum.reserved;
            assert!(
                cap.cost_units.is_none_or(|cap| cost <= cap),
                "a dependency's cost"
            );
        }
    }
}

/// A lap sends nothing after its end, or beyond its time.
fn check_lap(head: &Head, started: &AttemptStarted) {
    assert!(
        head.lap.outcome.is_none() && head.cancel.is_none(),
        "a start after the end"
    );
    let times = &head.lap.times;
    let until = times
        .expires_at
        .map_or(times.work_by, |expires| times.work_by.min(expires));
    assert!(
        started.at + started.timeout <= until,
        "an attempt beyond the time"
    );
}

/// While someone drives the run, its caller has an answer by `answer_by`.
fn check_answer(world: &World) {
    let head = world.run.head().expect("started");
    let lap = &head.lap;
    let answered = lap.outcome.is_some() || lap.later.is_some() || head.quarantined.is_some();
    assert!(
        answered || world.now < lap.times.answer_by,
        "no answer at its time"
    );
}

/// Every attempt in flight is an action of this owner, and nothing else is.
fn check_attempts_out(world: &World) {
    let head = world.run.head().expect("started");
    if head.quarantined.is_some() {
        return;
    }
    let actions = pending(&world.run, world.now);
    for (call, state) in world.run.calls().in_flight() {
        let attempt = state.in_flight().expect("it is in flight").no;
        let action = mainstay_machine::Action::Attempt { call, attempt };
        assert!(actions.contains(&action), "nobody runs {action:?}");
    }
}
