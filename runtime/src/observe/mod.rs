//! What a host's tracing and metrics get to see of an engine.
//!
//! Two rules. Only what is durable is told, once, by the process that made it so. And nothing is
//! told that a user, a provider or a caller wrote: no input, request, reply, header, business id,
//! effect key, start key, tenant, failure text or panic text. Those are in the store, shown where a
//! person asks for them.
//!
//! # Spans
//!
//! All at level `info`. The spans of a process are nested `run` > `call` > `attempt` and `run` >
//! `call` > `reconcile`; by their ids a `reconcile` is below the attempt it asks about.
//!
//! | span | from .. to |
//! |---|---|
//! | `run` | a process begins to drive the run .. it lets go of it |
//! | `call` | its request is fixed, or this process first acts for it .. its end is known |
//! | `attempt` | the request may leave .. its end is known, or nobody waits any more |
//! | `reconcile` | the receiver is asked about an attempt .. it answered, or could not tell |
//!
//! [`SPANS`] lists the fields. Ids of the caller's trace are there when `start` was given a valid
//! `traceparent`: `trace_id`, `span_id` and `parent_span_id` in hexadecimal, as W3C Trace Context
//! has them, and on the run `sampled`. Every attempt and look-up sends its own span's
//! `traceparent` with the caller's flags. Span ids follow from run, epoch, call and number
//! (`mainstay_dispatch::SpanId`), so nothing has to be stored to name them after a crash.
//!
//! `link.*` is what a span goes on from: on a `run` the epoch, worker and span of the owner before
//! this one, on a `call` the epoch and span under which it was last attempted. The span of a new
//! run follows from the span in which `start` was awaited, and is no child of it.
//!
//! Fields that begin with `otel.` are those that `tracing-opentelemetry` reads.
//!
//! # Metrics
//!
//! [`METRICS`] lists them.
//!
//! # Panics
//!
//! Rust's panic hook prints what a caught panic says, before anyone can catch it.
//! [`hide_panic_texts`] keeps that out of the process's error output.

pub mod facts;
pub mod metrics;

pub(crate) mod notes;
pub(crate) mod spans;

pub use facts::{Ask, Fact, Fallback, Place, facts};
pub use metrics::{Kind, METRICS, Metric, describe};

pub use mainstay_dispatch::hide_panic_texts;

/// The fields that a span of this name may have, in the order in which they are declared.
pub const SPANS: [(&str, &[&str]); 4] = [
    (
        "run",
        &[
            "run",
            "class",
            "class_version",
            "epoch",
            "worker",
            "lap",
            "outcome",
            "reason",
            "quarantined",
            "trace_id",
            "span_id",
            "parent_span_id",
            "sampled",
            "link.epoch",
            "link.worker",
            "link.trace_id",
            "link.span_id",
            "otel.kind",
            "otel.status_code",
        ],
    ),
    (
        "call",
        &[
            "run",
            "call",
            "attempts",
            "rung",
            "end",
            "reason",
            "trace_id",
            "span_id",
            "parent_span_id",
            "link.epoch",
            "link.trace_id",
            "link.span_id",
            "otel.kind",
            "otel.status_code",
        ],
    ),
    (
        "attempt",
        &[
            "run",
            "call",
            "attempt",
            "rung",
            "control",
            "dependency",
            "effect",
            "end",
            "sent",
            "trace_id",
            "span_id",
            "parent_span_id",
            "otel.kind",
            "otel.status_code",
        ],
    ),
    (
        "reconcile",
        &[
            "run",
            "call",
            "attempt",
            "rung",
            "control",
            "dependency",
            "effect",
            "finding",
            "failure",
            "trace_id",
            "span_id",
            "parent_span_id",
            "otel.kind",
            "otel.status_code",
        ],
    ),
];
