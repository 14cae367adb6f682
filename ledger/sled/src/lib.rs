//! The embedded default ledger: one folder on disk, one process, sled underneath.
//!
//! It adds what sled leaves open: a lock that names its holder, a sync before each
//! acknowledgement, checksums and a chain over everything that is read, and an error where sled
//! would panic or lose data without a word. Nothing is acknowledged before it is durable, damage
//! is never skipped, and no other crate may touch the files of a store.
//!
//! A store's folder: `LOCK` (who holds it), `STORE` (format and identity), `ACKED` (the newest
//! acknowledged group), `MARKS` and `ABORTS` (whose code was being executed, and how often that
//! ended in an abort), `sled/` (sled's own files).

#[cfg(not(unix))]
compile_error!("mainstay-ledger-sled needs Unix file locks and syncs; other systems come later");

mod open;

mod engine;
mod files;
mod lock;
mod marker;
mod settings;
mod witness;

mod alerts;
mod committer;
mod disk;
mod drive;
mod heads;
mod inbox;
mod ledger;
mod marks;
mod parts;
mod progress;
mod queue;
mod rows;
mod stage;
mod waits;

mod read;

mod fault;
mod fields;
mod keys;
mod pieces;
mod position;

#[cfg(test)]
mod failing;
#[cfg(test)]
mod written;

pub use ledger::SledLedger;
pub use open::OpenOptions;
