//! The spans of a live run: `run`, and below it one `call` for each call that asks somebody.
//!
//! They follow the durable state and are told after it has changed, so a span never shows what a
//! failed append took back. It must never record what a user, a provider or a caller wrote: ids,
//! numbers, names of the class and stable codes only.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use mainstay_dispatch::{SpanId, TraceContext};
use mainstay_graph::TaskClass;
use mainstay_machine::{Call, Head, Phase, Run};
use mainstay_types::{BoxFuture, CallId, Code, Epoch, Reason, RunId, WorkerId};
use tracing::field::{Empty, display};
use tracing::{Instrument, Span, info_span};

/// The spans of a run while this process drives it.
pub(crate) struct RunSpans {
    id: RunId,
    run: Span,
    /// Who drove the run before, and in which epoch.
    before: Option<(Epoch, WorkerId)>,
    /// Whose epoch the span shows; `None` until this process has appended to the run.
    epoch: Option<Epoch>,
    calls: BTreeMap<CallId, Span>,
}

impl RunSpans {
    /// The spans of a run that is about to be driven. A new run follows from the caller's span, and
    /// is no child of it: it may outlive it by days. One that goes on names its last owner's span.
    pub(crate) fn begin(id: RunId, class: &TaskClass, run: &Run) -> Self {
        let span = run_span(id, class);
        let before = run.head().map(|head| (head.epoch, head.worker));
        if before.is_none()
            && let Some(caller) = Span::current().id()
        {
            span.follows_from(caller);
        }
        Self {
            id,
            run: span,
            before,
            epoch: None,
            calls: BTreeMap::new(),
        }
    }

    /// The run's span.
    pub(crate) fn run(&self) -> Span {
        self.run.clone()
    }

    /// What goes out for a call happens within the call's span.
    pub(crate) fn within(
        &mut self,
        run: &Run,
        call: CallId,
        out: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        let span = self.call(run, call);
        if span.is_disabled() {
            return out;
        }
        instrumented(out, span)
    }

    /// The state is durable, and these calls are not as they were before.
    pub(super) fn follow(&mut self, run: &Run, touched: &BTreeSet<CallId>) {
        let Some(head) = run.head() else { return };
        if self.epoch != Some(head.epoch) {
            self.own(head);
        }
        self.run.record("lap", head.lap.no.get());
        if let Some(outcome) = &head.lap.outcome {
            self.run.record("outcome", outcome.kind.as_str());
            self.run.record("reason", outcome.reason.as_str());
        }
        for &id in touched {
            self.follow_call(run, id);
        }
    }

    /// The run is not driven any more.
    pub(crate) fn quarantined(&self, code: Code) {
        self.run.record("quarantined", code.as_str());
        self.run.record("otel.status_code", "ERROR");
    }

    fn own(&mut self, head: &Head) {
        self.epoch = Some(head.epoch);
        self.run.record("epoch", head.epoch.get());
        self.run.record("worker", display(head.worker));
        if let Some(caller) = caller(head) {
            let own = SpanId::of_run(self.id, head.epoch);
            self.run.record("trace_id", caller.trace_id());
            self.run.record("span_id", display(own));
            self.run.record("parent_span_id", display(caller.span_id()));
            self.run.record("sampled", caller.is_sampled());
        }
        self.link(head);
    }

    /// Names the span of the last owner. A run that its own owner had only put aside has none.
    fn link(&self, head: &Head) {
        let Some((epoch, worker)) = self.before.filter(|(epoch, _)| *epoch < head.epoch) else {
            return;
        };
        self.run.record("link.epoch", epoch.get());
        self.run.record("link.worker", display(worker));
        if let Some(caller) = caller(head) {
            let last = SpanId::of_run(self.id, epoch);
            self.run.record("link.trace_id", caller.trace_id());
            self.run.record("link.span_id", display(last));
        }
    }

    fn follow_call(&mut self, run: &Run, id: CallId) {
        let Some(call) = run.calls().get(id) else {
            return;
        };
        if call.phase.is_final() {
            if let Some(span) = self.calls.remove(&id) {
                ended(&span, run, call);
            }
        } else if call.prepared.is_some() {
            self.call(run, id);
        }
    }

    /// The call's span, opened when it is not.
    fn call(&mut self, run: &Run, id: CallId) -> Span {
        let known = self.calls.get(&id);
        let open = || call_span(&self.run, run, id);
        let span = known.cloned().unwrap_or_else(open);
        if !span.is_disabled() {
            self.calls.insert(id, span.clone());
        }
        span
    }
}

/// The `traceparent` of a span of the run, for the wire; `None` when the caller gave no trace.
pub(crate) fn traceparent(head: &Head, span: impl FnOnce() -> SpanId) -> Option<String> {
    caller(head).map(|caller| caller.at(span()).to_string())
}

fn caller(head: &Head) -> Option<TraceContext> {
    TraceContext::parse(head.traceparent.as_deref()?)
}

fn instrumented(
    out: impl Future<Output = ()> + Send + 'static,
    span: Span,
) -> BoxFuture<'static, ()> {
    Box::pin(out.instrument(span))
}

fn run_span(id: RunId, class: &TaskClass) -> Span {
    info_span!(
        parent: None,
        "run",
        run = %id,
        class = %class.name,
        class_version = %class.version,
        epoch = Empty,
        worker = Empty,
        lap = Empty,
        outcome = Empty,
        reason = Empty,
        quarantined = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
        sampled = Empty,
        link.epoch = Empty,
        link.worker = Empty,
        link.trace_id = Empty,
        link.span_id = Empty,
        otel.kind = "internal",
        otel.status_code = Empty,
    )
}

fn call_span(parent: &Span, run: &Run, id: CallId) -> Span {
    let span = info_span!(
        parent: parent,
        "call",
        run = Empty,
        call = %run.path(id),
        attempts = Empty,
        rung = Empty,
        end = Empty,
        reason = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
        link.epoch = Empty,
        link.trace_id = Empty,
        link.span_id = Empty,
        otel.kind = "internal",
        otel.status_code = Empty,
    );
    let (Some(head), Some(call)) = (run.head(), run.calls().get(id)) else {
        return span;
    };
    if span.is_disabled() {
        return span;
    }
    span.record("run", display(head.run));
    let last = call.attempts.last().map(|attempt| attempt.epoch);
    let before = last.filter(|last| *last < head.epoch);
    if let Some(before) = before {
        span.record("link.epoch", before.get());
    }
    if let Some(caller) = caller(head) {
        let path = run.path(id);
        let own = |epoch| SpanId::of_call(head.run, epoch, &path);
        span.record("trace_id", caller.trace_id());
        span.record("span_id", display(own(head.epoch)));
        let parent = SpanId::of_run(head.run, head.epoch);
        span.record("parent_span_id", display(parent));
        if let Some(before) = before {
            span.record("link.trace_id", caller.trace_id());
            span.record("link.span_id", display(own(before)));
        }
    }
    span
}

fn ended(span: &Span, run: &Run, call: &Call) {
    let lap = run.head().map(|head| head.lap.no);
    let made = call.attempts.iter();
    let made = made.filter(|attempt| Some(attempt.lap) == lap).count();
    span.record("attempts", made);
    span.record("end", call.phase.as_str());
    let note = |reason: Reason| {
        span.record("reason", reason.as_str());
    };
    match &call.phase {
        Phase::Settled { rung, .. } => {
            span.record("rung", rung.get());
        }
        Phase::Omitted { reason } => note(*reason),
        Phase::Failed { reason, .. } => {
            note(*reason);
            span.record("otel.status_code", "ERROR");
        }
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Skipped => {}
    }
}
