//! Unit tests of one's own task classes: a whole engine in memory, in virtual time, with fakes.
//!
//! `Engine::in_memory()` makes the production engine run on the test's own thread, over the memory
//! ledger, with the simulator's clock: days pass in milliseconds, and one seed gives one history.
//! [`fake`] puts a scripted receiver behind a dependency of the class, by its name. Nothing here
//! may read a real clock, start a thread or wait for one; what waits for something real in here
//! never ends.
//!
//! ```
//! use mainstay_class::{Budget, Class, TaskClass, secs};
//! use mainstay_runtime::{Engine, EngineError};
//! use mainstay_testing::{InMemory, fake};
//! # use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Read, Resolution, Write};
//! # #[derive(Clone)] struct Prices;
//! # impl Read for Prices {
//! #     type Request = String;
//! #     type Reply = u64;
//! #     fn name(&self) -> &str { "prices" }
//! #     async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
//! #         unreachable!("a fake stands here")
//! #     }
//! # }
//! # #[derive(Clone)] struct Orders;
//! # impl Write for Orders {
//! #     type Request = (String, u64);
//! #     type Reply = String;
//! #     const RESOLUTION: Resolution = Resolution::ByKey;
//! #     fn name(&self) -> &str { "orders" }
//! #     async fn send(&self, _: (String, u64), _: &AttemptContext)
//! #         -> Result<Answer<String>, Failure> {
//! #         unreachable!("a fake stands here")
//! #     }
//! #     async fn find(&self, _: (String, u64), _: &AttemptContext)
//! #         -> Result<Found<String>, Failure> {
//! #         unreachable!("a fake stands here")
//! #     }
//! # }
//! # fn purchase() -> Class<String, String> {
//! #     let mut g = TaskClass::<String>::define("purchase", 1);
//! #     g.budget(Budget::new().answer_by(secs(60)).retries(2).concurrency(4).cost(10));
//! #     let price = g.read("price", &Prices, (), |item, ()| item.clone()).add();
//! #     let order = g.write("order", &Orders, price, |item, &cents| (item.clone(), cents)).add();
//! #     g.finish(order, |_, receipt| receipt.clone()).expect("a valid class")
//! # }
//! // The class as the program has it, with its real dependencies behind it.
//! let purchase: Class<String, String> = purchase();
//!
//! let prices = fake("prices").answers(4_200);
//! let orders = fake("orders").answers("R-1").loses_the_reply();
//! let world = Engine::in_memory().with(&prices).with(&orders).register(&purchase).start();
//!
//! let outcome = world.run(&purchase, "desk".to_owned());
//!
//! // The order was placed, its reply was lost; it was asked about, and never sent twice.
//! assert_eq!(outcome.result.as_deref(), Some("R-1"));
//! assert_eq!((orders.applied(), orders.requests().len()), (1, 1));
//! assert_eq!(orders.look_ups().len(), 1);
//! ```

mod asked;
mod fake;
mod provider;
mod world;

pub use asked::{Applied, Asked};
pub use fake::{Fake, fake};
pub use world::{Builder, World};

use mainstay_runtime::Engine;

/// Engines that need nothing: `Engine::in_memory()`.
pub trait InMemory {
    /// An engine over the memory ledger and virtual time, to be given fakes and classes.
    fn in_memory() -> Builder;
}

impl InMemory for Engine {
    fn in_memory() -> Builder {
        Builder::new()
    }
}
