//! G12: one seed, one log. Records and the order they were committed in, byte for byte.

use std::collections::BTreeMap;

use mainstay_class::{Extend, hours, secs};
use mainstay_ledger::Chain;
use mainstay_ledger::record::{self, Place};
use mainstay_sim::SeededRng;
use mainstay_types::{Digest, Epoch, FailureKind, Rng, RunId, Seq};

use crate::world::classes::{meeting_as, walkthrough};
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, World, minutes};

const RUNS: usize = 64;

/// 64 runs with failures and a crash in the middle of them.
fn world(seed: u64) -> World {
    let world = World::seeded(seed);
    let rng = SeededRng::stream(seed, "outside");
    world.outside.script(move |ask| {
        let after = rng.next_u64() % 500;
        match (rng.next_u64() % 10, ask.key.is_some()) {
            (0, _) => Does::Fail(after, refused(FailureKind::Overloaded)),
            (1, true) => Does::LandAndFail(after, 5, maybe_sent(FailureKind::TransientTransport)),
            (1, false) => Does::Panic(after),
            (2, true) => Does::Lose(after),
            _ => Does::Answer(after),
        }
    });
    let class = meeting_as(&world.outside, |g| {
        g.budget(walkthrough().answer_by(secs(60)).retries(30))
            .on_downtime(Extend(hours(1)));
    });
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        for n in 0..RUNS {
            let key = format!("K{n}");
            life.engine
                .start(&class, minutes(&key, n % 7))
                .key(&key)
                .await
                .unwrap();
        }
    });
    life.run_for(600);
    life.crash();
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        for id in world.runs() {
            life.engine
                .run(&class, id)
                .await
                .unwrap()
                .outcome()
                .await
                .unwrap();
        }
    });
    world
}

/// The stored records of all runs in the order of their appends, and their digest.
fn records(world: &World) -> (Vec<u8>, Digest) {
    let mut ends: BTreeMap<RunId, (Seq, Epoch, Chain)> = BTreeMap::new();
    let mut bytes = Vec::new();
    for append in world.ledger.log() {
        let start = (Seq(0), Epoch(1), Chain::start(append.run));
        let (seq, epoch, chain) = ends.entry(append.run).or_insert(start);
        for stamped in &append.events {
            *seq = seq.next();
            if stamped.event.name() == "LeaseTaken" {
                *epoch = epoch.next();
            }
            let place = Place {
                run: append.run,
                seq: *seq,
                epoch: *epoch,
                chain: *chain,
            };
            let (record, next) = record::seal(place, stamped);
            *chain = next;
            bytes.extend(record);
        }
    }
    let digest = Digest::of(&bytes);
    (bytes, digest)
}

#[test]
fn a_seed_gives_the_same_records_in_the_same_order_and_another_seed_others() {
    let (one, again, other) = (world(7), world(7), world(8));
    println!("seed 7: {}", records(&one).1);
    assert!(
        100_000 < records(&one).0.len(),
        "there is something to compare"
    );
    assert!(records(&one) == records(&again), "seed 7 has two logs");
    assert_eq!(
        format!("{:?}", one.outside.asks()),
        format!("{:?}", again.outside.asks())
    );
    assert_ne!(records(&one).1, records(&other).1);
    one.must_be_sound();
    other.must_be_sound();
}

#[test]
fn what_is_read_back_is_what_was_committed() {
    let world = world(9);
    for id in world.runs() {
        let stored = mainstay_ledger::Ledger::load(world.ledger.inner(), id);
        let stored = world.executor().block_on(stored).unwrap().unwrap();
        let events: Vec<_> = stored
            .events
            .into_iter()
            .map(|recorded| recorded.event)
            .collect();
        assert_eq!(events, world.ledger.events_of(id));
    }
}
