//! For unit tests of one's own classes (feature `testing`, for dev-dependencies only): an engine in
//! memory and in virtual time, with fakes behind the class's dependencies. It must never be needed
//! by a program, and re-exports only.
//!
//! ```toml
//! [dev-dependencies]
//! mainstay = { version = "0.1", features = ["testing"] }
//! ```
//!
//! A reply that was lost is found, in 30 seconds of virtual time and a millisecond of yours:
//!
//! ```
//! use mainstay::prelude::*;
//! use mainstay::testing::{InMemory, fake};
//!
//! # #[derive(Clone)] struct Prices;
//! # impl Read for Prices {
//! #     type Request = String;
//! #     type Reply = u64;
//! #     fn name(&self) -> &str { "prices" }
//! #     async fn call(&self, _: String, _: &AttemptContext) -> Result<Reply<u64>, Failure> {
//! #         unreachable!("a fake stands here")
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
//! #         unreachable!("a fake stands here")
//! #     }
//! #     async fn find(&self, _: Self::Request, _: &AttemptContext)
//! #         -> Result<Found<String>, Failure> {
//! #         unreachable!("a fake stands here")
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
//! let class = purchase();
//! let prices = fake("prices").fails(FailureKind::Overloaded, 1).answers(4_200);
//! let orders = fake("orders").answers("R-1").loses_the_reply().cannot_tell(3).takes(secs(2));
//! let world = Engine::in_memory().with(&prices).with(&orders).register(&class).start();
//!
//! let run = world.start(&class, "desk".to_owned());
//! world.advance(secs(4));
//! assert_eq!(orders.applied(), 1, "it is ordered, and nobody knows yet");
//!
//! let outcome = world.outcome(&run);
//! assert_eq!(outcome.kind, OutcomeKind::Completed);
//! assert_eq!(outcome.result.as_deref(), Some("R-1"));
//! assert_eq!((orders.requests().len(), orders.applied()), (1, 1), "and never ordered twice");
//! assert_eq!(orders.look_ups().len(), 4);
//! ```
//!
//! A crash takes what is in memory and nothing else:
//!
//! ```
//! # use mainstay::prelude::*;
//! # use mainstay::testing::{InMemory, fake};
//! # #[derive(Clone)] struct Mail;
//! # impl Write for Mail {
//! #     type Request = String;
//! #     type Reply = u64;
//! #     const RESOLUTION: Resolution = Resolution::ByKey;
//! #     fn name(&self) -> &str { "mail" }
//! #     async fn send(&self, _: String, _: &AttemptContext) -> Result<Reply<u64>, Failure> {
//! #         unreachable!("a fake stands here")
//! #     }
//! #     async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<u64>, Failure> {
//! #         unreachable!("a fake stands here")
//! #     }
//! # }
//! # let mut g = TaskClass::<String>::define("notify", 1);
//! # let sent = g.write("mail", &Mail, (), |who, ()| who.clone()).add();
//! # let class = g.finish(sent, |_, &number| number).expect("a valid class");
//! let mail = fake("mail").answers(1).takes(secs(1));
//! let mut world = Engine::in_memory().seed(7).with(&mail).register(&class).start();
//! let run = world.start(&class, "a@example.org".to_owned()).id();
//! world.advance(ms(500)); // it is on its way
//! world.restart();
//!
//! let outcome = world.outcome(&world.find(&class, run));
//! assert_eq!((outcome.result, mail.applied()), (Some(1), 1));
//! ```

pub use mainstay_testing::{Applied, Asked, Builder, Fake, InMemory, World, fake};
