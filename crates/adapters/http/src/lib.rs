//! JSON over HTTP as dependencies of a task class: [`HttpRead`], [`KeyedWrite`], [`SearchedWrite`].
//!
//! One attempt is one request. The crate never retries, follows no redirect of its own accord, uses
//! no proxy from the environment, and never calls a request "not sent" without proof: its body has
//! not left, and cannot leave any more. What each ending means is one table, in [`classify`].
//!
//! ```
//! use mainstay_http::{HttpClient, HttpRead, HttpWrite, RequestParts};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct NewTicket { title: String }
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct Ticket { id: String }
//! # fn main() -> Result<(), mainstay_http::HttpError> {
//! let service = HttpClient::builder("http://127.0.0.1:7401")
//!     .header("X-Client", "meeting-analysis")
//!     .secret_header("Authorization", "Bearer 0c7b")
//!     .build()?;
//! let related = HttpRead::<String, Vec<Ticket>>::get("related_tickets", &service, |words| {
//!     RequestParts::path(["tickets"]).query("q", words)
//! });
//! let tickets = HttpWrite::<NewTicket, Ticket>::post("tickets", &service, |ticket| {
//!     RequestParts::path(["tickets"]).json(ticket)
//! })
//! .find_by_key(|key| RequestParts::path(["tickets", "by-key", key]));
//! # let _ = (related, tickets);
//! # Ok(())
//! # }
//! ```
//!
//! On the wire of every attempt: `X-Time-Left-Ms`, a length of time and never a moment, and
//! `traceparent` when the caller gave one. A write also has `Idempotency-Key` (see [`key`]) and
//! `X-Fence-Token`, the lease epoch of the run's owner. A look-up is a control attempt and has
//! neither: it must not be taken for the write.

pub mod ask;
pub mod bounds;
pub mod classify;
pub mod client;
pub mod key;
pub mod parts;
pub mod read;
pub mod secret;
pub mod write;

mod exchange;
mod gate;
mod retry_after;
mod route;

pub use ask::HttpReply;
pub use client::{HttpClient, HttpClientBuilder, HttpError};
pub use parts::RequestParts;
pub use read::HttpRead;
pub use secret::Secret;
pub use write::{HttpWrite, KeyedWrite, SearchedWrite};
