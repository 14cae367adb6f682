//! The executor in virtual time: order, waiting, being stuck, being killed. It must never need a
//! real clock to pass, except where it measures that none was waited for.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use mainstay_sim::{Executor, Sim, Stuck, VirtualTimers};
use mainstay_types::{BoxFuture, Clock, Digest, IdSource, Millis, Rng, Spawner, Timers};

type Log = Arc<Mutex<Vec<String>>>;

fn write(log: &Log, line: impl Into<String>) {
    log.lock().expect("no panic holds it").push(line.into());
}

fn lines(log: &Log) -> Vec<String> {
    log.lock().expect("no panic holds it").clone()
}

/// Lets the others go first, once.
fn give_way() -> impl Future<Output = ()> {
    let mut gave = false;
    poll_fn(move |cx| {
        if gave {
            return Poll::Ready(());
        }
        gave = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

/// A place for one ball: whoever throws into it wakes who catches.
#[derive(Default)]
struct Court(Mutex<(Option<u64>, Option<Waker>)>);

impl Court {
    fn throw(&self, ball: u64) {
        let waker = {
            let mut court = self.0.lock().expect("no panic holds it");
            court.0 = Some(ball);
            court.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn catch(&self) -> u64 {
        poll_fn(|cx| {
            let mut court = self.0.lock().expect("no panic holds it");
            if let Some(ball) = court.0.take() {
                return Poll::Ready(ball);
            }
            court.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

#[test]
fn strands_run_in_the_order_they_were_spawned_and_woken() {
    let sim = Sim::new(1);
    let log = Log::default();
    for name in ["a", "b", "c"] {
        let log = Arc::clone(&log);
        sim.spawner().spawn(Box::pin(async move {
            for round in 0..2 {
                write(&log, format!("{name}{round}"));
                give_way().await;
            }
        }));
    }
    sim.executor().run_until_stalled();
    assert_eq!(lines(&log), ["a0", "b0", "c0", "a1", "b1", "c1"]);
    assert_eq!(sim.executor().strands(), 0);
}

#[test]
fn two_actors_play_for_seven_days_in_under_a_second() {
    let sim = Sim::new(2);
    let (there, here) = (Arc::new(Court::default()), Arc::new(Court::default()));
    let timers = sim.timers();
    {
        let (there, here) = (Arc::clone(&there), Arc::clone(&here));
        let timers = timers.clone();
        sim.spawner().spawn(Box::pin(async move {
            loop {
                let ball = there.catch().await;
                timers.sleep(Millis::from_mins(1)).await;
                here.throw(ball + 1);
            }
        }));
    }
    let minutes = 7 * 24 * 60;
    let (began, start) = (Instant::now(), sim.clock().monotonic());
    let last = sim.block_on(async {
        let mut ball = 0;
        while ball < minutes {
            there.throw(ball);
            ball = here.catch().await;
        }
        ball
    });
    assert_eq!(last, minutes);
    assert_eq!(sim.clock().monotonic().less(start), Millis::from_days(7));
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}

/// What 20 actors that sleep as chance wills write down, as one digest.
fn log_of(seed: u64) -> Digest {
    let sim = Sim::new(seed);
    let log = Log::default();
    for actor in 0..20 {
        let (log, rng, ids) = (Arc::clone(&log), sim.rng(), sim.ids());
        let (clock, timers) = (sim.clock(), sim.timers());
        sim.spawner().spawn(Box::pin(async move {
            for _ in 0..50 {
                timers.sleep(Millis::new(rng.next_u64() % 1_000)).await;
                let id = ids.message_id(clock.wall());
                write(&log, format!("{actor} {} {id}", clock.monotonic().get()));
            }
        }));
    }
    sim.run_for(Millis::from_mins(2));
    let lines = lines(&log);
    assert_eq!(lines.len(), 1_000, "seed {seed}");
    Digest::of(lines.join("\n").as_bytes())
}

#[test]
fn one_seed_gives_one_log() {
    for seed in [1, 2, 99] {
        assert_eq!(log_of(seed), log_of(seed), "seed {seed}");
    }
    assert_ne!(log_of(1), log_of(2));
}

#[test]
fn running_for_a_while_wakes_each_sleeper_at_its_own_moment() {
    let sim = Sim::new(3);
    let log = Log::default();
    let (timers, clock, written) = (sim.timers(), sim.clock(), Arc::clone(&log));
    sim.spawner().spawn(Box::pin(async move {
        loop {
            timers.sleep(Millis::from_secs(3)).await;
            write(&written, clock.monotonic().to_string());
        }
    }));
    sim.run_for(Millis::from_secs(10));
    assert_eq!(lines(&log), ["3.0 s", "6.0 s", "9.0 s"]);
    assert_eq!(sim.clock().monotonic(), Millis::from_secs(10));
}

#[test]
fn a_future_that_nobody_will_wake_is_told_instead_of_waited_for() {
    let sim = Sim::new(4);
    sim.spawner().spawn(Box::pin(pending()));
    let stuck = sim.executor().try_block_on(pending::<()>());
    assert_eq!(stuck, Err(Stuck::NothingLeft { strands: 1 }));
}

#[test]
fn who_spins_without_end_meets_the_bound() {
    let executor = Executor::new(VirtualTimers::new(Sim::new(5).clock())).polls_max(1_000);
    let spin = async {
        loop {
            give_way().await;
        }
    };
    let stuck = executor.try_block_on(async { pin!(spin).await });
    assert_eq!(
        stuck,
        Err::<(), _>(Stuck::TooManyPolls { polls_max: 1_000 })
    );
}

#[test]
fn block_on_ends_with_its_future_and_leaves_the_others_where_they_are() {
    let sim = Sim::new(6);
    let log = Log::default();
    let (timers, written) = (sim.timers(), Arc::clone(&log));
    sim.spawner().spawn(Box::pin(async move {
        timers.sleep(Millis::from_secs(2)).await;
        write(&written, "late");
    }));
    sim.block_on(sim.timers().sleep(Millis::from_secs(1)));
    assert!(lines(&log).is_empty());
    sim.block_on(sim.timers().sleep(Millis::from_secs(1)));
    sim.executor().run_until_stalled();
    assert_eq!(lines(&log), ["late"]);
}

/// Counts its drops, and spawns another one when it is dropped.
struct Last(Arc<AtomicUsize>, Arc<dyn Spawner>);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.spawn(Box::pin(async {}));
    }
}

#[test]
fn a_crash_drops_every_strand_and_what_its_drops_spawn_and_later_ones_run() {
    let sim = Sim::new(7);
    let dropped = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let last = Last(Arc::clone(&dropped), Arc::new(sim.spawner()));
        let timers = sim.timers();
        sim.spawner().spawn(Box::pin(async move {
            timers.sleep(Millis::from_secs(1)).await;
            drop(last);
        }));
    }
    sim.executor().run_until_stalled();
    assert_eq!(sim.timers().waiting(), 3);
    sim.executor().crash();
    assert_eq!(
        (dropped.load(Ordering::SeqCst), sim.executor().strands()),
        (3, 0)
    );
    assert_eq!(sim.timers().waiting(), 0);
    let log = Log::default();
    let written = Arc::clone(&log);
    sim.spawner()
        .spawn(Box::pin(async move { write(&written, "again") }));
    sim.executor().run_until_stalled();
    assert_eq!(lines(&log), ["again"]);
}

#[test]
fn a_panic_in_a_strand_comes_out_and_leaves_the_others_alive() {
    let sim = Sim::new(8);
    let log = Log::default();
    let broken: BoxFuture<'static, ()> = Box::pin(async { panic!("broken strand") });
    sim.spawner().spawn(broken);
    let written = Arc::clone(&log);
    sim.spawner()
        .spawn(Box::pin(async move { write(&written, "alive") }));
    let run = std::panic::AssertUnwindSafe(|| sim.executor().run_until_stalled());
    let panic = std::panic::catch_unwind(run).expect_err("the strand panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"broken strand"));
    sim.executor().run_until_stalled();
    assert_eq!(lines(&log), ["alive"]);
    assert_eq!(sim.executor().strands(), 0);
}

#[test]
fn what_is_spawned_after_the_executor_is_gone_is_dropped() {
    let sim = Sim::new(9);
    let spawner = sim.spawner();
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    drop(sim);
    spawner.spawn(Box::pin(async move {
        let _inside = inside;
        pending::<()>().await;
    }));
    assert_eq!(Arc::strong_count(&held), 1);
}
