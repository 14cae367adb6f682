//! What another run has under a key of this one's: told with a report, or by itself.
//!
//! `answer|fail|lose CALL .. held=STATE`: the report, and the entry that the ledger names with it.
//! `told CALL [RESULT|mismatch]`: the other run was answered. `look CALL STATE`: the entry is read.

use mainstay_machine::{Command, EntryState, FoundByOther, Settle, effect};
use mainstay_types::{AttemptNo, CallId, Digest, Payload, RunId};

use super::parse::Line;
use super::play::Play;
use super::world::{Held, ORIGIN};

impl Play<'_> {
    /// The end of an attempt, with what another run has of its effect.
    pub(super) fn in_view_of_held(&self, line: &Line, report: Settle) -> Command {
        let Some(state) = line.option("held") else {
            return Command::Settle(report);
        };
        let entry = self.world.entry(report.call, &held(line, state));
        let entry = Box::new(entry.expect("its request is made"));
        Command::SettleHeld { report, entry }
    }

    pub(super) fn elsewhere(&mut self, line: &Line) {
        let id = self.call(line.word(0));
        let command = match line.verb.as_str() {
            "told" => self.told(line, id),
            _ => {
                let entry = self.world.entry(id, &held(line, line.word(1)));
                Command::KeyHeld {
                    call: id,
                    entry: Box::new(entry.expect("its request is made")),
                    abandoned: None,
                }
            }
        };
        self.turn(command);
    }

    fn told(&self, line: &Line, id: CallId) -> Command {
        let run = &self.world.run;
        let call = run.calls().get(id).expect("found by its path");
        let made = call.prepared.as_ref().expect("its request is made");
        let said = line.words.get(1).map_or("found", String::as_str);
        Command::FoundByOther(Box::new(FoundByOther {
            key: effect::key(run, id, call).expect("it wants a key"),
            fingerprint: match said {
                "mismatch" => Digest::of(b"another request"),
                _ => made.fingerprint,
            },
            result: Payload::from(format!("\"{said}\"")),
            run: RunId::from_bytes([9; 16]),
            call: CallId(0),
            attempt: AttemptNo(1),
        }))
    }
}

/// An entry of another run, by the word for it.
pub(super) fn held(line: &Line, state: &str) -> Held {
    let same_request = state != "mismatch";
    let state = match state {
        "applied" | "mismatch" => EntryState::Applied(Payload::from("\"theirs\"")),
        "open" => EntryState::Open,
        "in_doubt" => EntryState::InDoubt,
        "partly" => EntryState::PartlyApplied,
        "not_applied" => EntryState::NotApplied,
        "compensated" => EntryState::Compensated,
        other => panic!("`{}`: no entry is {other}", line.text),
    };
    Held {
        state,
        same_request,
        abandoned: line.time("abandoned").map(|by| ORIGIN + by),
        has_landed: false,
    }
}
