//! Why a plan is refused, or a proxy does not start. A message says what would be right.

use std::io;
use std::net::SocketAddr;

use crate::bounds::{QUEUE_FAULTS_MAX, RULES_MAX};

/// A plan, a rule or a fault that cannot be used. Nothing of it is in force.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no such fault.
    #[error("there is no fault `{name}`: it is one of {known}")]
    UnknownFault {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The values of a fault cannot be read.
    #[error("the fault `{text}` cannot be read: {why}; write it like {like}")]
    Unreadable {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
        /// A right one.
        like: &'static str,
    },
    /// A number of a fault is beyond its bounds.
    #[error("{fault}: {number} is {value}: it must be from {least} to {most}")]
    OutOfBounds {
        /// The fault.
        fault: &'static str,
        /// Which of its numbers.
        number: &'static str,
        /// What it is.
        value: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
    /// There are no such connections.
    #[error("`{text}` names no connections: they are numbered from 1; write every, 3, 2-5 or 2-")]
    Connections {
        /// What was written.
        text: String,
    },
    /// There are more rules than a plan may have.
    #[error(
        "{rules} rules are more than the {RULES_MAX} of a plan: let one cover more connections"
    )]
    TooManyRules {
        /// How many there are.
        rules: usize,
    },
    /// The queue of faults is full.
    #[error("{QUEUE_FAULTS_MAX} faults wait for a connection: use a plan for what holds for many")]
    QueueFull,
}

/// A proxy that cannot listen.
#[derive(Debug, thiserror::Error)]
#[error("{address} cannot be listened at")]
pub struct StartError {
    /// Where.
    pub address: SocketAddr,
    /// What the system says.
    #[source]
    pub source: io::Error,
}
