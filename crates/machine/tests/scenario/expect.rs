//! What the text right of `->` means. Whatever is not understood fails.
//!
//! ```text
//! running waiting paused ended closed quarantined   the run's state | reason CODE  why it waits
//! completed degraded handed_off failed canceled terminated [REASON]   the lap's outcome
//! PATH PHASE [WORD..]           where a call stands, with its reason or failure kind
//! EventName [WORD..]            this line's turn recorded it; no EventName: it did not
//! SOME_CODE [name=number..]     this line was refused, with these numbers
//! nothing | yes                 no event at all | not refused
//! out PATH..                    the attempts in flight, all of them
//! expected_by TIME              when more will be known, after Later
//! later PATH.. | no answer      the answer is Later, with these doubts | no answer yet
//! effect PATH STATUS [REASON]   how an effect stands
//! value PATH JSON | attempts PATH N | rung PATH N | timeout PATH TIME | key PATH KEY
//! lookup PATH TIME | no lookup PATH | wake TIME|none     as times after the start
//! budget name=N.. | past LAP name=N.. | times name=TIME.. | lap N
//! alerts KIND..                 the alerts of this line's turn, in order
//! notice TEXT | notices N | addendum PATH REASON | epoch N | in_doubt N
//! orphan PATH/N none | STAND [OWNER] [until=MSms]   how remote work that was given up stands
//! entry PATH STATE|none         the effect as the ledger keeps it for all runs
//! ```

use mainstay_machine::{
    Admission, BudgetState, Call, CompensationWanted, Decision, EffectStatus, EntryState, Event,
    Phase, RunState, ToolCalled, ToolMade, effect, pending, view,
};
use mainstay_types::{Millis, Timestamp};

use super::parse::{Line, cost, millis};
use super::play::{Came, look_up};
use super::world::{ORIGIN, Stamped, World};

/// Checks a line's expectations.
pub(crate) fn check(world: &World, line: &Line, came: &Came) {
    let is_refusal = |part: &String| is_code(part.split(' ').next().unwrap_or_default());
    if let Some(refusal) = &came.refusal {
        let expected = line.expected.iter().any(is_refusal);
        assert!(expected, "`{}`\nwas refused: {refusal}", line.text);
    }
    for part in &line.expected {
        let words: Vec<&str> = part.split_whitespace().collect();
        let seen = See { world, line, came };
        if let Err(actual) = seen.holds(&words) {
            let shown =
                |s: &Stamped| format!("{} {}", s.at.since(ORIGIN).get(), seen.show(&s.event));
            let log: Vec<String> = world.log.iter().map(shown).collect();
            panic!(
                "`{}`\nexpected: {part}\nactual:   {actual}\nnow: {}\npending: {:?}\nlog:\n{}",
                line.text,
                world.now.since(ORIGIN),
                pending(&world.run, world.now),
                log.join("\n")
            );
        }
    }
}

/// The decision and its numbers, as words of an expectation.
fn show_decision(path: &str, decision: &Decision) -> String {
    let n = &decision.numbers;
    let limit = |limit: Option<u32>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    let allowed = format!(
        "run={} dependency={} tenant={} global={}",
        n.allowed.run,
        limit(n.allowed.dependency),
        limit(n.allowed.tenant),
        limit(n.allowed.global)
    );
    let refused = decision.refused.as_ref().map_or(String::new(), |refused| {
        let numbers = refused
            .numbers
            .iter()
            .map(|(name, n)| format!(" {name}={n}"));
        format!(" {}{}", refused.code, numbers.collect::<String>())
    });
    format!(
        "{path} {} {} {} in_a_row={} attempts_left={} wait={} wait_max={} predicted={} left={} \
         {allowed}{refused}",
        decision.next.as_str(),
        decision.kind,
        decision.reason,
        n.in_a_row,
        n.attempts_left,
        n.wait.get(),
        n.wait_max.get(),
        n.predicted.get(),
        n.left.get(),
    )
}

fn show_admission(admission: &Admission) -> String {
    format!(
        "{} queue={} path={} need={} left={} observed={}",
        admission.verdict.as_str(),
        admission.queue.get(),
        admission.path.get(),
        admission.need().get(),
        admission.left.get(),
        admission.observed
    )
}

struct See<'a> {
    world: &'a World,
    line: &'a Line,
    came: &'a Came,
}

type Holds = Result<(), String>;

fn equal(expected: &str, actual: impl Into<String>) -> Holds {
    let actual = actual.into();
    if expected == actual {
        Ok(())
    } else {
        Err(actual)
    }
}

fn holds_if(holds: bool, actual: &impl std::fmt::Debug) -> Holds {
    if holds {
        Ok(())
    } else {
        Err(format!("{actual:?}"))
    }
}

fn is_code(word: &str) -> bool {
    3 < word.len() && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

impl See<'_> {
    fn holds(&self, words: &[&str]) -> Holds {
        if let Some(holds) = self.of_lap(words) {
            return holds;
        }
        match *words {
            ["nothing"] => equal("0", (self.world.log.len() - self.came.mark).to_string()),
            ["yes"] => {
                let refusal = self.came.refusal.as_ref();
                refusal.map_or(Ok(()), |no| Err(no.to_string()))
            }
            ["no", "lookup", path] => match look_up(self.world, self.id(path)) {
                Some(found) => Err(format!("{found:?}")),
                None => Ok(()),
            },
            ["no", event, ref rest @ ..] => match self.event(event, rest) {
                Ok(()) => Err("it was recorded".to_owned()),
                Err(_) => Ok(()),
            },
            ["out", ref paths @ ..] => equal(&paths.join(" "), self.out()),
            ["orphan", attempt, ref words @ ..] => self.orphan(attempt, words),
            ["wake", "none"] => holds_if(self.world.wake().is_none(), &self.world.wake()),
            ["wake", time] => self.moment(time, self.world.wake()),
            [code, ref numbers @ ..] if is_code(code) => self.refused(code, numbers),
            [
                noun @ ("effect" | "value" | "attempts" | "rung" | "timeout" | "key" | "lookup"
                | "entry"),
                path,
                ..,
            ] => self.of_call(noun, path, words),
            [event, ref rest @ ..] if event.starts_with(|c: char| c.is_ascii_uppercase()) => {
                self.event(event, rest)
            }
            [path, phase, ref rest @ ..] => self.phase(path, phase, rest),
            _ => panic!("`{}`: {words:?} is not understood", self.line.text),
        }
    }

    /// Expectations about the lap and the run; `None` when the words are about something else.
    fn of_lap(&self, words: &[&str]) -> Option<Holds> {
        let run = &self.world.run;
        let head = run.head().expect("expectations begin with the start");
        Some(match *words {
            ["no", "answer"] => {
                let answered = head.lap.later.is_some() || head.lap.outcome.is_some();
                holds_if(!answered, &head.lap)
            }
            ["later", ref paths @ ..] => {
                let doubts = head.lap.later.as_ref().map(|later| &later.doubts);
                let doubts = doubts.map(|ids| ids.iter().map(|&id| run.path(id)).collect());
                let doubts: Vec<String> = doubts.unwrap_or_else(|| vec!["no Later".to_owned()]);
                equal(&paths.join(" "), doubts.join(" "))
            }
            ["notice", ref words @ ..] => {
                let notices = view::notices(run);
                holds_if(notices.contains(&words.join(" ")), &notices)
            }
            ["expected_by", time] => {
                let later = head.lap.later.as_ref();
                self.moment(time, later.map(|later| later.expected_by))
            }
            ["in_doubt", count] => {
                let summary = view::summary(run).expect("started");
                equal(count, summary.in_doubt.to_string())
            }
            ["notices", count] => equal(count, view::notices(run).len().to_string()),
            ["lap", number] => equal(number, head.lap.no.to_string()),
            ["reason", code] => {
                let reason = view::reason(run);
                equal(code, reason.map_or("none", |reason| reason.as_str()))
            }
            ["alerts", ref kinds @ ..] => equal(&kinds.join(" "), self.alerts()),
            ["past", number, ref rest @ ..] => {
                let no = mainstay_types::LapNo(number.parse().expect("a number"));
                let past = head.lap_no(no).expect("a lap of the run");
                rest.iter()
                    .try_for_each(|pair| self.budget_of(&past.budget, pair))
            }
            ["epoch", number] => equal(number, head.epoch.to_string()),
            ["addendum", path, reason] => {
                let found = head
                    .lap
                    .addenda
                    .iter()
                    .any(|(id, why)| run.path(*id) == path && why.as_str() == reason);
                holds_if(found, &head.lap.addenda)
            }
            ["budget", ref rest @ ..] => rest.iter().try_for_each(|pair| self.budget(pair)),
            ["times", ref rest @ ..] => rest.iter().try_for_each(|pair| self.time(pair)),
            [name] if RunState::ALL.iter().any(|state| state.as_str() == name) => {
                equal(name, view::state(run).expect("started").as_str())
            }
            [kind, ref reason @ ..] if is_outcome(kind) => {
                let outcome = head.lap.outcome.as_ref();
                let actual =
                    outcome.map(|outcome| (outcome.kind.as_str(), outcome.reason.as_str()));
                let holds = actual.is_some_and(|(actual, why)| {
                    actual == kind && reason.iter().all(|reason| *reason == why)
                });
                holds_if(holds, &actual)
            }
            _ => return None,
        })
    }

    fn id(&self, path: &str) -> mainstay_types::CallId {
        let found = self.world.find(path);
        found.unwrap_or_else(|| panic!("`{}`: there is no call {path}", self.line.text))
    }

    fn call(&self, path: &str) -> &Call {
        self.world
            .run
            .calls()
            .get(self.id(path))
            .expect("found by its path")
    }

    fn moment(&self, expected: &str, actual: Option<Timestamp>) -> Holds {
        let shown = |at: Timestamp| format!("{} ms", at.since(ORIGIN).get());
        let actual = actual.map_or_else(|| "none".to_owned(), shown);
        equal(&shown(ORIGIN + millis(expected)), actual)
    }

    fn out(&self) -> String {
        let out = self
            .world
            .run
            .calls()
            .in_flight()
            .map(|(id, _)| self.world.run.path(id));
        out.collect::<Vec<_>>().join(" ")
    }

    fn refused(&self, code: &str, numbers: &[&str]) -> Holds {
        let refusal = self.came.refusal.as_ref().ok_or("not refused")?;
        equal(code, refusal.code.as_str())?;
        numbers.iter().try_for_each(|pair| {
            let found = refusal
                .numbers
                .iter()
                .any(|(name, n)| format!("{name}={n}") == *pair);
            if found {
                Ok(())
            } else {
                Err(refusal.to_string())
            }
        })
    }

    fn alerts(&self) -> String {
        let mut run = mainstay_machine::Run::unborn(std::sync::Arc::clone(self.world.run.class()));
        let mut kinds = Vec::new();
        for (at, stamped) in self.world.log.iter().enumerate() {
            mainstay_machine::apply(&mut run, &stamped.event).expect("the log was applied before");
            let alerts = mainstay_machine::alert::of(&run, &stamped.event, stamped.at);
            if self.came.mark <= at {
                kinds.extend(alerts.into_iter().map(|alert| alert.kind.as_str()));
            }
        }
        kinds.join(" ")
    }

    /// `PATH/N STAND [OWNER] [until=TIMEms]`, or `PATH/N none`.
    fn orphan(&self, attempt: &str, words: &[&str]) -> Holds {
        let (path, no) = attempt.split_once('/').expect("PATH/N");
        let no = mainstay_types::AttemptNo(no.parse().expect("a number"));
        let made = self.call(path).attempt(no).expect("an attempt of the call");
        let shown = made.orphan().map_or_else(
            || "none".to_owned(),
            |orphan| {
                let (stand, until) = (orphan.stand.as_str(), until_word(orphan.until));
                format!("{stand} {} {until}", orphan.owner)
            },
        );
        let said: Vec<&str> = shown.split(' ').collect();
        holds_if(words.iter().all(|word| said.contains(word)), &shown)
    }

    fn event(&self, name: &str, words: &[&str]) -> Holds {
        let shown: Vec<String> = self.world.log[self.came.mark..]
            .iter()
            .map(|stamped| self.show(&stamped.event))
            .collect();
        let matches = |text: &String| {
            let mut said = text.split(' ');
            said.next() == Some(name) && {
                let said: Vec<&str> = said.collect();
                words.iter().all(|word| said.contains(word))
            }
        };
        if shown.iter().any(matches) {
            Ok(())
        } else {
            Err(format!("{shown:?}"))
        }
    }

    /// The event's name, call, and the words that decided.
    fn show(&self, event: &Event) -> String {
        let path = |id| self.world.run.path(id);
        let rest = match event {
            Event::CallPrepared { call, .. }
            | Event::ListRecorded { call, .. }
            | Event::CallSkipped { call }
            | Event::EffectIntended { call, .. }
            | Event::EffectPartlyApplied { call }
            | Event::RepairWanted { call, .. }
            | Event::KeyAwaited { call, .. }
            | Event::KeyTakenOver { call, .. }
            | Event::HardPathLost { call } => path(*call),
            Event::AttemptStarted(s) => format!("{}/{}", path(s.call), s.attempt),
            Event::AttemptSettled { call, attempt, .. }
            | Event::AttemptInterrupted { call, attempt, .. }
            | Event::LateResult { call, attempt, .. } => format!("{}/{attempt}", path(*call)),
            Event::AttemptOrphaned { call, attempt, .. }
            | Event::OrphanObserved { call, attempt, .. }
            | Event::OrphanAdopted { call, attempt, .. }
            | Event::OrphanClosed { call, attempt, .. }
            | Event::LateValueRecorded { call, attempt, .. } => {
                format!("{}/{attempt} {}", path(*call), show_late(event))
            }
            Event::CallSettled { call, rung, .. } => format!("{} rung={rung}", path(*call)),
            Event::CallRescheduled { call, .. } => {
                format!("{} {}", path(*call), self.show_wait(event))
            }
            Event::NextDecided(decision) => show_decision(&path(decision.call), decision),
            Event::AdmissionDecided(admission) => show_admission(admission),
            Event::CallFailed { call, kind, reason } => format!("{} {kind} {reason}", path(*call)),
            Event::CallOmitted { call, reason }
            | Event::EffectApplied { call, reason, .. }
            | Event::EffectInDoubt { call, reason, .. }
            | Event::EffectAbsent { call, reason }
            | Event::ControlSettled { call, reason, .. }
            | Event::AddendumRecorded { call, reason } => format!("{} {reason}", path(*call)),
            Event::ToolCalled(called) => self.show_tool_call(called),
            Event::ToolsDone { call } | Event::EffectCompensated { call } => path(*call),
            Event::CompensationWanted(wanted) => show_wanted(&path(wanted.call), wanted),
            Event::EffectSettledByHand(settled) => {
                format!("{} {}", path(settled.call), settled.ruling.as_str())
            }
            Event::BudgetRaised(raised) => format!(
                "retries={} concurrency={} cost={}",
                raised.more.retry_tokens, raised.more.concurrency_tokens, raised.more.cost_units
            ),
            Event::LapEnded {
                outcome, reason, ..
            } => format!("{} {reason}", outcome.as_str()),
            Event::LeaseTaken(taken) => {
                format!("epoch={} extended={}ms", taken.epoch, taken.extended.get())
            }
            Event::CodeFailed { call, kind, .. } => {
                format!("{} {kind}", call.map_or_else(|| "result".to_owned(), path))
            }
            Event::RunStarted(_)
            | Event::CancelRequested { .. }
            | Event::AnsweredLater { .. }
            | Event::RunClosed
            | Event::RunQuarantined { .. }
            | Event::QuarantineLifted { .. }
            | Event::RunTerminated { .. } => String::new(),
            Event::LapStarted(started) => format!("lap={}", started.lap),
        };
        format!("{} {rest}", event.name()).trim_end().to_owned()
    }

    /// What an event says of a call that waits.
    fn show_wait(&self, event: &Event) -> String {
        let Event::CallRescheduled {
            rung,
            not_before,
            reason,
            ..
        } = event
        else {
            return String::new();
        };
        let wait = not_before.since(self.world.now).get();
        format!("rung={rung} wait={wait}ms {reason}")
    }

    fn show_tool_call(&self, called: &ToolCalled) -> String {
        let run = &self.world.run;
        let (tools, id) = (run.path(called.tools), &called.id);
        match &called.made {
            ToolMade::New { node, slot, .. } => {
                let tool = &run.class().node(*node).name;
                format!("{tools} {id} {tool} slot={slot}")
            }
            ToolMade::Joined(call) => format!("{tools} {id} joins {}", run.path(*call)),
        }
    }

    fn of_call(&self, noun: &str, path: &str, words: &[&str]) -> Holds {
        let call = self.call(path);
        let third = words.get(2).copied().unwrap_or_default();
        match noun {
            "effect" => {
                let status = call.effect.as_ref().map(|effect| &effect.status);
                let actual = status.map_or_else(|| "none".to_owned(), show_status);
                equal(&words[2..].join(" "), &actual[..])
                    .or_else(|_| equal(third, actual.split(' ').next().unwrap_or_default()))
                    .and_then(|()| {
                        if words.len() < 4 {
                            Ok(())
                        } else {
                            equal(&words[2..].join(" "), &actual[..])
                        }
                    })
            }
            "value" => {
                let value = call.value().map(|value| value.as_bytes().to_vec());
                let value = String::from_utf8(value.unwrap_or_default()).expect("JSON");
                equal(third, value)
            }
            "attempts" => equal(third, call.attempts.len().to_string()),
            "rung" => equal(third, call.rung.to_string()),
            "timeout" => {
                let last = call
                    .attempts
                    .last()
                    .map_or(Millis::ZERO, |attempt| attempt.timeout);
                equal(&millis(third).to_string(), last.to_string())
            }
            "entry" => {
                let entry = effect::entry(&self.world.run, self.id(path), self.world.now);
                equal(
                    third,
                    entry.map_or("none", |entry| entry_word(&entry.state)),
                )
            }
            "key" => {
                let key = call.effect.as_ref().map(|effect| effect.key.to_string());
                equal(third, key.unwrap_or_default())
            }
            _ => self.moment(third, look_up(self.world, self.id(path)).map(|(_, at)| at)),
        }
    }

    fn phase(&self, path: &str, phase: &str, words: &[&str]) -> Holds {
        let actual = &self.call(path).phase;
        let detail = match actual {
            Phase::Failed { kind, reason } => format!("{kind} {reason}"),
            Phase::Omitted { reason } => reason.to_string(),
            Phase::Settled { rung, .. } => format!("rung={rung}"),
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InFlight(_)
            | Phase::InDoubt
            | Phase::Items
            | Phase::Skipped => String::new(),
        };
        let said: Vec<&str> = detail.split(' ').collect();
        let holds = actual.as_str() == phase && words.iter().all(|word| said.contains(word));
        if holds {
            Ok(())
        } else {
            Err(format!("{} {detail}", actual.as_str()))
        }
    }

    fn budget(&self, pair: &str) -> Holds {
        self.budget_of(&self.world.run.head().expect("started").lap.budget, pair)
    }

    fn budget_of(&self, budget: &BudgetState, pair: &str) -> Holds {
        let (name, expected) = pair.split_once('=').expect("name=number");
        let (expected, actual) = match name {
            "retry" => (expected.to_owned(), budget.retry_used.to_string()),
            "in_flight" => (expected.to_owned(), budget.in_flight.to_string()),
            "peak" => (expected.to_owned(), budget.in_flight_peak.to_string()),
            "spent" => (cost(expected).to_string(), budget.spent.to_string()),
            "reserved" => (cost(expected).to_string(), budget.reserved.to_string()),
            "assumed" => (cost(expected).to_string(), budget.assumed.to_string()),
            other => panic!("`{}`: no budget has {other}", self.line.text),
        };
        equal(&expected, actual).map_err(|actual| format!("{name}={actual}"))
    }

    fn time(&self, pair: &str) -> Holds {
        let times = self.world.run.head().expect("started").lap.times;
        let (name, expected) = pair.split_once('=').expect("name=time");
        let actual = match name {
            "answer_by" => Some(times.answer_by),
            "work_by" => Some(times.work_by),
            "doubt_until" => Some(times.doubt_until),
            "expires_at" => times.expires_at,
            other => panic!("`{}`: no lap has {other}", self.line.text),
        };
        self.moment(expected, actual)
            .map_err(|actual| format!("{name}={actual}"))
    }
}

/// What an event says of an attempt that is over and of which something is heard, or nothing.
fn show_late(event: &Event) -> String {
    if let Event::AttemptOrphaned { owner, until, .. } = event {
        return format!("{owner} {}", until_word(*until));
    }
    if let Event::OrphanObserved { seen, .. } = event {
        return seen.as_str().to_owned();
    }
    if let Event::OrphanAdopted { by, until, .. } = event {
        return format!("{by} {}", until_word(*until));
    }
    if let Event::OrphanClosed { by, .. } = event {
        return by.clone();
    }
    let Event::LateValueRecorded { policy, value, .. } = event else {
        return String::new();
    };
    let value = value.as_ref().map_or("without_value", |_| "with_value");
    format!("{} {value}", policy.as_str())
}

fn until_word(until: Timestamp) -> String {
    format!("until={}ms", until.since(ORIGIN).get())
}

fn is_outcome(word: &str) -> bool {
    mainstay_machine::OutcomeKind::ALL
        .iter()
        .any(|kind| kind.as_str() == word)
}

const fn entry_word(state: &EntryState) -> &'static str {
    match state {
        EntryState::Open => "open",
        EntryState::InDoubt => "in_doubt",
        EntryState::Applied(_) => "applied",
        EntryState::PartlyApplied => "partly_applied",
        EntryState::NotApplied => "not_applied",
        EntryState::Compensated => "compensated",
    }
}

fn show_wanted(path: &str, wanted: &CompensationWanted) -> String {
    format!(
        "{path} wanted={} cost={} retries={}",
        wanted.wanted, wanted.cost, wanted.retry_tokens
    )
}

fn show_status(status: &EffectStatus) -> String {
    match status {
        EffectStatus::Applied(reason) | EffectStatus::Absent(reason) => {
            format!("{} {reason}", status.as_str())
        }
        EffectStatus::InDoubt(doubt) => format!("in_doubt {}", doubt.reason),
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::PartlyApplied
        | EffectStatus::Compensated => status.as_str().to_owned(),
    }
}
