//! The local socket of an engine: its views and commands as JSON, for whoever may open its folder.
//!
//! One process holds a store. Whoever wants to look at it, or to stop a run, asks that process:
//! HTTP over a Unix domain socket inside a folder of mode 0700. [`LocalSocket`] serves it beside an
//! engine, [`Client`] asks it, and [`answer()`] is what both a served and an opened store answer,
//! so that they never tell different stories. Nothing here decides anything: every question is one
//! call of the engine.
//!
//! ```text
//! $ curl --unix-socket ./mainstay-store/socket/engine.sock http://engine/runs?state=running
//! ```
//!
//! What is asked by whom:
//!
//! | | | answers |
//! |---|---|---|
//! | `GET` | `/version` | `protocol`, `mainstay`, `pid` |
//! | `GET` | `/status` | how the engine is, its limits |
//! | `GET` | `/runs` | `tenant`, `class`, `state`, `outcome`, `in_doubt`, `cursor`, `limit` |
//! | `GET` | `/runs/ID` | one run; `payloads=true` shows payloads, `form=text` is for people |
//! | `POST` | `/runs/ID/cancel`, `/terminate`, `/continue` | body `{"by": .., "why": ..}` |
//! | `GET` | `/alerts` | `after`, `limit`; `wait_ms` waits for the next one |
//! | `GET` | `/effects` | `run`, `in_doubt`, `cursor` |
//! | `GET` | `/effect` | `key`; one effect, `payloads=true`, `form=text` as above |
//! | `POST` | `/effect/settle` | body `{"key", "ruling", "result", "by", "why"}`, see [`Verdict`] |
//! | `GET` | `/orphans` | `run`, `overdue`, `cursor` |
//! | `POST` | `/orphan/adopt`, `/close` | body `{"run_id", "call", "attempt", "for_ms", ..}` |
//! | `GET` | `/classes`, `/classes/NAME` | stored task classes; `version` |
//!
//! An error is one object `{code, message, hint, retry_helps}`. A command's `by` gets the uid that
//! the operating system vouches for: `anna (uid:1000)`.

#[cfg(not(unix))]
compile_error!("the local socket is a Unix domain socket: this platform has no tier yet");

pub mod answer;
pub mod ask;
pub mod bounds;
pub mod client;
pub mod failure;
pub mod place;
pub mod protocol;
pub mod server;

mod accept;
mod connection;
mod orphans;
mod query;
mod wire;

pub use answer::{Asker, Reply, answer};
pub use ask::{
    AlertsAsk, Ask, ClassAsk, CommandAsk, CommandVerb, EffectAsk, EffectsAsk, Form, OrphanAsk,
    OrphanVerb, OrphansAsk, RunAsk, RunsAsk, SettleAsk, Verdict, WhyAsk,
};
pub use bounds::Bounds;
pub use client::Client;
pub use failure::Failure;
pub use protocol::{PROTOCOL, Version};
pub use server::LocalSocket;
