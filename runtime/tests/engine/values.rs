//! Users' own types as input, request, reply and result: what goes in comes out, and what was
//! recorded is what is sent.

#![expect(
    clippy::disallowed_types,
    reason = "users have hash maps in their types"
)]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Read, Resolution, Write};
use mainstay_machine::OutcomeKind;
use mainstay_types::{Failure, FailureKind, Millis};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::world::classes::NewTicket;
use crate::world::script::busy;
use crate::world::{Does, Minutes, Ticket, World, minutes};

/// Everything that serde makes hard at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Everything {
    by_name: HashMap<String, HashMap<String, f64>>,
    ratio: f64,
    tiny: f64,
    largest: u64,
    smallest: i64,
    #[serde(flatten)]
    inner: Inner,
    choice: Choice,
    tagged: Tagged,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    none: Vec<u8>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Inner {
    inside: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Choice {
    Pair(u64, f64),
    Named { of: Vec<Option<bool>> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "body")]
enum Tagged {
    First(HashMap<String, u64>),
    Second,
}

fn everything() -> Everything {
    let numbers = |n: u32| {
        (0..n)
            .map(|i| (format!("n{i}"), f64::from(i) / 3.0))
            .collect::<HashMap<_, _>>()
    };
    Everything {
        by_name: (0..20).map(|n| (format!("name {n}"), numbers(n))).collect(),
        ratio: 0.1 + 0.2,
        tiny: 5e-324,
        largest: u64::MAX,
        smallest: i64::MIN,
        inner: Inner {
            inside: u64::MAX - 1,
            rest: [("more".to_owned(), "à \u{1F980} \"\\\n".to_owned())].into(),
        },
        choice: Choice::Named {
            of: vec![None, Some(true)],
        },
        tagged: Tagged::First((0..9).map(|n| (format!("k{n}"), u64::MAX - n)).collect()),
        absent: None,
        none: Vec::new(),
        text: "plain".to_owned(),
    }
}

/// Keeps what it was asked and gives it back.
#[derive(Clone, Default)]
struct Echo(Arc<Mutex<Vec<Everything>>>);

impl Read for Echo {
    type Request = Everything;
    type Reply = Everything;

    fn name(&self) -> &str {
        "echo"
    }

    async fn call(
        &self,
        asked: Everything,
        _: &AttemptContext,
    ) -> Result<Answer<Everything>, Failure> {
        self.0.lock().push(asked.clone());
        Ok(asked.into())
    }
}

impl Write for Echo {
    type Request = Everything;
    type Reply = Everything;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "echo-write"
    }

    /// Its first reply is lost, so that the value comes back through a look-up.
    async fn send(
        &self,
        asked: Everything,
        _: &AttemptContext,
    ) -> Result<Answer<Everything>, Failure> {
        self.0.lock().push(asked);
        Err(crate::world::script::maybe_sent(
            FailureKind::TransientTransport,
        ))
    }

    async fn find(
        &self,
        asked: Everything,
        _: &AttemptContext,
    ) -> Result<Found<Everything>, Failure> {
        Ok(Found::Applied(asked))
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(1))
    }
}

#[test]
fn values_of_every_shape_come_through_a_run_as_they_went_in() {
    let world = World::new();
    let (read, written) = (Echo::default(), Echo::default());
    let mut g = TaskClass::<Everything>::define("values", 1);
    g.budget(Budget::new().answer_by(secs(20)));
    let told = g.read("told", &read, (), |input, ()| input.clone()).add();
    let kept = g.local("kept", told, |_, told| told.clone()).add();
    let wrote = g
        .write("wrote", &written, kept, |_, kept| kept.clone())
        .add();
    let class = g
        .finish((told, kept, wrote), |input, (told, kept, wrote)| {
            assert!(input == told && told == kept && kept == wrote);
            wrote.clone()
        })
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    let outcome = life.block_on(async {
        let run = life
            .engine
            .start(&class, everything())
            .key("K")
            .await
            .unwrap();
        let outcome = run.outcome().await.unwrap();
        // Another hash map with the same content is the same input.
        let same = life
            .engine
            .start(&class, everything())
            .key("K")
            .await
            .unwrap();
        assert!(same.is_reused());
        outcome
    });
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap(), everything());
    assert_eq!(*read.0.lock(), [everything()]);
    assert_eq!(*written.0.lock(), [everything()]);
    life.crash();
    let life = world.live(&[class.erased()]);
    let again = life.block_on(async {
        life.engine
            .run(&class, world.only_run())
            .await
            .unwrap()
            .outcome()
            .await
            .unwrap()
    });
    assert_eq!(
        again.result.unwrap(),
        everything(),
        "also when read back from the store"
    );
}

/// A class whose closures add `suffix` to what they send; its data is the same for every suffix.
fn suffixed(world: &World, suffix: &'static str) -> Class<Minutes, Vec<String>> {
    let mut g = TaskClass::<Minutes>::define("suffixed", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let read = world.outside.read("read");
    let told = g.read("told", &read, (), move |m, ()| {
        let mut question = m.question();
        question.about.push_str(suffix);
        question
    });
    let told = told.add();
    let write = world.outside.write("tickets");
    let written = g.each("written", &write, told, 9, move |_, told| {
        let title = |action: &String| NewTicket {
            title: format!("{action}{suffix}"),
        };
        told.actions.iter().map(title).collect()
    });
    let written = written.add();
    g.finish(written, |_, written: &Vec<Ticket>| {
        written.iter().map(|t| t.id.clone()).collect()
    })
    .expect("a valid class")
}

/// F37: a deploy changes a call's closure between send and resend.
#[test]
fn f37_a_closure_that_changed_while_the_process_was_down_changes_no_recorded_request() {
    let world = World::new();
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("read", 1) => Does::Fail(10, busy(2_000)),
            ("tickets", 1) => Does::Hang,
            _ => Does::Answer(10),
        });
    let (before, after) = (suffixed(&world, " before"), suffixed(&world, " after"));
    assert_eq!(before.erased().fingerprint, after.erased().fingerprint);
    let life = world.live(&[before.erased()]);
    life.start_keyed(&before, minutes("M", 2));
    life.run_for(100);
    life.crash();

    // The read was prepared by the old code, the list is made by the new one, in this life.
    let life = world.live(&[after.erased()]);
    life.run_for(2_500);
    assert_eq!(world.outside.requests("tickets").len(), 2);
    life.crash();

    let life = world.live(&[before.erased()]);
    life.block_on(async {
        let run = life.engine.run(&before, world.only_run()).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{}",
            world.describe(run.id())
        );
    });
    let reads = world.outside.requests("read");
    assert_eq!(reads.len(), 2);
    assert!(
        reads.iter().all(|ask| ask.body.contains("M before")),
        "{reads:#?}"
    );
    let writes = world.outside.requests("tickets");
    assert_eq!(writes.len(), 4);
    assert!(
        writes.iter().all(|ask| ask.body.contains(" after")),
        "{writes:#?}"
    );
    let asked = world.outside.look_ups();
    assert!(
        asked.iter().all(|ask| ask.body.contains(" after")),
        "look-ups too: {asked:#?}"
    );
    world.must_be_sound();
}
