//! A live run's turns against its ledger: decide on scratch, append once, keep or undo.
//!
//! Only a committed append changes the state. A run that cannot be decided on any more is
//! quarantined from what is durable, never from the scratch of the turn that failed.

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, Enqueued, HeldKey, LedgerError, Part, Verdict, codec};
use mainstay_machine::{Command, Quarantine};
use mainstay_types::{Code, EffectKey};

use crate::control::{self, Bare};
use crate::evidence;
use crate::handing::Handed;
use crate::holder;
use crate::live::{Live, Stop};
use crate::load::{self, LoadedRun};
use crate::mailbox::Question;
use crate::marked::marked;
use crate::not_driven::{NotDriven, NotDrivenReason};
use crate::outgoing::bounded;
use crate::poison::{Poison, caught};
use crate::turn::{Env, Held, Input, Memo, Scratch, Turn};

enum Appended {
    Yes,
    Again,
    NoRoom,
}

impl Live {
    /// One turn: decide on scratch, append, keep.
    pub(crate) async fn turn(&mut self, inputs: Vec<Input>) -> Result<(), Stop> {
        match self.append_all(&inputs).await {
            Ok(true) => {
                self.memo = Memo::default();
                self.settled(&inputs);
                self.has_room_again();
                Ok(())
            }
            Ok(false) => {
                (self.backlog, self.no_room) = (inputs, true);
                self.memo.seen.clear();
                self.lacks_room();
                Ok(())
            }
            Err(stop) => {
                if matches!(stop, Stop::LeaseLost | Stop::Ledger(_)) {
                    self.keep_evidence(&inputs);
                }
                Err(stop)
            }
        }
    }

    /// The run stands still until there is room, and says so: to operators, to whoever waits for a
    /// command to be taken, and to whoever waits for an answer whose time has come.
    fn lacks_room(&mut self) {
        let run = self.id;
        if self.shared.not_driven_run(run).is_none() {
            tracing::warn!(%run, code = %Code::StoreFull, "there is no room to append");
            self.shared.note_not_driven(NotDriven {
                run,
                reason: NotDrivenReason::StoreFull,
                detail: "there is no room to append; it goes on by itself when there is".to_owned(),
            });
        }
        let lap = self.run.head().map(|head| &head.lap);
        let answer_by = lap.map(|lap| lap.times.answer_by);
        let is_late = answer_by.is_some_and(|at| at <= self.shared.now());
        self.waiting.retain(|(question, _)| match question {
            Question::Taken(_) => false,
            Question::Answer | Question::Offers(_) | Question::Call(_) => !is_late,
            Question::Outcome => true,
        });
    }

    fn has_room_again(&self) {
        let listed = self.shared.not_driven_run(self.id);
        if listed.is_some_and(|listed| listed.reason == NotDrivenReason::StoreFull) {
            self.shared.forget_not_driven(self.id);
        }
    }

    /// `false` when there is no room for it now.
    async fn append_all(&mut self, inputs: &[Input]) -> Result<bool, Stop> {
        loop {
            let scratch = match self.decide(inputs) {
                Ok(scratch) => scratch,
                Err(poison) => return Err(Box::pin(self.quarantine(poison, inputs)).await),
            };
            if let Some(refusal) = scratch.refused {
                return Err(Stop::Refused(refusal));
            }
            if let Some(poison) = beyond_bound(&scratch.part) {
                return Err(Box::pin(self.quarantine(poison, inputs)).await);
            }
            if !scratch.wants.is_empty() {
                Arc::make_mut(&mut self.run).undo();
                self.see(scratch.wants).await?;
                continue;
            }
            self.stalled = self.urged && inputs.is_empty() && scratch.is_empty;
            if scratch.is_empty {
                Arc::make_mut(&mut self.run).keep();
                return Ok(true);
            }
            match self.append(scratch).await? {
                Appended::Yes => {
                    self.keep_now_and_then();
                    return Ok(true);
                }
                Appended::Again => {}
                Appended::NoRoom => return Ok(false),
            }
        }
    }

    /// What was reported and could not be appended here is for whoever drives the run next; what
    /// came from the inbox waits there still.
    pub(crate) fn keep_evidence(&self, inputs: &[Input]) {
        for input in inputs.iter().filter(|input| input.message.is_none()) {
            evidence::keep(&self.shared, self.id, &input.command);
        }
    }

    /// The pure part of a turn; the class's code runs in it, so a panic is caught.
    fn decide(&mut self, inputs: &[Input]) -> Result<Scratch, Poison> {
        let env = Env {
            shared: &self.shared,
            registered: self.registered.as_deref(),
            id: self.id,
            draining: self.is_draining() || self.registered.is_none(),
            parked: self.parked,
        };
        let (run, memo) = (Arc::make_mut(&mut self.run), &mut self.memo);
        marked(&self.shared, self.id, || {
            caught(Code::TurnPanicked, || {
                Turn::begin(&env, run, memo).run(inputs)
            })
        })?
    }

    /// Looks at what the ledger has under keys by now. Whatever becomes of them after this look is
    /// in nobody's hand.
    async fn see(&mut self, keys: Vec<EffectKey>) -> Result<(), Stop> {
        for key in keys {
            let entry = self.shared.ledger.effect(key.clone()).await;
            let entry = entry.map_err(Stop::Ledger)?.map(|(entry, _)| entry);
            self.memo.seen.insert(key, entry);
        }
        Ok(())
    }

    /// What is another run's to know is in its inbox before it is recorded here that it is: whoever
    /// dies in between hands it over again. `false` when that run is not there any more: the turn
    /// is undone, and made again as it is then.
    async fn hand_over(&mut self, handed: &[Handed]) -> Result<bool, Stop> {
        for it in handed {
            let told = self.shared.ledger.enqueue(it.to, it.message, it.command());
            match told.await {
                Ok(Enqueued::New | Enqueued::Known) => {}
                Err(LedgerError::RunUnknown { .. }) => {
                    let mut held = self.memo.held.iter_mut();
                    let held = held.find(|held| held.entry.key == it.found.key);
                    if let Some(held) = held {
                        held.is_gone = true;
                    }
                    Arc::make_mut(&mut self.run).undo();
                    return Ok(false);
                }
                Err(error) => {
                    Arc::make_mut(&mut self.run).undo();
                    return Err(Stop::Ledger(error));
                }
            }
        }
        Ok(true)
    }

    async fn append(&mut self, scratch: Scratch) -> Result<Appended, Stop> {
        let Scratch {
            part,
            notes,
            handed,
            ..
        } = scratch;
        if !self.hand_over(&handed).await? {
            return Ok(Appended::Again);
        }
        let newest = part.events.iter().map(|stamped| stamped.at).max();
        let request = CommitRequest { parts: vec![part] };
        let verdict = self.shared.ledger.commit(vec![request]).await;
        let verdict = verdict.map(|mut verdicts| verdicts.pop());
        if let Ok(Some(Verdict::Committed(_))) = verdict {
            Arc::make_mut(&mut self.run).keep();
            self.kept.durable_until(newest);
            self.parked = false;
            notes.tell(&mut self.spans, &self.run);
            return Ok(Appended::Yes);
        }
        Arc::make_mut(&mut self.run).undo();
        match verdict {
            Ok(Some(Verdict::KeyHeld(HeldKey::Effect { entry, version }))) => {
                let abandoned = holder::abandoned(&self.shared, &entry).await;
                self.memo.hold(Held {
                    entry: *entry,
                    version,
                    abandoned,
                    is_gone: false,
                });
                Ok(Appended::Again)
            }
            Ok(Some(Verdict::KeyHeld(held @ HeldKey::Start { .. }))) => {
                Err(Stop::StartKeyHeld(held))
            }
            Ok(Some(Verdict::Full)) => Ok(Appended::NoRoom),
            Ok(Some(Verdict::Stale { .. } | Verdict::Committed(_)) | None) => Err(Stop::LeaseLost),
            Err(error) => Err(Stop::Ledger(error)),
        }
    }

    /// Records that the run is not driven any more, together with what this turn was told: that is
    /// no less true for the panic. A run that is not durable yet leaves nothing behind: its caller
    /// is still there to be told.
    pub(crate) async fn quarantine(&mut self, poison: Poison, inputs: &[Input]) -> Stop {
        let why = Quarantine {
            code: poison.code,
            message: bounded(poison.detail.clone()),
        };
        loop {
            let scratch = match self.says_quarantined(&why, inputs).await {
                Ok(Some(scratch)) => scratch,
                Ok(None) => return Stop::Quarantined(poison),
                Err(error) => return Stop::Ledger(error),
            };
            match self.append(scratch).await {
                Ok(Appended::Yes) => break,
                // Another run has a key by now, which is known when it is decided again.
                Ok(Appended::Again) => {}
                // It is tried again by whoever takes the run up next.
                Ok(Appended::NoRoom) => {
                    self.keep_evidence(inputs);
                    break;
                }
                Err(stop) => return stop,
            }
        }
        self.spans.quarantined(poison.code);
        self.tell();
        Stop::Quarantined(poison)
    }

    /// What is to be written so that the run is quarantined; `None` when it is not durable yet.
    async fn says_quarantined(
        &mut self,
        why: &Quarantine,
        inputs: &[Input],
    ) -> Result<Option<Scratch>, LedgerError> {
        let Some(stored) = self.shared.ledger.load(self.id).await? else {
            return Ok(None);
        };
        let (seq, epoch) = load::end_of(&*self.shared.ledger, self.id, &stored).await?;
        let loaded = load::folded(&self.shared, self.id, stored).await;
        let said = loaded.and_then(|loaded| self.quarantined(&loaded, why, inputs));
        if said.is_some() {
            return Ok(said);
        }
        // Not even the core can say it: the bare fact, so that the next start does not drive into
        // the same wall.
        let fact = Bare::Quarantined(why.clone());
        let part = control::bare(&self.shared, self.id, (seq, epoch), fact).await?;
        Ok(Some(Scratch::bare(part, inputs)))
    }

    /// The run as it is durable, with the quarantine decided on it; no code of the class runs. What
    /// the core panics at when it is told so is not told again.
    fn quarantined(
        &mut self,
        loaded: &LoadedRun,
        why: &Quarantine,
        inputs: &[Input],
    ) -> Option<Scratch> {
        let mut said = self.stopped_with(loaded, why, (inputs, true));
        if said.is_none() {
            said = self.stopped_with(loaded, why, (inputs, false));
        }
        said
    }

    fn stopped_with(
        &mut self,
        loaded: &LoadedRun,
        why: &Quarantine,
        (inputs, are_told): (&[Input], bool),
    ) -> Option<Scratch> {
        self.run = Arc::new(loaded.run.clone());
        let env = Env {
            shared: &self.shared,
            registered: None,
            id: self.id,
            draining: true,
            parked: false,
        };
        let (run, memo) = (Arc::make_mut(&mut self.run), &mut self.memo);
        let command = Command::Quarantine(why.clone());
        let scratch = caught(Code::TurnPanicked, || {
            Turn::begin(&env, run, memo).stop(inputs, are_told, command)
        });
        let scratch = scratch.ok()?.ok()?;
        let is_said = self
            .run
            .head()
            .is_some_and(|head| head.quarantined.is_some());
        (is_said && beyond_bound(&scratch.part).is_none()).then_some(scratch)
    }
}

/// An event that no store has room for, now or later: waiting for room would be for ever.
fn beyond_bound(part: &Part) -> Option<Poison> {
    let event = part
        .events
        .iter()
        .find(|stamped| !codec::fits(&stamped.event));
    event.map(|stamped| Poison {
        code: Code::PayloadTooLarge,
        detail: format!("event {} has no room in a record", stamped.event.name()),
    })
}
