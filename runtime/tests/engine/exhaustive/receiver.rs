//! The class with three writes, and its receivers: one type for each way to resolve a write.
//!
//! They differ in nothing but what they say of themselves; what they do is the case's.

use mainstay_class::{Budget, Class, Extend, TaskClass, days, hours, mins};
use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Resolution, Write};
use mainstay_types::{CostUnits, Failure, Millis};

use super::case::RESOLUTIONS;
use crate::world::classes::NewTicket;
use crate::world::outside::Writes;
use crate::world::{Minutes, Ticket, World};

/// A receiver that is resolved in the `N`th way.
#[derive(Clone)]
struct By<const N: usize>(Writes);

impl<const N: usize> Write for By<N> {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = RESOLUTIONS[N];

    fn name(&self) -> &str {
        self.0.name()
    }

    async fn send(&self, made: NewTicket, cx: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        self.0.send(made, cx).await
    }

    async fn find(&self, made: NewTicket, cx: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        self.0.find(made, cx).await
    }

    fn promise(&self) -> Promise {
        let promise = Promise::new()
            .timeout(Millis::from_secs(3))
            .estimate(Millis::new(500))
            .cost(CostUnits::milli(100))
            .receiver_bound(Millis::from_secs(2));
        match Self::RESOLUTION {
            Resolution::ByKey | Resolution::ByUpsert => promise.honours_keys(None),
            Resolution::ByStatus
            | Resolution::ByBusinessKey
            | Resolution::ByLedger
            | Resolution::ByHuman => promise,
        }
    }
}

/// A write, one after it, and one beside them.
pub(crate) fn class(world: &World, resolution: Resolution) -> Class<Minutes, String> {
    match resolution {
        Resolution::ByKey => class_by::<0>(world),
        Resolution::ByStatus => class_by::<1>(world),
        Resolution::ByBusinessKey => class_by::<2>(world),
        Resolution::ByUpsert => class_by::<3>(world),
        Resolution::ByLedger => class_by::<4>(world),
        Resolution::ByHuman => class_by::<5>(world),
    }
}

fn class_by<const N: usize>(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("three", 1);
    // Time, tokens and patience enough: a case ends by what its receivers do, and by nothing else.
    g.budget(
        Budget::new()
            .answer_by(mins(8))
            .retries(30)
            .cost(10)
            .doubt_wait(days(1)),
    )
    .on_downtime(Extend(hours(1)));
    let receiver = By::<N>(world.outside.write("orders"));
    let made = |title: &str| NewTicket {
        title: title.to_owned(),
    };
    let first = g
        .write("first", &receiver, (), move |_, ()| made("first"))
        .business_id(|m: &Minutes| &m.id)
        .add();
    let second = g
        .write("second", &receiver, first, move |_, _| made("second"))
        .business_id(|m: &Minutes| &m.id)
        .add();
    let aside = g
        .write("aside", &receiver, (), move |_, ()| made("aside"))
        .business_id(|m: &Minutes| &m.id)
        .add();
    g.finish((second, aside), |_, (second, aside)| {
        format!("{} {}", second.id, aside.id)
    })
    .expect("a valid class")
}
