//! The adapter against real servers on the loopback: a ticket service that misbehaves on demand,
//! and peers that speak raw bytes. It must never wait for time to pass, except where running out
//! of time is what is looked at.

mod breaks;
mod broken;
mod losing;
mod peer;
mod reading;
mod support;
mod tickets;
#[cfg(feature = "tls")]
mod tls;
mod wire;
