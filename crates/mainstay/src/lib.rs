//! Mainstay: a durable runtime for agent Root Runs.
//!
//! A *Root Run* is one user request of an agent. It fans out into model calls, retrieval, tools and
//! writes; Mainstay bounds the whole of it (time, retries, concurrency, cost), writes every attempt
//! down before it happens, and asks what became of the last attempt before it tries anything else.
//!
//! This crate is a facade: it holds no logic. What is behind it is found by its module's name.
//!
//! # Features
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `sled` | yes | the embedded ledger, and [`open`] |
//! | `http` | yes | [`http`]: JSON over HTTP as dependencies |
//! | `socket` | yes | [`socket`]: views and commands over a local socket, served by [`open`] |
//! | `cli` | no | `cli`: the command line, to be mounted in a program of one's own |
//! | `model` | no | `model`: OpenAI-compatible chat completions as dependencies |
//! | `tls` | no | https for `http` and `model`, with rustls |
//! | `chaos` | no | one's own graph under thousands of fault schedules, for CI |
//! | `chaos-real` | no | real processes that are killed: `chaos real` in a program of one's own |
//! | `testing` | no | an engine in memory and virtual time, for unit tests of one's own classes |

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Building task classes: nodes, refs, contracts.
pub mod class {
    pub use mainstay_class::{
        Absolute, Budget, Builder, Call, Cap, Caps, Class, Cost, Effected, ErasedClass, Extend,
        Fail, HandOff, OnLate, OnLimit, PerRun, PerSlot, Predicate, Problems, Ref, Refs, Reserve,
        SoftRef, TaskClass, Tool, ToolOutcome, ToolRecord, UnknownDependency, days, hours, mins,
        ms, secs,
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
    pub use mainstay_runtime::view::text::{render, render_effect, render_why};
    pub use mainstay_runtime::view::why::WhyView;
    pub use mainstay_runtime::view::{AnswerView, OneEffect, RunView};
    pub use mainstay_runtime::{
        Addendum, Answer, Budget, Companion, Doubtful, EffectFilter, EffectPage, EffectRow, Engine,
        EngineBuilder, EngineError, Later, NotDriven, NotDrivenReason, OrphanFilter, OrphanPage,
        OrphanRow, Outcome, Ports, RunHandle, ShutdownReport, Start, Status, Stay, ToolAnswer,
        ToolSchema, Tools, WeakEngine, system,
    };
}

/// What a host's tracing and metrics get to see.
pub mod observe {
    pub use mainstay_dispatch::hide_panic_texts;
    pub use mainstay_runtime::observe::{METRICS, Metric, SPANS, describe};
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
    pub use mainstay_ledger::{Ledger, LedgerError, Page, RunFilter, StoredAlert};
    #[cfg(feature = "sled")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sled")))]
    pub use mainstay_ledger_sled::{Lag, OpenOptions, Settings, SledLedger};
}

/// Ids, units, limits, codes and ports.
pub mod types {
    pub use mainstay_types::*;
}

/// JSON over HTTP as dependencies.
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub use mainstay_http as http;

/// Views and commands of a running engine over a local socket. [`open`] serves it; an engine that
/// is put together by hand does with `accompany(LocalSocket::of(folder))`.
#[cfg(feature = "socket")]
#[cfg_attr(docsrs, doc(cfg(feature = "socket")))]
pub use mainstay_socket as socket;

/// The command line: `cli::main_with(classes)` is a whole program, `cli::Cli` a command to mount.
#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub use mainstay_cli as cli;

/// OpenAI-compatible models as dependencies.
#[cfg(feature = "model")]
#[cfg_attr(docsrs, doc(cfg(feature = "model")))]
pub use mainstay_model as model;

#[cfg(feature = "chaos")]
#[cfg_attr(docsrs, doc(cfg(feature = "chaos")))]
pub mod chaos;

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;

pub use class::{Class, TaskClass};
pub use dispatch::{
    Answer as Reply, AttemptContext, Failure, FailureKind, Found, Read, Sent, Write,
};
pub use engine::{Answer, Engine, EngineBuilder, EngineError, Outcome, RunHandle};
pub use mainstay_machine::{
    Alert, AlertKind, EffectStatus, OutcomeKind, Ruling, RunState, StateReason, Summary,
};
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
/// store errors have their pages. With the feature `socket` (default) the engine serves the store's
/// local socket, which `mainstay` asks; `.alone()` before `.start()` leaves it out.
///
/// ```no_run
/// # async fn f() -> Result<(), mainstay::EngineError> {
/// let engine = mainstay::open("./mainstay-store")?.start().await?;
/// # Ok(()) }
/// ```
#[cfg(feature = "sled")]
#[cfg_attr(docsrs, doc(cfg(feature = "sled")))]
pub fn open(folder: impl AsRef<std::path::Path>) -> Result<EngineBuilder, EngineError> {
    let options = ledger::OpenOptions::creating();
    let store = ledger::SledLedger::open(folder.as_ref(), options).map_err(EngineError::from)?;
    let builder = EngineBuilder::new(std::sync::Arc::new(store), engine::system::ports());
    #[cfg(feature = "socket")]
    let builder = builder.accompany(socket::LocalSocket::of(folder.as_ref()));
    Ok(builder)
}

/// The README's example compiles, or its tests fail.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
