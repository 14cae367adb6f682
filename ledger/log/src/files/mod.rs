//! The files of a store and the disk under them: what is durable when, and who holds the store.
//!
//! `LOCK` (who holds it), `FORMAT` (which store, in which form), `ACKED` (the newest acknowledged
//! position), `OLDEST` (the first segment that is kept), `BALLAST` (room that is given up when the
//! disk is full), `MARKS` and `ABORTS` (whose code was being executed). Nothing here knows what a
//! frame of the log holds.

mod acked;
mod ballast;
mod disk;
mod format;
mod lock;
mod marks;
mod oldest;
mod put;
mod under;

#[cfg(test)]
pub(crate) mod faults;

#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables hands it out, and nobody else"
    )
)]
pub use disk::RealDisk;
pub(crate) use disk::{Disk, DiskFile, is_full};
pub use format::StoreId;

pub(crate) use acked::{ACKED_FILE, Acked, AckedFile};
pub(crate) use ballast::{BALLAST_FILE, Ballast};
pub(crate) use disk::sync_name;
pub(crate) use format::{FORMAT_FILE, read_format, write_format};
pub(crate) use lock::Lock;
pub(crate) use marks::Marks;
pub(crate) use oldest::{OLDEST_FILE, read_oldest, write_oldest};
pub(crate) use put::{put, read_all};
pub(crate) use under::under;

#[cfg(test)]
mod tests;
