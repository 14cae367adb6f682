//! The class under test. Its real write must never be reached: a fake stands before it.

use mainstay_class::{Budget, Builder, Class, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Promise, Read, Resolution, Write};
use mainstay_types::Millis;

pub(crate) type Order = (String, u64);

#[derive(Clone)]
pub(crate) struct Prices;

impl Read for Prices {
    type Request = String;
    type Reply = u64;

    fn name(&self) -> &str {
        "prices"
    }

    async fn call(&self, item: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok((item.len() as u64).into())
    }
}

#[derive(Clone)]
pub(crate) struct Orders;

impl Write for Orders {
    type Request = Order;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: Order, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        unreachable!("every test puts a fake here")
    }

    async fn find(&self, _: Order, _: &AttemptContext) -> Result<Found<String>, Failure> {
        unreachable!("every test puts a fake here")
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(3))
            .receiver_bound(Millis::from_secs(2))
            .honours_keys(None)
    }
}

/// Asks the price of an item, then orders it.
pub(crate) fn purchase() -> Class<String, String> {
    purchase_as(|g| {
        g.budget(Budget::new().answer_by(secs(60)).retries(4).cost(10));
    })
}

/// The same with the class's own settings.
pub(crate) fn purchase_as(settings: impl FnOnce(&mut Builder<String>)) -> Class<String, String> {
    let mut g = TaskClass::<String>::define("purchase", 1);
    settings(&mut g);
    let price = g.read("price", &Prices, (), |item, ()| item.clone());
    let price = price.attempts(3).add();
    let order = g.write("order", &Orders, price, |item, &cents| {
        (item.clone(), cents)
    });
    let order = order.attempts(3).add();
    let class = g.finish(order, |_, receipt| receipt.clone());
    class.expect("a valid class")
}
