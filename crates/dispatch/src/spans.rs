//! The spans of what leaves the process: `attempt` and `reconcile`.
//!
//! Their names and fields are stable; `runtime::observe` lists them with those of runs and calls.
//! What is recorded are ids, numbers, names of the class and codes of this crate. It must never
//! record what a user, a provider or a caller wrote.

use mainstay_types::{Digest, Failure, Payload};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::context::AttemptContext;
use crate::provider::RawAnswer;
use crate::trace_context::{SpanId, TraceContext};
use crate::traits::Found;

/// The span of an attempt at `dependency`.
pub(crate) fn attempt(cx: &AttemptContext, dependency: &str) -> Span {
    let span = info_span!(
        "attempt",
        run = %cx.run,
        call = %cx.call,
        attempt = %cx.attempt,
        rung = %cx.rung,
        control = cx.control,
        dependency,
        effect = Empty,
        end = Empty,
        sent = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
    );
    note_effect(&span, cx);
    note_place(&span, cx, || SpanId::of_call(cx.run, cx.fence, &cx.call));
    span
}

/// How the attempt ended.
pub(crate) fn attempt_ended(span: &Span, end: &Result<RawAnswer, Failure>) {
    match end {
        Ok(_) => {
            span.record("end", "ANSWERED");
        }
        Err(failure) => {
            span.record("end", failure.kind.as_str());
            span.record("sent", failure.sent.as_str());
            span.record("otel.status_code", "ERROR");
        }
    }
}

/// The span of a look-up at `dependency`: what became of the attempt that `cx` names.
///
/// That attempt's span has ended, perhaps in another process, so it is the parent by id only;
/// among the spans of this process the parent is the call's.
pub(crate) fn reconcile(cx: &AttemptContext, dependency: &str) -> Span {
    let span = info_span!(
        "reconcile",
        run = %cx.run,
        call = %cx.call,
        attempt = %cx.attempt,
        rung = %cx.rung,
        control = cx.control,
        dependency,
        effect = Empty,
        finding = Empty,
        failure = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
    );
    note_effect(&span, cx);
    note_place(&span, cx, || {
        SpanId::of_attempt(cx.run, &cx.call, cx.attempt)
    });
    span
}

/// What the look-up found. `failure` is why it found nothing out, when it failed.
pub(crate) fn reconciled(span: &Span, found: &Found<Payload>, failure: Option<&Failure>) {
    let finding = match found {
        Found::Applied(_) => "applied",
        Found::Partly => "partly_applied",
        Found::InProgress => "in_progress",
        Found::NotFound => "not_found",
        Found::CannotTell => "cannot_tell",
    };
    span.record("finding", finding);
    if let Some(failure) = failure {
        span.record("failure", failure.kind.as_str());
        span.record("otel.status_code", "ERROR");
    }
}

fn note_effect(span: &Span, cx: &AttemptContext) {
    if let Some(key) = &cx.effect_key {
        // 64 bits tell the effects of one trace apart and give nothing of the business id away.
        let digest = Digest::of(key.to_string().as_bytes()).to_string();
        span.record("effect", &digest[..16]);
    }
}

/// Where in the caller's trace the span is; nothing when there is none.
fn note_place(span: &Span, cx: &AttemptContext, parent: impl FnOnce() -> SpanId) {
    let own = cx.traceparent.as_deref().and_then(TraceContext::parse);
    if let Some(own) = own {
        span.record("trace_id", own.trace_id());
        span.record("span_id", tracing::field::display(own.span_id()));
        span.record("parent_span_id", tracing::field::display(parent()));
    }
}
