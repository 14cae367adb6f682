//! The binary `mainstay` on stores that these tests write, as a person and as a program use it.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod bench;
mod by_hand;
mod campaign;
mod canary;
#[cfg(feature = "chaos")]
mod chaos;
mod commands;
mod completion;
mod exchange;
mod explain;
mod follow;
mod graph;
mod help;
mod live;
mod locked;
mod orphans;
#[cfg(feature = "chaos")]
mod proxy;
#[cfg(feature = "real")]
mod real;
mod refused;
mod runs;
mod shapes;
mod show;
mod store;
mod support;

#[path = "../../../../runtime/src/view/tests/story.rs"]
#[expect(dead_code, reason = "the view's own tests use all of it")]
mod story;
