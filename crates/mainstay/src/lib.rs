//! Mainstay: a durable runtime for agent Root Runs.
//!
//! A *Root Run* is one user request of an agent. It fans out into model calls, retrieval, tools and
//! writes; Mainstay bounds the whole of it (time, retries, concurrency, cost), writes every attempt
//! down before it happens, and asks what became of the last attempt before it tries anything else.
//!
//! This crate is a facade: it holds no logic. What is behind it is found by its module's name.

/// Building task classes: nodes, refs, contracts.
pub mod class {
    pub use mainstay_class::{
        Absolute, Budget, Builder, Call, Class, Cost, ErasedClass, Extend, Fail, HandOff, PerRun,
        PerSlot, Predicate, Problems, Ref, Refs, Reserve, SoftRef, TaskClass, UnknownDependency,
        days, hours, mins, ms, secs,
    };
}

/// Dependencies: what users implement, and what an attempt passes on its way out.
pub mod dispatch {
    pub use mainstay_dispatch::{
        Answer, AttemptContext, AttemptFacts, AttemptRequest, AttemptService, Backoff, BoxError,
        CancelSemantics, Failure, FailureKind, Found, Keys, Promise, Provider, RawAnswer, Read,
        ReadProvider, Resolution, ResultExt, Sent, Stack, Value, Write, WriteProvider,
    };
}

/// Running: engines, handles, answers, views.
pub mod engine {
    pub use mainstay_runtime::view::RunView;
    pub use mainstay_runtime::view::text::render;
    pub use mainstay_runtime::{
        Addendum, Answer, Engine, EngineBuilder, EngineError, Later, NotDriven, NotDrivenReason,
        Outcome, Ports, RunHandle, ShutdownReport, Start, system,
    };
}

/// Task classes as data: to draw, compare and store.
pub mod graph {
    pub use mainstay_graph::{
        Contract, CriticalPath, Criticality, EffectContract, FallbackKind, Node, NodeKind,
        OnDowntime, OnFailure, Problem, Severity, TaskClass, draw, path, validate,
    };
}

/// Durable memory: the port, the memory backend, errors.
pub mod ledger {
    pub use mainstay_ledger::memory::MemoryLedger;
    pub use mainstay_ledger::{Ledger, LedgerError, Page, RunFilter};
    #[cfg(feature = "sled")]
    pub use mainstay_ledger_sled::{OpenOptions, SledLedger};
}

/// Ids, units, limits, codes and ports.
pub mod types {
    pub use mainstay_types::*;
}

/// JSON over HTTP as dependencies.
#[cfg(feature = "http")]
pub use mainstay_http as http;

pub use class::{Class, TaskClass};
pub use dispatch::{
    Answer as Reply, AttemptContext, Failure, FailureKind, Found, Read, Sent, Write,
};
pub use engine::{Answer, Engine, EngineBuilder, EngineError, Outcome, RunHandle};
pub use mainstay_machine::{OutcomeKind, RunState, Summary};
pub use mainstay_types::{Code, CostUnits, Millis, RunId, Timestamp};

/// What most programs need, in one `use`.
pub mod prelude {
    pub use crate::class::{
        Absolute, Budget, Class, Extend, Fail, HandOff, PerRun, PerSlot, Reserve, TaskClass, days,
        hours, mins, ms, secs,
    };
    pub use crate::dispatch::{
        AttemptContext, Failure, FailureKind, Found, Promise, Read, Resolution, Sent, Write,
    };
    pub use crate::engine::{Answer, Engine, EngineError, Outcome, RunHandle};
    pub use crate::{OutcomeKind, Reply};
}

/// Opens the store in `folder`, creating it when there is none, for an engine on the real ports.
///
/// Register the classes next, then start: recovery begins only once all code is known. Must be
/// called inside a tokio runtime. `STORE_LOCKED` when another process holds the store; the other
/// store errors have their pages.
///
/// ```no_run
/// # async fn f() -> Result<(), mainstay::EngineError> {
/// let engine = mainstay::open("./mainstay-store")?.start().await?;
/// # Ok(()) }
/// ```
#[cfg(feature = "sled")]
pub fn open(folder: impl AsRef<std::path::Path>) -> Result<EngineBuilder, EngineError> {
    let options = ledger::OpenOptions { create: true };
    let store = ledger::SledLedger::open(folder.as_ref(), options).map_err(EngineError::from)?;
    Ok(EngineBuilder::new(
        std::sync::Arc::new(store),
        engine::system::ports(),
    ))
}

/// The README's example compiles, or its tests fail.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
