//! One word, put wherever a user, a provider or a caller can put one: no span, span event or metric
//! repeats it, while the store keeps it for those who ask.

use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_dispatch::{
    Answer, AttemptContext, Found, Promise, Read, Resolution, Stack, Write, unclassified,
};
use mainstay_machine::{Action, Command, Core, Event, Machine, Run};
use mainstay_types::{
    CallId, Code, Corrupt, Failure, FailureKind, Refusal, RunId, Sent, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use tower::layer::layer_fn;

use crate::layers::Panics;
use crate::world::classes::{NewTicket, Question, Told as Reply};
use crate::world::outside::panicked;
use crate::world::witness::{Told, witnessed};
use crate::world::{Life, Minutes, Ticket, World};

const CANARY: &str = "CANARY-7f3a";

/// Who says the word, beside the caller and the receiver's replies, which always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nobody,
    ReadFails,
    ReadUnclassified,
    ReadPanics,
    WriteRefused,
    WriteLost,
    WritePanics,
    FindFails,
    FindPanics,
    RequestPanics,
    RequestInvalid,
    ValueUnspeakable,
    ResultPanics,
    LayerPanics,
    CorePanics,
    CoreContradicts,
    CoreRefuses,
}

const ALL: [Says; 17] = [
    Says::Nobody,
    Says::ReadFails,
    Says::ReadUnclassified,
    Says::ReadPanics,
    Says::WriteRefused,
    Says::WriteLost,
    Says::WritePanics,
    Says::FindFails,
    Says::FindPanics,
    Says::RequestPanics,
    Says::RequestInvalid,
    Says::ValueUnspeakable,
    Says::ResultPanics,
    Says::LayerPanics,
    Says::CorePanics,
    Says::CoreContradicts,
    Says::CoreRefuses,
];

/// Those whose write is lost.
const LOST: [Says; 4] = [
    Says::WriteLost,
    Says::FindFails,
    Says::FindPanics,
    Says::CoreRefuses,
];

fn told(kind: FailureKind, sent: Sent) -> Failure {
    Failure::new(kind, sent)
        .provider_code(CANARY)
        .message(CANARY)
}

fn panics() -> ! {
    panicked(format!("{CANARY} cannot be parsed"))
}

/// The receiver of everything; every reply has the word.
#[derive(Clone)]
struct Receiver(Says);

impl Read for Receiver {
    type Request = Question;
    type Reply = Reply;

    fn name(&self) -> &str {
        "reads"
    }

    async fn call(&self, asked: Question, _: &AttemptContext) -> Result<Answer<Reply>, Failure> {
        assert!(asked.about.contains(CANARY));
        if self.0 == Says::ReadFails {
            return Err(told(FailureKind::PermanentProvider, Sent::Answered));
        }
        if self.0 == Says::ReadUnclassified {
            return Err(unclassified(CANARY));
        }
        if self.0 == Says::ReadPanics {
            panics();
        }
        Ok(Answer::new(Reply {
            by: CANARY.to_owned(),
            actions: asked.actions,
        }))
    }
}

impl Write for Receiver {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "writes"
    }

    async fn send(&self, _: NewTicket, _: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        if self.0 == Says::WriteRefused {
            return Err(told(FailureKind::PermanentProvider, Sent::Answered));
        }
        if LOST.contains(&self.0) {
            return Err(told(FailureKind::TransientTransport, Sent::MaybeSent));
        }
        if self.0 == Says::WritePanics {
            panics();
        }
        Ok(Answer::new(ticket()))
    }

    async fn find(&self, _: NewTicket, _: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        if [Says::FindFails, Says::CoreRefuses].contains(&self.0) {
            return Err(told(FailureKind::Overloaded, Sent::Answered));
        }
        if self.0 == Says::FindPanics {
            panics();
        }
        Ok(Found::Applied(ticket()))
    }

    fn promise(&self) -> Promise {
        Promise::new().honours_keys(None)
    }
}

fn ticket() -> Ticket {
    Ticket {
        id: CANARY.to_owned(),
    }
}

/// A value that has no JSON when it is told so, and says why.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Value(bool);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 {
            return Err(serde::ser::Error::custom(CANARY));
        }
        serializer.serialize_newtype_struct("Value", &self.0)
    }
}

fn class(says: Says) -> Class<Minutes, String> {
    let receiver = Receiver(says);
    let mut g = TaskClass::<Minutes>::define("canary", 1);
    g.budget(Budget::new().answer_by(secs(20)));
    let read = g.read("told", &receiver, (), |m, ()| m.question());
    let read = read.soft("not told").add();
    let value = g.local("value", (), move |_, ()| {
        Value(says == Says::ValueUnspeakable)
    });
    let value = value.add();
    let order = g.write("order", &receiver, read, move |m, _| {
        if says == Says::RequestPanics {
            panics();
        }
        NewTicket {
            title: m.actions[0].clone(),
        }
    });
    let order = order.business_id(|m: &Minutes| &m.id).add();
    let result = move |_: &Minutes, (ticket, _): (&Ticket, &Value)| {
        if says == Says::ResultPanics {
            panics();
        }
        ticket.id.clone()
    };
    g.finish((order, value), result).expect("a valid class")
}

/// A core that repeats what it was given when it fails.
struct Loud(Says);

impl Core for Loud {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let is_end = matches!(command, Command::Settle(_));
        if self.0 == Says::CorePanics && is_end {
            panics();
        }
        let is_cancel = matches!(command, Command::Cancel { .. });
        if self.0 == Says::CoreRefuses && is_cancel {
            return Err(Refusal::new(Code::AttemptUnknown).about(CANARY));
        }
        Machine.decide(run, command, now)
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        let is_end = matches!(event, Event::AttemptSettled { .. });
        if self.0 == Says::CoreContradicts && is_end {
            return Err(Corrupt::new("AttemptSettled", CANARY));
        }
        Machine.apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        Machine.pending(run, now)
    }
}

fn live(world: &World, class: &Class<Minutes, String>, says: Says) -> Life {
    world.live_with(|builder| {
        let builder = builder.register(class).core(Arc::new(Loud(says)));
        if says != Says::LayerPanics {
            return builder;
        }
        let stack = Stack::new(Arc::new(world.timers.clone()));
        builder.stack(stack.layer(layer_fn(|_| Panics(CANARY))))
    })
}

fn input(says: Says) -> Minutes {
    // No business id may have a control character.
    let wrong = if says == Says::RequestInvalid {
        "\u{1}"
    } else {
        ""
    };
    Minutes {
        id: format!("{wrong}{CANARY}"),
        actions: vec![format!("{CANARY} is to be told")],
    }
}

/// A run's whole life: started, started again in vain, canceled, crashed, driven on.
fn life_of(world: &World, says: Says) -> RunId {
    let class = class(says);
    let life = live(world, &class, says);
    let id = life.block_on(async {
        let start = life.engine.start(&class, input(says));
        let start = start.tenant(CANARY).key(CANARY).traceparent(CANARY);
        let id = start.await.unwrap().id();
        let mut other = input(says);
        other.actions.push(CANARY.to_owned());
        let start = life.engine.start(&class, other.clone()).tenant(CANARY);
        start.key(CANARY).await.unwrap_err();
        // Another run with the same business id and another request: a mismatch of the effect.
        other.actions = vec![format!("not {CANARY}")];
        let start = life.engine.start(&class, other).tenant(CANARY);
        start.await.unwrap();
        id
    });
    life.run_for(2_000);
    // A run that is over or quarantined cannot be canceled any more; the rest is.
    drop(life.block_on(life.engine.cancel(id, CANARY, CANARY)));
    life.run_for(1_000);
    life.crash();
    let life = live(world, &class, says);
    life.run_for(120_000);
    id
}

fn must_not_say(told: &Told, says: Says) {
    let all = format!("{told:#?}");
    let lines: Vec<&str> = all.lines().filter(|line| line.contains("CANARY")).collect();
    assert!(
        lines.is_empty(),
        "{says:?} is repeated:\n{}",
        lines.join("\n")
    );
}

#[test]
fn no_span_event_or_metric_repeats_what_users_providers_or_callers_say() {
    for says in ALL {
        let world = World::new();
        let (id, told) = witnessed(|| life_of(&world, says));
        must_not_say(&told, says);
        assert!(
            !told.named("run").is_empty(),
            "{says:?}: nothing was witnessed"
        );
        let events = world.ledger.events_of(id);
        let stored = format!("{events:?}");
        assert!(stored.contains(CANARY), "{says:?}: the store keeps it");
        let quarantines = [
            Says::RequestPanics,
            Says::ResultPanics,
            Says::CorePanics,
            Says::CoreContradicts,
        ];
        let is_quarantined = stored.contains("RunQuarantined");
        assert_eq!(
            is_quarantined,
            quarantines.contains(&says),
            "{says:?}: {stored}"
        );
    }
}
