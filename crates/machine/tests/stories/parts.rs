//! A run taken apart and put together: what no log makes is refused, never driven into a panic.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::call::{Item, Items};
use mainstay_machine::{Call, Phase, Run, RunParts};
use mainstay_types::{AttemptNo, CallId, ClassVersion, NodeId};

use crate::random::smallest;
use crate::scenario::world::{Facts, World};

fn begun() -> (Arc<TaskClass>, RunParts) {
    let mut world = World::new(Arc::new(smallest()), Facts::default());
    world.begin();
    let parts = world.run.parts().expect("it has started");
    let parts = RunParts {
        seq: parts.seq,
        head: parts.head.clone(),
        calls: parts.calls.to_vec(),
    };
    (Arc::clone(world.run.class()), parts)
}

#[track_caller]
fn refused(change: impl FnOnce(&mut RunParts)) {
    let (class, mut parts) = begun();
    change(&mut parts);
    let corrupt = Run::from_parts(class, parts).expect_err("they are parts of no run");
    assert_eq!(corrupt.event, "snapshot");
}

fn first(change: impl FnOnce(&mut Call)) -> impl FnOnce(&mut RunParts) {
    |parts| change(&mut parts.calls[0])
}

#[test]
fn parts_of_another_class_are_no_run_of_this_one() {
    refused(|parts| parts.head.class.version = ClassVersion(999));
}

#[test]
fn parts_that_refer_to_what_is_not_there_are_no_run() {
    refused(first(|call| call.node = NodeId(999)));
    refused(first(|call| {
        call.item = Some(Item {
            parent: CallId(999),
            position: 0,
        });
    }));
    let items = |first, count| Items {
        first: CallId(first),
        count,
        open: 0,
    };
    refused(first(|call| call.items = Some(items(0, 999))));
    refused(first(|call| call.items = Some(items(u32::MAX, 2))));
    refused(first(|call| call.phase = Phase::InFlight(AttemptNo(77))));
}

#[test]
fn a_run_that_has_not_started_has_no_parts() {
    let (class, _) = begun();
    assert!(Run::unborn(class).parts().is_none());
}

#[test]
#[should_panic(expected = "between its turns")]
fn a_run_is_not_taken_apart_during_a_turn() {
    let (class, parts) = begun();
    let mut run = Run::from_parts(class, parts).expect("they are parts of a run");
    run.begin();
    let _ = run.parts();
}
