//! A write under every way to find out, and every fault: what can be asked, what does a key once,
//! what only a person can tell.

use mainstay_chaos::{
    Campaign, Fault, Faults, Guarantees, Kind, Schedule, SimModel, SimReceiver, campaign,
};
use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Promise, Read, Resolution, Write};
use mainstay_types::Millis;

use crate::size;

/// A receiver that is asked in the way of the number: see [`ALL`].
#[derive(Clone)]
struct Orders<const WAY: usize> {
    honours_keys: bool,
}

const ALL: [Resolution; 6] = [
    Resolution::ByKey,
    Resolution::ByStatus,
    Resolution::ByBusinessKey,
    Resolution::ByUpsert,
    Resolution::ByLedger,
    Resolution::ByHuman,
];

impl<const WAY: usize> Write for Orders<WAY> {
    type Request = String;
    type Reply = String;

    const RESOLUTION: Resolution = ALL[WAY];

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        std::future::pending().await
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<String>, Failure> {
        std::future::pending().await
    }

    fn promise(&self) -> Promise {
        let promise = Promise::new()
            .timeout(Millis::from_secs(1))
            .receiver_bound(Millis::from_secs(2));
        match self.honours_keys {
            true => promise.honours_keys(Some(Millis::from_hours(1))),
            false => promise,
        }
    }
}

#[derive(Clone)]
struct Prices;

impl Read for Prices {
    type Request = String;
    type Reply = u64;

    fn name(&self) -> &str {
        "prices"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        std::future::pending().await
    }
}

/// Two writes, one after the other, the first under a business id that other runs may have too.
fn class<const WAY: usize>(honours_keys: bool) -> Class<String, String> {
    let mut g = TaskClass::<String>::define("orders", 1);
    let budget = Budget::new().answer_by(secs(30)).retries(4);
    g.budget(budget.concurrency(3).cost(30));
    let orders = Orders::<WAY> { honours_keys };
    let price = g
        .read("price", &Prices, (), |id, ()| id.clone())
        .attempts(2)
        .add();
    let first = g
        .write("order", &orders, price, |id, cents| {
            format!("{id} at {cents}")
        })
        .business_id(|id| id)
        .attempts(2)
        .add();
    let second = g.write("receipt", &orders, first, |_, order| {
        format!("receipt of {order}")
    });
    // What is searched for has to have an id.
    let is_searched = ALL[WAY] == Resolution::ByBusinessKey;
    let second = if is_searched {
        second.business_id(|id| id)
    } else {
        second
    };
    let second = second.attempts(2).add();
    g.finish((first, second), |_, (order, receipt)| {
        format!("{order}, {receipt}")
    })
    .expect("a valid class")
}

fn over<const WAY: usize>(honours_keys: bool) -> Campaign<String, String> {
    campaign(class::<WAY>(honours_keys))
        .dependency("prices", SimModel::new().answers_with(|_: String| 4_200u64))
        .dependency(
            "orders",
            SimReceiver::new().answers_with(|request: String| format!("R of {request}")),
        )
        .workload(|rng| format!("O{}", rng.below(5)))
        .runs(2)
}

fn holds<const WAY: usize>(honours_keys: bool) {
    let report = over::<WAY>(honours_keys)
        .seeds(size(300, 10_000))
        .check(Guarantees::all())
        .run();
    println!("{:?}, {honours_keys}: {report}", ALL[WAY]);
}

#[test]
fn by_key() {
    holds::<0>(true);
}

#[test]
fn by_status() {
    holds::<1>(true);
    holds::<1>(false);
}

#[test]
fn by_business_key() {
    holds::<2>(false);
}

#[test]
fn by_upsert() {
    holds::<3>(true);
}

#[test]
fn by_ledger() {
    holds::<4>(false);
}

#[test]
fn by_human() {
    holds::<5>(true);
    holds::<5>(false);
}

/// Both runs are told that there is too much to do, which proves nothing; then one of them has the
/// key and loses its reply, and the other one waits for it until its time is over. What a person
/// says of the key is said to the first one: the other one must not wait for a word of its own.
#[test]
fn who_waits_for_a_key_that_only_a_person_can_settle_ends_without_a_doubt_of_its_own() {
    let at = |kind: Kind, nth: u64, times: Option<u64>| Fault {
        dependency: Some("orders".to_owned()),
        nth: Some(nth),
        times,
        ..Fault::of(kind)
    };
    let lost = vec![
        at(Kind::Overloaded, 1, Some(2)),
        at(Kind::DoneAndBrokenOff, 3, None),
    ];
    let canceled = Fault {
        at_ms: Some(20_000),
        ..Fault::of(Kind::Canceled)
    };
    let ended = [lost.clone(), vec![canceled]].concat();
    for faults in [lost, ended] {
        over::<5>(true)
            .workload(|_| "O1".to_owned())
            .faults(Faults::planned(Schedule { faults }))
            .seeds(60)
            .check(Guarantees::all())
            .run();
    }
}
