//! Starting: idempotent by key, durable once it returns, refused without a trace.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_ledger::RunFilter;
use mainstay_machine::OutcomeKind;
use mainstay_runtime::EngineError;
use mainstay_types::{Code, Millis, limits};

use crate::world::classes::{chain, meeting, single};
use crate::world::{Does, Minutes, World, minutes};

fn refusal(error: &EngineError) -> (Code, Option<Millis>) {
    let EngineError::Refused {
        refusal,
        retry_after,
    } = error
    else {
        panic!("not a refusal: {error}");
    };
    (refusal.code, *retry_after)
}

/// A class of one read with this name and version; `by` is not part of its data.
fn versioned(world: &World, version: u32, timeout: u64) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("versioned", version);
    g.budget(Budget::new().answer_by(secs(20)));
    let read = world.outside.read("anything");
    let told = g
        .read("told", &read, (), |m, ()| m.question())
        .timeout(secs(timeout))
        .add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

#[test]
fn the_same_key_and_input_find_the_same_run_and_ask_nobody_again() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life
            .engine
            .start(&class, minutes("M", 2))
            .key("K")
            .await
            .unwrap();
        let while_open = life
            .engine
            .start(&class, minutes("M", 2))
            .key("K")
            .await
            .unwrap();
        assert_eq!((first.is_reused(), while_open.is_reused()), (false, true));
        assert_eq!(first.id(), while_open.id());
        let tickets = first.outcome().await.unwrap().result.unwrap().tickets;
        let asked = world.outside.asks().len();
        let ended = life
            .engine
            .start(&class, minutes("M", 2))
            .key("K")
            .await
            .unwrap();
        assert_eq!((ended.id(), ended.is_reused()), (first.id(), true));
        assert_eq!(
            ended.outcome().await.unwrap().result.unwrap().tickets,
            tickets
        );
        assert_eq!(world.outside.asks().len(), asked);
    });
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn a_key_belongs_to_one_input_of_one_class_of_one_tenant() {
    let world = World::new();
    let (class, other) = (single(&world.outside), chain(&world.outside, 1));
    let life = world.live(&[class.erased(), other.erased()]);
    life.block_on(async {
        let engine = &life.engine;
        let first = engine
            .start(&class, minutes("M", 1))
            .key("K")
            .await
            .unwrap();
        let input = engine
            .start(&class, minutes("M", 2))
            .key("K")
            .await
            .unwrap_err();
        assert_eq!(refusal(&input).0, Code::StartKeyMismatch);
        assert!(
            input.to_string().contains(&first.id().to_string()),
            "{input}"
        );
        let class_too = engine
            .start(&other, minutes("M", 1))
            .key("K")
            .await
            .unwrap_err();
        assert_eq!(refusal(&class_too).0, Code::StartKeyMismatch);
        let tenant = engine
            .start(&class, minutes("M", 1))
            .key("K")
            .tenant("other")
            .await
            .unwrap();
        assert_ne!(tenant.id(), first.id());
        assert!(!tenant.is_reused());
    });
    assert_eq!(world.runs().len(), 2);
}

#[test]
fn two_starts_at_once_with_one_key_are_one_run() {
    let world = World::new();
    world.ledger.slow(3, 3);
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let engine = &life.engine;
        let one = engine.start(&class, minutes("M", 1)).key("K").into_future();
        let two = engine.start(&class, minutes("M", 1)).key("K").into_future();
        let other = engine.start(&class, minutes("M", 2)).key("K").into_future();
        let (one, two, other) = tokio::join!(one, two, other);
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.id(), two.id());
        assert_eq!(
            [one.is_reused(), two.is_reused()]
                .iter()
                .filter(|&&reused| reused)
                .count(),
            1
        );
        assert_eq!(refusal(&other.unwrap_err()).0, Code::StartKeyMismatch);
        one.outcome().await.unwrap();
    });
    assert_eq!(world.runs().len(), 1);
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn without_a_key_each_start_is_a_run_of_its_own() {
    let world = World::new();
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let one = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let two = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        assert_ne!(one.id(), two.id());
    });
}

#[test]
fn a_full_engine_refuses_with_a_time_to_come_back_and_has_room_after_an_end() {
    let world = World::new();
    let class = single(&world.outside);
    let life = world.live_with(|builder| builder.register(&class).runs_max(2));
    life.block_on(async {
        let engine = &life.engine;
        let first = engine.start(&class, minutes("A", 1)).await.unwrap();
        engine
            .start(&class, minutes("B", 1))
            .key("B")
            .await
            .unwrap();
        let error = engine
            .start(&class, minutes("C", 1))
            .key("C")
            .await
            .unwrap_err();
        assert_eq!(
            refusal(&error),
            (Code::EngineFull, Some(Millis::from_secs(1)))
        );
        let known = engine
            .start(&class, minutes("B", 1))
            .key("B")
            .await
            .unwrap();
        assert!(
            known.is_reused(),
            "a run that is there is found, however full the engine is"
        );
        first.outcome().await.unwrap();
        engine
            .start(&class, minutes("C", 1))
            .key("C")
            .await
            .expect("there is room again");
    });
    assert_eq!(world.runs().len(), 3);
}

#[test]
fn a_refused_start_leaves_no_trace_and_takes_no_place() {
    let world = World::new();
    let registered = versioned(&world, 1, 3);
    let (changed, unknown) = (versioned(&world, 1, 4), versioned(&world, 2, 3));
    let life = world.live_with(|builder| builder.register(&registered).runs_max(1));
    life.block_on(async {
        let engine = &life.engine;
        let code = |end: Result<_, EngineError>| {
            refusal(
                &end.map(|_: mainstay_runtime::RunHandle<String>| ())
                    .unwrap_err(),
            )
            .0
        };
        let large = Minutes {
            id: "x".repeat(limits::PAYLOAD_BYTES_MAX),
            actions: Vec::new(),
        };
        assert_eq!(
            code(engine.start(&changed, minutes("M", 1)).await),
            Code::ClassChanged
        );
        assert_eq!(
            code(engine.start(&unknown, minutes("M", 1)).await),
            Code::ClassUnknown
        );
        assert_eq!(
            code(engine.start(&registered, large).await),
            Code::PayloadTooLarge
        );
        for key in ["", "a\nb", &"k".repeat(201)] {
            let start = engine.start(&registered, minutes("M", 1)).key(key);
            assert_eq!(code(start.await), Code::InvalidInput, "{key:?}");
        }
        let start = engine.start(&registered, minutes("M", 1)).tenant("");
        assert_eq!(code(start.await), Code::InvalidInput);
        assert!(world.ledger.log().is_empty());
        assert!(
            engine
                .runs(RunFilter::default(), None)
                .await
                .unwrap()
                .rows
                .is_empty()
        );
        engine
            .start(&registered, minutes("M", 1))
            .await
            .expect("the one place is free");
    });
}

#[test]
fn a_class_that_the_store_knows_with_other_content_starts_no_run_that_could_not_be_loaded() {
    let world = World::new();
    let (before, after) = (versioned(&world, 1, 3), versioned(&world, 1, 4));
    let life = world.live(&[before.erased()]);
    let old = life.block_on(async {
        let run = life.engine.start(&before, minutes("M", 1)).await.unwrap();
        run.outcome().await.unwrap();
        run.id()
    });
    life.crash();
    let life = world.live(&[after.erased()]);
    life.block_on(async {
        let error = life
            .engine
            .start(&after, minutes("M", 1))
            .await
            .unwrap_err();
        assert_eq!(refusal(&error).0, Code::ClassChanged);
        let run = life
            .engine
            .run(&after, old)
            .await
            .expect("what is stored can be read");
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn a_start_is_durable_once_it_returns() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 2)).id();
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.outside.effects().len(), 2);
}

/// Polls a future so many times and drops it; whether it had ended by then.
async fn abandoned<T>(mut future: Pin<Box<dyn Future<Output = T> + Send>>, polls: usize) -> bool {
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        if future.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[test]
fn a_dropped_start_leaves_no_run_or_one_that_is_driven_to_its_end() {
    let mut seen = [false; 2];
    for polls in 0..12 {
        let world = World::new();
        let class = single(&world.outside);
        let life = world.live(&[class.erased()]);
        let start = life
            .engine
            .start(&class, minutes("M", 1))
            .key("K")
            .into_future();
        let ended = life.block_on(abandoned(start, polls));
        life.run_for(1_000);
        match world.runs().first() {
            None => seen[0] = true,
            Some(&run) => {
                seen[1] |= !ended;
                let outcome = world.state(run).head().unwrap().lap.outcome.clone();
                assert_eq!(
                    outcome.unwrap().kind,
                    OutcomeKind::Completed,
                    "after {polls} polls"
                );
            }
        }
    }
    assert_eq!(
        seen, [true; 2],
        "both happen: no run, and one although the start was dropped"
    );
}

#[test]
fn a_trace_context_is_passed_on_and_one_that_is_none_is_ignored() {
    let world = World::new();
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (given, kept) in [
        (valid, Some(valid)),
        ("not one", None),
        (&"0-".repeat(600), None),
    ] {
        let id = life.block_on(async {
            let start = life
                .engine
                .start(&class, minutes("M", 1))
                .traceparent(given);
            start.await.unwrap().id()
        });
        assert_eq!(world.state(id).head().unwrap().traceparent.as_deref(), kept);
    }
}

#[test]
fn a_start_that_finds_its_run_needs_no_code_for_it() {
    let world = World::new();
    let class = single(&world.outside);
    world.outside.script(|_| Does::Hang);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 1)).id();
    life.crash();
    let life = world.live(&[]);
    life.block_on(async {
        let run = life
            .engine
            .start(&class, minutes("M", 1))
            .key("K")
            .await
            .unwrap();
        assert_eq!((run.id(), run.is_reused()), (id, true));
        assert_eq!(
            run.outcome().await.unwrap_err().code(),
            Code::WaitingForCode
        );
    });
}
