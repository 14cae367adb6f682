//! For CI (feature `chaos`, for dev-dependencies only): one's own graph under thousands of fault
//! schedules, in virtual time, on the production engine. It must never be needed by a program, and
//! re-exports only.
//!
//! ```toml
//! [dev-dependencies]
//! mainstay = { version = "0.1", features = ["chaos"] }
//! ```
//!
//! ```
//! use mainstay::chaos::{self, Faults, Guarantees, SimModel, SimReceiver};
//! use mainstay::prelude::*;
//!
//! # #[derive(Clone)] struct Prices;
//! # impl Read for Prices {
//! #     type Request = String;
//! #     type Reply = u64;
//! #     fn name(&self) -> &str { "prices" }
//! #     async fn call(&self, _: String, _: &AttemptContext) -> Result<Reply<u64>, Failure> {
//! #         unreachable!("a double stands here")
//! #     }
//! # }
//! # #[derive(Clone)] struct Orders;
//! # impl Write for Orders {
//! #     type Request = (String, u64);
//! #     type Reply = String;
//! #     const RESOLUTION: Resolution = Resolution::ByKey;
//! #     fn name(&self) -> &str { "orders" }
//! #     async fn send(&self, _: Self::Request, _: &AttemptContext)
//! #         -> Result<Reply<String>, Failure> {
//! #         unreachable!("a double stands here")
//! #     }
//! #     async fn find(&self, _: Self::Request, _: &AttemptContext)
//! #         -> Result<Found<String>, Failure> {
//! #         unreachable!("a double stands here")
//! #     }
//! # }
//! /// The class as the program has it: asks the price of an item, then orders it.
//! fn purchase() -> Class<String, String> {
//!     let mut g = TaskClass::<String>::define("purchase", 1);
//!     g.budget(Budget::new().answer_by(secs(60)).retries(2).concurrency(4).cost(10));
//!     let price = g.read("price", &Prices, (), |item, ()| item.clone()).attempts(2).add();
//!     let order = g.write("order", &Orders, price, |item, &cents| (item.clone(), cents)).add();
//!     g.finish(order, |_, receipt| receipt.clone()).expect("a valid class")
//! }
//!
//! let report = chaos::campaign(purchase())
//!     .dependency("prices", SimModel::new().p50(80).p95(400).answers_with(|_: String| 4_200u64))
//!     .dependency("orders", SimReceiver::new().answers_with(|_: (String, u64)| "R-1".to_owned()))
//!     .workload(|rng| format!("desk {}", rng.below(100)))
//!     .faults(Faults::all())
//!     .seeds(50)
//!     .check(Guarantees::all())
//!     .check(|world: &chaos::World<'_>| world.receiver("orders").applied_per_key_at_most(1))
//!     .run();
//! assert_eq!(report.schedules, 50);
//! ```

pub use mainstay_chaos::report::{Moment, Row, Violation};
pub use mainstay_chaos::{
    Blast, Campaign, Check, Fault, FaultPlan, Faults, Finding, Guarantee, Guarantees, Kind, Misuse,
    Offered, Receiver, Report, Rng, RunEnd, Schedule, SimModel, SimReceiver, Wish, World, campaign,
};
