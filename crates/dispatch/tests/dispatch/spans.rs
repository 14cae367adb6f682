//! What a tracing system gets to see of an attempt. It must never see what may be sensitive.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_dispatch::{Failure, FailureKind, Sent};
use tracing_subscriber::fmt::format::FmtSpan;

use crate::doubles::{Bench, Does, Scripted};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

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

#[test]
fn the_span_names_run_call_and_end_and_nothing_sensitive() {
    let written = Written::default();
    let writer = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    let failure = Failure::new(FailureKind::Overloaded, Sent::Answered).message("Kim's minutes");
    let script = Scripted::new([Does::Fail(failure)]);
    tracing::subscriber::with_default(subscriber, || {
        Bench::new().write(&script).end().expect_err("scripted")
    });
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    for part in [
        "attempt{run=07070707-0707-0707-0707-070707070707",
        "call=ticket_write[3]",
        "attempt=2 rung=0 control=false",
        "effect=\"",
        "end=\"OVERLOADED\"",
        "sent=\"ANSWERED\"",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    for secret in ["secret-4711", "acme", "concern", "Kim"] {
        assert!(!text.contains(secret), "`{secret}` in {text}");
    }
}
