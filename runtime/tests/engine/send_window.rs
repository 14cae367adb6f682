//! Between the record of an attempt and its send: a process that stands still there sends nothing
//! late.

use mainstay_machine::OutcomeKind;
use mainstay_types::{Sent, limits};

use crate::world::classes::single;
use crate::world::{World, minutes};

/// What a stop of so many milliseconds between append and send leads to.
fn stopped_for(ms: u64) -> (World, OutcomeKind) {
    let world = World::new();
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    world.ledger.stop_after_next(ms);
    let kind = life.outcome(&life.start(&class, minutes("M", 1))).kind;
    world.must_be_sound();
    (world, kind)
}

/// F39: a process is stopped between the append and the send.
#[test]
fn f39_a_process_that_wakes_after_the_window_does_not_send_and_tries_again() {
    let (world, kind) = stopped_for(limits::SEND_WINDOW_MS + 1);
    assert_eq!(kind, OutcomeKind::Completed);
    let asks = world.outside.requests("orders");
    assert_eq!(
        (asks.len(), asks[0].attempt),
        (1, 2),
        "only the second attempt left"
    );
    let run = world.state(world.only_run());
    let (_, call) = run.calls().iter().next().unwrap();
    let failure = call.last_failure().unwrap();
    assert_eq!(failure.sent, Sent::NotSent);
    assert_eq!(failure.provider_code.as_deref(), Some("SEND_WINDOW_PASSED"));
    assert_eq!(
        world.outside.look_ups().len(),
        0,
        "nothing left, so nothing is in doubt"
    );
}

#[test]
fn f39_a_process_that_wakes_within_the_window_sends_with_less_time() {
    let (world, kind) = stopped_for(limits::SEND_WINDOW_MS);
    assert_eq!(kind, OutcomeKind::Completed);
    let asks = world.outside.requests("orders");
    assert_eq!((asks.len(), asks[0].attempt), (1, 1));
    assert_eq!(asks[0].time_left, 3_000 - limits::SEND_WINDOW_MS);
}

#[test]
fn a_ledger_slower_than_the_window_lets_nothing_leave_late() {
    let world = World::new();
    world.ledger.slow(0, limits::SEND_WINDOW_MS + 500);
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let kind = life.outcome(&life.start(&class, minutes("M", 1))).kind;
    assert_eq!(kind, OutcomeKind::HandedOff);
    assert!(world.outside.asks().is_empty());
}
