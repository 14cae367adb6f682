//! What every way of calling the purchase tool has to be: a strategy, and a wrapper for each run.
//!
//! A wrapper gets what a model gives. It must never learn which order is really wanted, what was
//! drawn, or what the receiver's table says.

use futures_core::future::BoxFuture;

use super::faults::Faults;
use super::receiver::Keys;
use super::tool::{Line, ToolAnswer, ToolCall};

/// Which layers retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retries {
    /// The HTTP client sends again, and the model calls again.
    BothLayers,
    /// Neither does.
    Neither,
}

/// How many orders one run of the agent may place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrdersPerRun {
    /// A second order is a second call in the same run.
    Many,
    /// A second order needs a second request, and with it a run and a wrapper of its own.
    One,
}

/// What was there before the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// The session, from 0.
    pub session: u32,
    /// The number of the purchase request that the run is for.
    pub request_no: String,
}

/// Why a strategy cannot be tried on this machine.
pub type OpenError = Box<dyn std::error::Error + Send + Sync>;

/// A way of calling the tool.
pub trait Strategy: Send + Sync {
    /// A letter, perhaps with a number: its row in every table.
    fn name(&self) -> &'static str;

    /// What it does, in a few words.
    fn title(&self) -> &'static str;

    /// What kind of receiver it is tried on.
    fn receiver(&self) -> Keys {
        Keys::Honoured
    }

    /// Which layers retry.
    fn retries(&self) -> Retries {
        Retries::BothLayers
    }

    /// How a second order reaches it.
    fn orders_per_run(&self) -> OrdersPerRun {
        OrdersPerRun::Many
    }

    /// Makes ready what all runs share, before the first is wrapped.
    ///
    /// Not cancel safe: a dropped future may leave a store behind.
    fn open<'a>(&'a self, _faults: &'a Faults) -> BoxFuture<'a, Result<(), OpenError>> {
        Box::pin(async { Ok(()) })
    }

    /// Lets go of it again, once all sessions are over and before the truth is read. An error says
    /// that its sessions met something that is no fault of the tool, so that they say nothing.
    ///
    /// Not cancel safe: a dropped future may leave a store behind.
    fn close(&self) -> BoxFuture<'_, Result<(), OpenError>> {
        Box::pin(async { Ok(()) })
    }

    /// The wrapper of a run; a session has one run, or one per order.
    fn wrap(&self, run: RunContext) -> Box<dyn Wrapper>;
}

/// The tool as one run of the agent sees it.
pub trait Wrapper: Send {
    /// Does what the model asks, and says what it is told.
    ///
    /// Not cancel safe: a dropped future may have ordered.
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer>;
}
