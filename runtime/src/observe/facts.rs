//! What an event is worth counting: facts, as a pure function of the state before it and of it.
//!
//! A fact is handed out once, by the append that made its event durable; loading a run folds the
//! same events and counts nothing. It never holds what could tell one user from another: no tenant,
//! key, id, payload or text.

use mainstay_graph::Contract;
use mainstay_machine::{AttemptEnd, Call, Event, OutcomeKind, Run};
use mainstay_types::{AttemptNo, CallId, ClassName, DependencyName, NodeName, Reason, Rung};

/// Something that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A lap has its outcome.
    LapEnded {
        /// Of a run of this class.
        class: ClassName,
        /// How.
        outcome: OutcomeKind,
    },
    /// An attempt or a look-up is over.
    AskEnded {
        /// Where.
        place: Place,
        /// Which of the two.
        ask: Ask,
        /// The code of its end: `ANSWERED`, a failure kind, or a reason.
        end: &'static str,
    },
    /// A client library retried inside an attempt.
    ClientRetried {
        /// Where.
        place: Place,
        /// How often, as it reported.
        times: u32,
    },
    /// A call that was attempted in this lap is over.
    CallEnded {
        /// Where; the dependency is the primary.
        place: Place,
        /// Its attempts in this lap.
        attempts: u32,
    },
    /// A limit of the run decided something.
    BudgetExhausted {
        /// In a run of this class.
        class: ClassName,
        /// Which limit.
        reason: Reason,
    },
    /// Nobody knows what became of a write.
    EffectUnknown {
        /// Where.
        place: Place,
        /// Why.
        reason: Reason,
    },
    /// Something happened to remote work that no run waits for any more.
    Orphan {
        /// Where.
        place: Place,
        /// What: `given_up`, what was seen of it, `adopted` or `closed`.
        state: &'static str,
    },
    /// A call is over that its primary did not answer.
    FellBack {
        /// Where; the dependency is the one that stood last.
        place: Place,
        /// What took the primary's place.
        outcome: Fallback,
    },
}

/// A place in a class, never in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The class.
    pub class: ClassName,
    /// The node.
    pub node: NodeName,
    /// Who is asked.
    pub dependency: DependencyName,
}

/// What went out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A request.
    Attempt,
    /// A look-up, which changes nothing.
    LookUp,
}

impl Ask {
    /// The stable text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::LookUp => "look_up",
        }
    }
}

/// What a call ended with that its primary did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The answer of a fallback.
    Answered,
    /// Nothing, and the result says so.
    Omitted,
    /// Nothing.
    Failed,
}

impl Fallback {
    /// The stable text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Omitted => "omitted",
            Self::Failed => "failed",
        }
    }
}

/// The facts of `event`, which is about to change `before`.
pub fn facts(before: &Run, event: &Event) -> impl Iterator<Item = Fact> + use<> {
    let about = event.call().and_then(|id| About::of(before, id));
    let facts = match about {
        Some(about) => about.facts(event),
        None => of_run(before, event),
    };
    facts.into_iter().flatten()
}

type Facts = [Option<Fact>; 3];

fn of_run(run: &Run, event: &Event) -> Facts {
    let Event::LapEnded {
        outcome, reason, ..
    } = event
    else {
        return [None, None, None];
    };
    let class = run.class().name.clone();
    let ended = Fact::LapEnded {
        class,
        outcome: *outcome,
    };
    [Some(ended), exhausted(run, *reason), None]
}

/// Whether a limit of the run, and not the call's own, is what a decision names as its reason.
fn exhausted(run: &Run, reason: Reason) -> Option<Fact> {
    let is_limit = matches!(
        reason,
        Reason::RetryTokensExhausted
            | Reason::CostExhausted
            | Reason::DeadlineExhausted
            | Reason::RetryAfterExceedsRemaining
            | Reason::AnswerTimeReached
            | Reason::Expired
    );
    is_limit.then(|| Fact::BudgetExhausted {
        class: run.class().name.clone(),
        reason,
    })
}

/// A call that asks dependencies.
struct About<'a> {
    run: &'a Run,
    call: &'a Call,
    contract: &'a Contract,
}

impl<'a> About<'a> {
    fn of(run: &'a Run, id: CallId) -> Option<Self> {
        let call = run.calls().get(id)?;
        let contract = run.class().node(call.node).contract()?;
        Some(Self {
            run,
            call,
            contract,
        })
    }

    fn facts(&self, event: &Event) -> Facts {
        match event {
            Event::AttemptSettled {
                attempt,
                end,
                client_retries,
                ..
            } => [
                self.attempt_ended(*attempt, end_code(end)),
                self.client_retried(*attempt, *client_retries),
                None,
            ],
            Event::AttemptInterrupted { attempt, .. } => {
                let end = Reason::OwnerLost.as_str();
                [self.attempt_ended(*attempt, end), None, None]
            }
            Event::CallSettled { rung, .. } => [
                self.ended(),
                self.fell_back(*rung, Fallback::Answered),
                None,
            ],
            Event::CallOmitted { reason, .. } => self.given_up(Fallback::Omitted, *reason),
            Event::CallFailed { reason, .. } => self.given_up(Fallback::Failed, *reason),
            Event::CallRescheduled { reason, .. } => [exhausted(self.run, *reason), None, None],
            Event::EffectApplied { reason, .. } => [
                self.looked_up(*reason),
                self.ended(),
                self.fell_back(self.last_rung(), Fallback::Answered),
            ],
            Event::EffectInDoubt { reason, .. } => [self.in_doubt(*reason), None, None],
            Event::KeyTakenOver { .. } => [self.in_doubt(Reason::OwnerLost), None, None],
            Event::EffectAbsent { reason, .. } | Event::ControlSettled { reason, .. } => {
                [self.looked_up(*reason), None, None]
            }
            Event::EffectPartlyApplied { .. } => {
                [self.looked_up(Reason::PartlyApplied), None, None]
            }
            Event::AttemptOrphaned { attempt, .. } => self.orphan(*attempt, "given_up"),
            Event::OrphanObserved { attempt, seen, .. } => self.orphan(*attempt, seen.as_str()),
            Event::OrphanAdopted { attempt, .. } => self.orphan(*attempt, "adopted"),
            Event::OrphanClosed { attempt, .. } => self.orphan(*attempt, "closed"),
            #[rustfmt::skip]
            Event::EffectSettledByHand(_) | Event::CompensationWanted(_)
            | Event::EffectCompensated { .. } | Event::LateValueRecorded { .. }
            | Event::ToolCalled(_) | Event::ToolsDone { .. } | Event::RunStarted(_)
            | Event::AdmissionDecided(_) | Event::NextDecided(_) | Event::RepairWanted { .. }
            | Event::LeaseTaken(_) | Event::CallPrepared { .. } | Event::ListRecorded { .. }
            | Event::AttemptStarted(_) | Event::CallSkipped { .. } | Event::CodeFailed { .. }
            | Event::EffectIntended { .. } | Event::KeyAwaited { .. } | Event::LateResult { .. }
            | Event::CancelRequested { .. } | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. } | Event::LapEnded { .. }
            | Event::AddendumRecorded { .. } | Event::RunClosed | Event::RunQuarantined { .. }
            | Event::QuarantineLifted { .. } | Event::RunTerminated { .. }
            | Event::BudgetRaised(_) | Event::LapStarted(_) => [None, None, None],
        }
    }

    fn orphan(&self, no: AttemptNo, state: &'static str) -> Facts {
        let made = self.call.attempt(no);
        let fact = made.map(|made| Fact::Orphan {
            place: self.place(made.rung),
            state,
        });
        [fact, None, None]
    }

    fn given_up(&self, how: Fallback, reason: Reason) -> Facts {
        [
            self.ended(),
            self.fell_back(self.call.rung, how),
            exhausted(self.run, reason),
        ]
    }

    fn attempt_ended(&self, no: AttemptNo, end: &'static str) -> Option<Fact> {
        let attempt = self.call.attempt(no)?;
        Some(Fact::AskEnded {
            place: self.place(attempt.rung),
            ask: Ask::Attempt,
            end,
        })
    }

    fn client_retried(&self, no: AttemptNo, times: u32) -> Option<Fact> {
        let attempt = self.call.attempt(no).filter(|_| 0 < times)?;
        let place = self.place(attempt.rung);
        Some(Fact::ClientRetried { place, times })
    }

    /// A look-up is known by what only a look-up tells.
    fn looked_up(&self, reason: Reason) -> Option<Fact> {
        let is_finding = matches!(
            reason,
            Reason::FoundApplied
                | Reason::AbsentAfterHorizon
                | Reason::NotFoundInsideHorizon
                | Reason::StillInProgress
                | Reason::CannotTell
                | Reason::PartlyApplied
        );
        is_finding.then(|| Fact::AskEnded {
            place: self.place(self.last_rung()),
            ask: Ask::LookUp,
            end: reason.as_str(),
        })
    }

    /// A call that ends a second time (a failed write turns out to be applied) was counted.
    fn ended(&self) -> Option<Fact> {
        let lap = self.run.head()?.lap.no;
        let made = self.call.attempts.iter();
        let made = made.filter(|attempt| attempt.lap == lap).count();
        let attempts = u32::try_from(made).unwrap_or(u32::MAX);
        let counts = 0 < attempts && !self.call.phase.is_final();
        counts.then(|| Fact::CallEnded {
            place: self.place(Rung(0)),
            attempts,
        })
    }

    fn fell_back(&self, rung: Rung, outcome: Fallback) -> Option<Fact> {
        let is_one = outcome == Fallback::Omitted || Rung(0) < rung;
        let counts = is_one && !self.call.phase.is_final();
        counts.then(|| Fact::FellBack {
            place: self.place(rung),
            outcome,
        })
    }

    fn in_doubt(&self, reason: Reason) -> Option<Fact> {
        Some(Fact::EffectUnknown {
            place: self.place(self.last_rung()),
            reason,
        })
    }

    fn last_rung(&self) -> Rung {
        let last = self.call.attempts.last();
        last.map_or(Rung(0), |attempt| attempt.rung)
    }

    fn place(&self, rung: Rung) -> Place {
        let dependency = self.contract.asked(rung);
        Place {
            class: self.run.class().name.clone(),
            node: self.run.class().node(self.call.node).name.clone(),
            dependency: dependency.unwrap_or(&self.contract.dependency).clone(),
        }
    }
}

fn end_code(end: &AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Answered => Reason::Answered.as_str(),
        AttemptEnd::Failed(failure) => failure.kind.as_str(),
    }
}
