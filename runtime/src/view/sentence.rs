//! One sentence per event, with the numbers its decision used.
//!
//! For people: programs read the fields of the view. No sentence shows a payload or the words of a
//! provider or of a panic; moments are given from the run's start, as the timeline gives its own.

use mainstay_ledger::Recorded;
use mainstay_machine::{
    AttemptEnd, AttemptStarted, Call, CompensationWanted, Event, LapStarted, LeaseTaken,
    OutcomeKind, Prepared, Raise, Run, RunStarted, SettledByHand, ToolCalled, ToolMade,
};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, EffectKey, Failure, FailureKind, Millis, Payload, Reason, RunId,
    Rung, Timestamp, Tokens,
};

use super::call::dependency;
use super::decided;
use super::given_up;
use super::hidden::is_code;
use super::text::plain;

/// Digits of a fingerprint that a sentence shows.
const DIGITS: usize = 12;

/// Calls that a sentence names; of more, it says how many.
const CALLS_MAX: usize = 5;

/// Tells what happened to a run.
pub(super) struct Teller<'a> {
    pub(super) run: &'a Run,
    pub(super) start: Timestamp,
}

/// `+4.250 s` from the run's start.
pub(super) fn moment(since_start: Millis) -> String {
    let ms = since_start.get();
    format!("+{}.{:03} s", ms / 1_000, ms % 1_000)
}

impl Teller<'_> {
    // A table: one arm per event, its words in the method beside it.
    #[rustfmt::skip]
    pub(super) fn sentence(&self, entry: &Recorded) -> String {
        match &entry.event {
            Event::RunStarted(started) => self.started(started),
            Event::AdmissionDecided(admission) => decided::admitted(admission),
            Event::NextDecided(decision) => self.of(decision.call, &decided::next(decision)),
            Event::RepairWanted { call, of } =>
                self.of(*call, &format!("is asked once more, with what was wrong at attempt {of}")),
            Event::LeaseTaken(lease) => lease_taken(lease),
            Event::CallPrepared { call, prepared } => self.prepared(*call, prepared),
            Event::ListRecorded { call, items } => self.listed(*call, items),
            Event::AttemptStarted(started) => self.attempt_started(started),
            Event::AttemptSettled { call, attempt, end, cost, client_retries } => {
                let spent = self.spent((*call, *attempt), entry.at, *cost, *client_retries);
                self.attempt_settled((*call, *attempt), end, &spent)
            }
            Event::AttemptInterrupted { call, attempt, cost } =>
                self.interrupted(*call, *attempt, *cost),
            Event::CallSettled { call, rung, result } => self.settled(*call, *rung, result),
            Event::CallRescheduled { call, rung, not_before, reason } =>
                self.rescheduled(*call, *rung, *not_before, *reason),
            Event::CallOmitted { call, reason } => self.omitted(*call, *reason),
            Event::CallSkipped { call } => self.of(*call, "is skipped: its predicate said no"),
            Event::CallFailed { call, kind, reason } =>
                self.failed(*call, (*kind, *reason)),
            Event::CodeFailed { call, kind, .. } => self.code_failed(*call, *kind),
            Event::EffectIntended { call, key } => self.intended(*call, key),
            Event::EffectApplied { call, result, reason } => self.applied(*call, result, *reason),
            Event::EffectInDoubt { call, reason, lookup_at, absent_after } =>
                self.in_doubt(*call, *reason, *lookup_at, *absent_after),
            Event::EffectAbsent { call, reason } => self.absent(*call, *reason),
            Event::EffectPartlyApplied { call } => self.partly(*call),
            Event::EffectSettledByHand(settled) => self.by_hand(settled),
            Event::CompensationWanted(wanted) => self.wanted(wanted),
            Event::EffectCompensated { call } => self.of(*call, "is undone"),
            Event::ToolCalled(called) => self.tool_called(called),
            Event::ToolsDone { call } => self.of(*call, "the model is done"),
            Event::ControlSettled { call, number, reason, next_at } =>
                self.looked_up(*call, *number, *reason, *next_at),
            Event::KeyTakenOver { call, holder, absent_after, .. } =>
                self.taken_over(*call, *holder, *absent_after),
            Event::KeyAwaited { call, holder, until } => self.awaited(*call, *holder, *until),
            Event::LateResult { call, attempt, cost, client_retries } =>
                self.late(*call, *attempt, (*cost, *client_retries)),
            Event::LateValueRecorded { call, attempt, policy, value } =>
                self.late_value((*call, *attempt), *policy, value.as_ref()),
            Event::AttemptOrphaned { call, attempt, owner, until } =>
                self.orphaned((*call, *attempt), owner, *until),
            Event::OrphanObserved { call, attempt, seen } =>
                self.observed((*call, *attempt), *seen),
            Event::OrphanAdopted { call, attempt, by, why, until } =>
                self.adopted((*call, *attempt), (by, why), *until),
            Event::OrphanClosed { call, attempt, by, why } =>
                self.closed_orphan((*call, *attempt), (by, why)),
            Event::CancelRequested { by, why } => format!("{by} asked the run to stop: {why}"),
            Event::HardPathLost { call } => self.lost(*call),
            Event::AnsweredLater { doubts, expected_by } => self.later(doubts, *expected_by),
            Event::LapEnded { outcome, reason, result, at } =>
                self.ended((*outcome, *reason), result.as_ref(), *at),
            Event::AddendumRecorded { call, reason } => self.learned(*call, *reason),
            Event::RunClosed => "the run is closed: it owes nothing".to_owned(),
            Event::RunQuarantined(why) => format!("the run is quarantined: {}", why.code),
            Event::QuarantineLifted { by, why } => format!("{by} had the run driven again: {why}"),
            Event::RunTerminated { by, why } => format!("{by} ended the run: {why}"),
            Event::LapStarted(started) => self.lap_started(started),
            Event::BudgetRaised(raised) => budget_raised(raised),
        }
    }

    fn code_failed(&self, call: Option<CallId>, kind: FailureKind) -> String {
        match call {
            Some(call) => self.of(call, &format!("could not be made by its own code: {kind}")),
            None => format!("the result could not be put together by its own code: {kind}"),
        }
    }

    fn failed(&self, call: CallId, (kind, reason): (FailureKind, Reason)) -> String {
        let undoes = self.run.calls().get(call).is_some_and(Call::is_undo);
        let is_held = [Reason::KeyHeldByOtherRun, Reason::IdempotencyMismatch].contains(&reason);
        let to_do = match undoes && is_held {
            true => ": another undo has its key; undo it by hand, at the receiver",
            false => "",
        };
        self.of(call, &format!("failed: {kind}, {reason}{to_do}"))
    }

    fn omitted(&self, call: CallId, reason: Reason) -> String {
        self.of(call, &format!("is left out: {reason}"))
    }

    /// A sentence whose subject is a call.
    fn of(&self, call: CallId, what: &str) -> String {
        format!("{} {what}", self.path(call))
    }

    fn path(&self, call: CallId) -> String {
        self.run.path(call)
    }

    pub(super) fn attempt(&self, call: CallId, attempt: AttemptNo) -> String {
        format!("{} attempt {attempt}", self.path(call))
    }

    pub(super) fn at(&self, at: Timestamp) -> String {
        moment(at.since(self.start))
    }

    /// Who stands on a rung of a call: `policy`, `fallback 1 (snapshot)`.
    fn rung(&self, call: CallId, rung: Rung) -> String {
        let call = self.run.calls().get(call);
        let contract = call.and_then(|call| self.run.class().node(call.node).contract());
        let name = contract.and_then(|contract| dependency(contract, rung));
        match (rung, name) {
            (Rung(0), Some(name)) => name,
            (Rung(0), None) => "its own code".to_owned(),
            (rung, Some(name)) => format!("fallback {rung} ({name})"),
            (rung, None) => format!("fallback {rung}"),
        }
    }

    fn lap_started(&self, started: &LapStarted) -> String {
        let LapStarted { lap, by, why, .. } = started;
        let (times, budget) = (&started.times, &started.budget);
        let (answer_by, work_by) = (self.at(times.answer_by), self.at(times.work_by));
        format!(
            "lap {lap} began, {by} asked for it: {why}; answer by {answer_by}, work by {work_by}; \
             {}, {}, {} cost units",
            tokens(budget.retry_tokens, "retry token"),
            tokens(budget.concurrency_tokens, "concurrency token"),
            budget.cost_units,
        )
    }

    fn started(&self, started: &RunStarted) -> String {
        let class = &started.class;
        let key = started
            .start_key
            .as_ref()
            .map_or_else(String::new, |key| format!(", key {key}"));
        let times = &started.times;
        let (answer_by, work_by) = (self.at(times.answer_by), self.at(times.work_by));
        let expires = times.expires_at;
        let expires =
            expires.map_or_else(String::new, |at| format!(", expires at {}", self.at(at)));
        let budget = &started.budget;
        format!(
            "{} v{} started for {}{key}: answer by {answer_by}, work by {work_by}{expires}; \
             {}, {}, {} cost units",
            class.name,
            class.version,
            started.tenant,
            tokens(budget.retry_tokens, "retry token"),
            tokens(budget.concurrency_tokens, "concurrency token"),
            budget.cost_units
        )
    }

    fn prepared(&self, call: CallId, prepared: &Prepared) -> String {
        let path = self.path(call);
        let digits: String = prepared
            .fingerprint
            .to_string()
            .chars()
            .take(DIGITS)
            .collect();
        let id = prepared.business_id.as_ref();
        let id = id.map_or_else(String::new, |id| format!(", business id {id}"));
        let bytes = bytes(&prepared.request);
        format!("{path}: the request is fixed: {bytes}, fingerprint {digits}{id}")
    }

    fn listed(&self, call: CallId, items: &[Prepared]) -> String {
        format!(
            "{}: the list is fixed: {}",
            self.path(call),
            count(items.len(), "item")
        )
    }

    fn attempt_started(&self, started: &AttemptStarted) -> String {
        let retry = match started.retry_tokens {
            Tokens::ZERO => String::new(),
            used => format!(", {}", tokens(used, "retry token")),
        };
        format!(
            "{} to {} may leave: timeout {}, cost {} reserved{retry}",
            self.attempt(started.call, started.attempt),
            self.rung(started.call, started.rung),
            started.timeout,
            started.cost
        )
    }

    /// What an attempt used: `cost 0.1, after 312 ms, 2 retries inside its client`.
    fn spent(
        &self,
        (call, attempt): (CallId, AttemptNo),
        ended: Timestamp,
        cost: CostUnits,
        client_retries: u32,
    ) -> String {
        let made = self
            .run
            .calls()
            .get(call)
            .and_then(|call| call.attempt(attempt));
        let took = made.map(|made| ended.since(made.at));
        let took = took.map_or_else(String::new, |took| format!(", after {took}"));
        let retries = match client_retries {
            0 => String::new(),
            1 => ", 1 retry inside its client".to_owned(),
            many => format!(", {many} retries inside its client"),
        };
        format!("cost {cost}{took}{retries}")
    }

    fn attempt_settled(
        &self,
        (call, attempt): (CallId, AttemptNo),
        end: &AttemptEnd,
        spent: &str,
    ) -> String {
        let attempt = self.attempt(call, attempt);
        match end {
            AttemptEnd::Answered => format!("{attempt} answered: {spent}"),
            AttemptEnd::Failed(failure) => format!("{attempt} failed: {}", failed(failure, spent)),
        }
    }

    fn interrupted(&self, call: CallId, attempt: AttemptNo, cost: CostUnits) -> String {
        let attempt = self.attempt(call, attempt);
        format!("{attempt} was interrupted: its process is gone; cost {cost}, assumed")
    }

    fn late(
        &self,
        call: CallId,
        attempt: AttemptNo,
        (cost, client_retries): (CostUnits, u32),
    ) -> String {
        let attempt = self.attempt(call, attempt);
        let retries = match client_retries {
            0 => String::new(),
            many => format!(", {many} retries of its client library"),
        };
        format!("{attempt} was heard of when it was over, cost {cost}{retries}")
    }

    fn rescheduled(&self, call: CallId, rung: Rung, from: Timestamp, reason: Reason) -> String {
        let (path, whom, from) = (self.path(call), self.rung(call, rung), self.at(from));
        format!("{path} is tried again with {whom} from {from}: {reason}")
    }

    fn settled(&self, call: CallId, rung: Rung, result: &Payload) -> String {
        let kept = given_up::kept_from(self.run, call, result);
        let from = match (kept, rung) {
            (Some(no), _) => format!(" from the late answer of attempt {no}, which was kept"),
            (None, Rung(0)) => String::new(),
            (None, rung) => format!(" from {}", self.rung(call, rung)),
        };
        format!("{} has its value{from}: {}", self.path(call), bytes(result))
    }

    fn intended(&self, call: CallId, key: &EffectKey) -> String {
        format!(
            "{}: the effect is intended under key {key}",
            self.path(call)
        )
    }

    fn in_doubt(
        &self,
        call: CallId,
        reason: Reason,
        lookup_at: Timestamp,
        absent_after: Timestamp,
    ) -> String {
        format!(
            "{}: the effect is in doubt: {reason}; the receiver is asked at {}, \"not found\" \
             counts from {}",
            self.path(call),
            self.at(lookup_at),
            self.at(absent_after)
        )
    }

    fn applied(&self, call: CallId, result: &Payload, reason: Reason) -> String {
        let (path, bytes) = (self.path(call), bytes(result));
        format!("{path}: the effect is applied: {reason}, answer of {bytes}")
    }

    fn absent(&self, call: CallId, reason: Reason) -> String {
        let path = self.path(call);
        if reason == Reason::KeyHeldByOtherRun {
            return format!(
                "{path}: another run has taken the effect over, and finds out about it"
            );
        }
        format!("{path}: the effect is not applied: {reason}")
    }

    fn partly(&self, call: CallId) -> String {
        let path = self.path(call);
        format!("{path}: the effect is applied in part; a person has to look")
    }

    fn tool_called(&self, called: &ToolCalled) -> String {
        let (path, id) = (self.path(called.tools), plain(&called.id));
        match &called.made {
            ToolMade::New {
                node,
                slot,
                prepared,
            } => {
                let tool = &self.run.class().node(*node).name;
                let bytes = prepared.request.len();
                format!("{path}: the model asks for {tool} ({id}), slot {slot}, with {bytes} bytes")
            }
            ToolMade::Joined(call) => {
                let same = self.path(*call);
                format!("{path}: the model asks again ({id}): it is the same as {same}")
            }
        }
    }

    fn by_hand(&self, settled: &SettledByHand) -> String {
        let (path, by, why) = (self.path(settled.call), &settled.by, &settled.why);
        let ruling = settled.ruling.as_str().replace('_', " ");
        format!("{path}: {by} says that the effect is {ruling}: {why}")
    }

    fn wanted(&self, wanted: &CompensationWanted) -> String {
        let (path, by, why) = (self.path(wanted.call), &wanted.by, &wanted.why);
        let (cost, retries) = (wanted.cost, tokens(wanted.retry_tokens, "retry token"));
        format!(
            "{path}: {by} wants the effect undone: {why}; granted for it: {cost} cost units and \
             {retries}"
        )
    }

    fn looked_up(&self, call: CallId, number: u32, reason: Reason, next: Timestamp) -> String {
        let (path, next) = (self.path(call), self.at(next));
        format!("{path}: look-up {number} says {reason}; the next is at {next}")
    }

    fn lost(&self, call: CallId) -> String {
        let path = self.path(call);
        format!("the run cannot be completed without {path}; no write starts from here on")
    }

    fn learned(&self, call: CallId, reason: Reason) -> String {
        format!("{}: learned after the outcome: {reason}", self.path(call))
    }

    fn awaited(&self, call: CallId, holder: RunId, until: Timestamp) -> String {
        let (path, until) = (self.path(call), self.at(until));
        format!("{path}: run {holder} holds the effect key; asked again at {until}")
    }

    fn taken_over(&self, call: CallId, holder: RunId, absent_after: Timestamp) -> String {
        let (path, after) = (self.path(call), self.at(absent_after));
        format!(
            "{path}: run {holder} holds the effect key and cannot go on: what became of its write is \
             asked from here; \"not found\" is believed from {after}"
        )
    }

    fn later(&self, doubts: &[CallId], expected_by: Timestamp) -> String {
        let mut named: Vec<String> = doubts
            .iter()
            .take(CALLS_MAX)
            .map(|&call| self.path(call))
            .collect();
        if CALLS_MAX < doubts.len() {
            named.push(format!("{} more", doubts.len() - CALLS_MAX));
        }
        let doubts = match named.as_slice() {
            [] => "work goes on".to_owned(),
            named => format!("in doubt: {}", named.join(", ")),
        };
        let by = self.at(expected_by);
        format!("the caller was told \"later\": {doubts}; the outcome is expected by {by}")
    }

    fn ended(
        &self,
        (outcome, reason): (OutcomeKind, Reason),
        result: Option<&Payload>,
        at: Timestamp,
    ) -> String {
        let result = result.map(bytes);
        let result = result.map_or_else(String::new, |bytes| format!(", result of {bytes}"));
        let took = at.since(self.lap_start(at));
        format!(
            "the lap ended {} after {took}: {reason}{result}",
            outcome.as_str()
        )
    }
}

impl Teller<'_> {
    /// When the lap that ended then had begun.
    fn lap_start(&self, ended_at: Timestamp) -> Timestamp {
        let head = self.run.head();
        let laps = head
            .into_iter()
            .flat_map(|head| head.past.iter().chain([&head.lap]));
        let mut begun = laps.map(|lap| lap.started_at).filter(|&at| at <= ended_at);
        begun.next_back().unwrap_or(self.start)
    }
}

/// What somebody else said about an event: it is not ours, and may hold contents.
pub(super) fn said(event: &Event) -> Option<String> {
    if let Event::CodeFailed { message, .. } = event {
        return (!message.is_empty()).then(|| message.clone());
    }
    if let Event::RunQuarantined(why) = event {
        return (!why.message.is_empty()).then(|| why.message.clone());
    }
    let Event::AttemptSettled { end, .. } = event else {
        return None;
    };
    let AttemptEnd::Failed(failure) = end else {
        return None;
    };
    let code = failure.provider_code.clone().filter(|code| !is_code(code));
    match (code, &failure.message) {
        (Some(code), Some(message)) => Some(format!("{code}: {message}")),
        (code, message) => code.or_else(|| message.clone()),
    }
}

fn lease_taken(lease: &LeaseTaken) -> String {
    let times = match lease.extended {
        Millis::ZERO => "its times stay".to_owned(),
        by => format!("its times move by {by}"),
    };
    format!(
        "worker {} took the run over in epoch {}, {} after its last event; {times}",
        lease.worker, lease.epoch, lease.downtime
    )
}

fn failed(failure: &Failure, spent: &str) -> String {
    let code = failure.provider_code.as_ref().filter(|code| is_code(code));
    let code = code.map_or_else(String::new, |code| format!(", provider code {code}"));
    let wait = failure.retry_after;
    let wait = wait.map_or_else(String::new, |wait| format!(", asks to wait {wait}"));
    format!("{}, {}{code}, {spent}{wait}", failure.kind, failure.sent)
}

pub(super) fn bytes(payload: &Payload) -> String {
    count(payload.len(), "byte")
}

fn tokens(tokens: Tokens, word: &str) -> String {
    count(usize::try_from(tokens.get()).unwrap_or(usize::MAX), word)
}

fn count(n: usize, word: &str) -> String {
    match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    }
}

fn budget_raised(raised: &Raise) -> String {
    format!(
        "{} raised the budget by {}, {} and {} cost units: {}",
        raised.by,
        tokens(raised.more.retry_tokens, "retry token"),
        tokens(raised.more.concurrency_tokens, "concurrency token"),
        raised.more.cost_units,
        raised.why
    )
}
