//! Cores that break one rule of effects each, so that the oracle is seen to see it.
//!
//! No bend is a switch of the core: what it is told, or what it decided, is changed on the way.

use std::sync::Arc;

use mainstay_machine::{Action, Command, Core, Event, Finding, Machine, Run, SettleEnd};
use mainstay_types::{
    CallId, Corrupt, FailureKind, Millis, Payload, Reason, Refusal, Sent, Timestamp,
};

use super::case::Case;
use super::{machine, play};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bend {
    /// "Not found" is believed while a request may still land.
    BelievesAtOnce,
    /// A request whose reply was lost is taken for one that never left.
    AsksNobody,
    /// What was out when the process died is taken for not done.
    ForgetsWhatWasOut,
    /// "Not found" is taken for done.
    TakesNothingForDone,
    /// A part is taken for the whole.
    TakesPartForWhole,
    /// A doubt is taken for done.
    TakesDoubtForDone,
}

impl Bend {
    /// Every bend, with the case that shows it.
    const ALL: [(Self, &str); 6] = [
        (Self::BelievesAtOnce, "by_status:lDD"),
        (Self::AsksNobody, "by_ledger:dDD"),
        (Self::ForgetsWhatWasOut, "by_business_key:DDD:2:durable"),
        (Self::TakesNothingForDone, "by_key:nDD"),
        (Self::TakesPartForWhole, "by_upsert:DDp"),
        (Self::TakesDoubtForDone, "by_human:DDn"),
    ];
}

/// A core with the bend in it.
struct Bent(Bend);

fn ticket() -> Payload {
    Payload::from(r#"{"id":"T-0"}"#.to_owned())
}

impl Bent {
    fn told(&self, mut command: Command) -> Command {
        if let Command::LookedUp(report) = &mut command {
            match (self.0, &report.finding) {
                (Bend::BelievesAtOnce, Finding::NotFound) => {
                    report.asked_at = report.asked_at + Millis::from_secs(60);
                }
                (Bend::TakesNothingForDone, Finding::NotFound)
                | (Bend::TakesPartForWhole, Finding::Partly) => {
                    report.finding = Finding::Applied(ticket());
                }
                (_, _) => {}
            }
        }
        if self.0 == Bend::AsksNobody
            && let Command::Settle(report) = &mut command
            && let SettleEnd::Failed(failure) = &mut report.end
        {
            (failure.kind, failure.sent) = (FailureKind::TransientTransport, Sent::NotSent);
        }
        command
    }

    fn decided(&self, is_taken_over: bool, event: Event) -> Event {
        let Event::EffectInDoubt { call, reason, .. } = event else {
            return event;
        };
        if is_taken_over && self.0 == Bend::ForgetsWhatWasOut {
            let reason = Reason::NotSent;
            return Event::EffectAbsent { call, reason };
        }
        if self.0 == Bend::TakesDoubtForDone {
            let result = ticket();
            return Event::EffectApplied {
                call,
                result,
                reason,
            };
        }
        event
    }
}

impl Core for Bent {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let is_taken_over = matches!(command, Command::TakeOver { .. });
        let events = Machine.decide(run, self.told(command), now)?.into_iter();
        Ok(events
            .map(|event| self.decided(is_taken_over, event))
            .collect())
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        Machine.apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        Machine.pending(run, now)
    }
}

#[test]
fn every_rule_that_is_broken_is_seen() {
    for (bend, case) in Bend::ALL {
        let case: Case = case.parse().unwrap();
        let straight = play(&case, &machine);
        assert!(straight.wrong.is_empty(), "{case}: {:?}", straight.wrong);
        let bent = play(&case, &|| Arc::new(Bent(bend)));
        let log = bent.world.describe(bent.id);
        assert!(
            !bent.wrong.is_empty(),
            "{bend:?} is not seen in {case}\n{log}"
        );
        println!("{bend:?} in {case}: {}", bent.wrong.join("; "));
    }
}
