//! What a tracing system gets to see of an attempt. It must never see what may be sensitive.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_dispatch::{
    AttemptContext, AttemptFacts, AttemptRequest, Failure, FailureKind, Found, Sent, SpanId,
    TraceContext, look_up,
};
use mainstay_types::{AttemptNo, Clock, Epoch, Payload};
use tower::ServiceExt;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::doubles::{Bench, Does, Driven, Scripted, writing};

/// What was written by whoever has a clone.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("no test panics holding it")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().expect("no test panics holding it").clone();
        String::from_utf8(bytes).expect("spans are text")
    }
}

/// What a tracing system sees while `act` runs.
fn seen(act: impl FnOnce()) -> String {
    let written = Written::default();
    let writer = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    tracing::subscriber::with_default(subscriber, act);
    written.text()
}

fn must_hold(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

fn must_not_hold(text: &str) {
    for secret in ["secret-4711", "acme", "concern", "Kim"] {
        assert!(!text.contains(secret), "`{secret}` in {text}");
    }
}

/// The bench's context as part of a caller's trace, at this span of it.
fn traced(bench: &Bench, at: SpanId) -> AttemptContext {
    let cx = bench.cx();
    let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let own = TraceContext::parse(caller).expect("it is one").at(at);
    let facts = AttemptFacts {
        traceparent: Some(own.to_string()),
        ..(*cx).clone()
    };
    AttemptContext::new(
        facts,
        Arc::clone(&bench.time) as Arc<dyn Clock>,
        &bench.cancel,
    )
}

#[test]
fn the_span_names_run_call_and_end_and_nothing_sensitive() {
    let failure = Failure::new(FailureKind::Overloaded, Sent::Answered).message("Kim's minutes");
    let script = Scripted::new([Does::Fail(failure)]);
    let text = seen(|| {
        Bench::new().write(&script).end().expect_err("scripted");
    });
    let parts = [
        "attempt{run=07070707-0707-0707-0707-070707070707",
        "call=ticket_write[3]",
        "attempt=2 rung=0 control=false dependency=\"tickets\"",
        "effect=\"",
        "end=\"OVERLOADED\"",
        "sent=\"ANSWERED\"",
        "otel.kind=\"client\"",
        "otel.status_code=\"ERROR\"",
    ];
    must_hold(&text, &parts);
    must_not_hold(&text);
    assert!(!text.contains("trace_id"), "a trace nobody gave: {text}");
}

#[test]
fn a_look_up_has_a_span_below_the_attempt_it_asks_about() {
    let bench = Bench::new();
    let cx = bench.cx();
    let attempt = SpanId::of_attempt(cx.run, &cx.call, AttemptNo(2));
    let own = SpanId::of_look_up(cx.run, Epoch(1), &cx.call, 4);
    let failure = Failure::new(FailureKind::RateLimited, Sent::Answered).message("Kim's minutes");
    for (said, parts) in [
        (
            Err(failure),
            ["finding=\"cannot_tell\"", "failure=\"RATE_LIMITED\""],
        ),
        (
            Ok(Found::NotFound),
            ["finding=\"not_found\"", "otel.kind=\"client\""],
        ),
    ] {
        let provider = writing(&Scripted::finds(Some(said)));
        let cx = traced(&bench, own);
        let text = seen(|| {
            let request = Payload::from("\"to whom it may concern\"");
            Driven::new(look_up(&provider, request, cx, &bench.timers())).end();
        });
        let span = [
            "reconcile{run=07070707-0707-0707-0707-070707070707",
            "trace_id=\"0af7651916cd43dd8448eb211c80319c\"",
            &format!(" span_id={own}"),
            &format!("parent_span_id={attempt}"),
        ];
        must_hold(&text, &span);
        must_hold(&text, &parts);
        must_not_hold(&text);
    }
}

#[test]
fn an_attempt_has_its_place_in_the_callers_trace_below_its_call() {
    let bench = Bench::new();
    let cx = bench.cx();
    let own = SpanId::of_attempt(cx.run, &cx.call, cx.attempt);
    let request = AttemptRequest::new(Payload::from("\"hello\""), traced(&bench, own));
    let service = bench
        .stack()
        .build(writing(&Scripted::new([Does::Reply(0.5)])));
    let text = seen(|| {
        Driven::new(service.oneshot(request))
            .end()
            .expect("answered");
    });
    let parts = [
        "trace_id=\"0af7651916cd43dd8448eb211c80319c\"",
        &format!(" span_id={own}"),
        &format!(
            "parent_span_id={}",
            SpanId::of_call(cx.run, Epoch(1), &cx.call)
        ),
        "end=\"ANSWERED\"",
    ];
    must_hold(&text, &parts);
}
