//! A disk that loses its power or has no room left, under the folder of a real process.
//!
//! A kill takes a process and nothing of what it wrote; a loss of power takes what was not synced.
//! No test can pull a plug, so a [`Shim`] that is loaded before a process tells what it does to the
//! files of one folder ([`Journal`]), and a [`Volume`] makes up from that what a disk may have kept
//! ([`Image`]): all that was synced, and any part of the rest. A full disk is a real one: a small
//! volume in memory ([`Mounted`]) and a file that takes its room ([`Filler`]).
//!
//! It knows files and bytes, and must never look into what they say. What its own parts wrote and
//! cannot be read again (a journal that is cut in the middle of a record's header is none) is a
//! panic: a model that guesses would call a loss none.

pub mod image;
pub mod journal;

mod dice;
mod filler;
mod mount;
mod pages;
mod shim;
mod volume;

pub use dice::Dice;
pub use filler::Filler;
pub use image::{Image, Item};
pub use journal::{Entry, Journal};
pub use mount::{MountError, Mounted};
pub use shim::{Shim, ShimError};
pub use volume::Volume;
