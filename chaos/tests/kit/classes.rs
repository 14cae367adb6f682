//! Small classes of these tests.

use mainstay_chaos::{Campaign, Guarantees, SimModel, SimReceiver, campaign};
use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Promise, Read, Resolution, Write};
use mainstay_types::Millis;

/// Something that is read and never asked: a double stands before it.
#[derive(Clone)]
pub(crate) struct Prices;

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

/// Something that is written to and does one key once.
#[derive(Clone)]
pub(crate) struct Orders;

impl Write for Orders {
    type Request = (String, u64);
    type Reply = String;

    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: (String, u64), _: &AttemptContext) -> Result<Answer<String>, Failure> {
        std::future::pending().await
    }

    async fn find(&self, _: (String, u64), _: &AttemptContext) -> Result<Found<String>, Failure> {
        std::future::pending().await
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(2))
            .honours_keys(None)
            .receiver_bound(Millis::new(500))
    }
}

/// Asks the price of an item, then orders it.
pub(crate) fn purchase() -> Class<String, String> {
    purchase_by(|item| item.clone())
}

/// The same, with what `asks` makes of the item as the first request.
pub(crate) fn purchase_by(
    asks: impl Fn(&String) -> String + Send + Sync + 'static,
) -> Class<String, String> {
    let mut g = TaskClass::<String>::define("purchase", 1);
    let budget = Budget::new().answer_by(secs(30)).retries(3);
    g.budget(budget.concurrency(4).cost(20));
    let price = g
        .read("price", &Prices, (), move |item, ()| asks(item))
        .attempts(2)
        .add();
    let order = g
        .write("order", &Orders, price, |item, &cents| {
            (item.clone(), cents)
        })
        .attempts(2)
        .add();
    g.finish(order, |_, receipt| receipt.clone())
        .expect("a valid class")
}

/// A campaign over `class` that lacks nothing.
pub(crate) fn over(class: Class<String, String>) -> Campaign<String, String> {
    campaign(class)
        .dependency("prices", SimModel::new().answers_with(|_: String| 4_200u64))
        .dependency(
            "orders",
            SimReceiver::new().answers_with(|_: (String, u64)| "R-1".to_owned()),
        )
        .workload(|rng| format!("desk {}", rng.below(9)))
        .seeds(40)
        .check(Guarantees::all())
}
