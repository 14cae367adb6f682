//! Every bound of the proxy, with its unit, who holds it and what happens beyond. A queue, a wait
//! or a list of this crate without a bound here is a bug.

use std::time::Duration;

/// Connections that are open at once.
/// Unit: connections. Enforced by: the acceptor. Beyond: reset, and recorded as `full`.
pub const CONNECTIONS_MAX: usize = 1_024;

/// What one read takes at most; a chunk is never longer.
/// Unit: bytes of one direction of one connection. Enforced by: the pump. Beyond: the next read.
pub const BUFFER_BYTES: usize = 16 << 10;

/// How long looking up and connecting to the upstream may take together.
/// Unit: milliseconds. Enforced by: the connection. Beyond: recorded as `upstream_down`.
pub const CONNECT_MS_MAX: u64 = 5_000;

/// How long one connection may last.
/// Unit: milliseconds. Enforced by: the connection. Beyond: closed, and recorded as `time_up`.
pub const CONNECTION_MS_MAX: u64 = 60 * 60 * 1_000;

/// The longest time that a fault may name.
/// Unit: milliseconds. Enforced by: the plan and the queue. Beyond: refused.
pub const FAULT_MS_MAX: u64 = 10 * 60 * 1_000;

/// How long a stall, or a connection whose reply was dropped, is held when the fault does not say.
/// Unit: milliseconds. Enforced by: the connection. Beyond: closed.
pub const HOLD_MS_DEFAULT: u64 = 30_000;

/// How long both sides may take to close after a cut without a reset.
/// Unit: milliseconds. Enforced by: the connection. Beyond: the sockets are dropped as they are.
pub const CLOSE_MS_MAX: u64 = 500;

/// The fastest throttle; what is faster than this is none.
/// Unit: bytes per second. Enforced by: the plan and the queue. Beyond: refused.
pub const BYTES_PER_SECOND_MAX: u64 = 1 << 30;

/// How much of a throttled direction goes at once.
/// Unit: milliseconds of its rate. Enforced by: the valve. Beyond: the next slice.
pub const THROTTLE_SLICE_MS: u64 = 20;

/// Rules of one plan.
/// Unit: rules. Enforced by: the plan. Beyond: refused.
pub const RULES_MAX: usize = 64;

/// Faults that wait for a connection of their own.
/// Unit: faults. Enforced by: the queue. Beyond: refused.
pub const QUEUE_FAULTS_MAX: usize = 1_024;

/// Records that are kept.
/// Unit: connections that have ended. Enforced by: the log. Beyond: the oldest is forgotten, and
/// counted.
pub const LOG_RECORDS_MAX: usize = 10_000;

/// How long nothing is accepted after an accept failed, as when no file may be opened any more.
/// Unit: milliseconds. Enforced by: the acceptor. Beyond: it tries again.
pub const ACCEPT_PAUSE_MS: u64 = 50;

const _: () = assert!(HOLD_MS_DEFAULT <= FAULT_MS_MAX);
// A fault's time ends before the connection's does, or it would not be the fault that ended it.
const _: () = assert!(FAULT_MS_MAX + CONNECT_MS_MAX < CONNECTION_MS_MAX);

pub(crate) const fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
