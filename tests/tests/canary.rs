//! One word in everything that goes over the wire and into a store on disk: no span, span event,
//! metric or line of a library's log repeats it, at any level.
//!
//! The engine's own doubles have their test beside the engine; this one is about what real sockets,
//! HTTP libraries and the store on disk have to say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use mainstay::class::{Budget, Class, TaskClass, secs};
use mainstay::http::{HttpClient, HttpRead, HttpWrite, RequestParts};
use mainstay::{Engine, Millis, OutcomeKind};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

const CANARY: &str = "CANARY-7f3a";

/// All that was told, as text.
static SAID: Mutex<String> = Mutex::new(String::new());

fn say(text: &str) {
    let mut said = SAID.lock().expect("no test panics holding it");
    writeln!(said, "{text}").expect("a string takes everything");
}

/// Spans and span events, as a subscriber formats them.
struct Spans;

impl io::Write for Spans {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        say(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What libraries say through `log`.
struct Logged;

impl log::Log for Logged {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        say(&format!("log {} {}", record.target(), record.args()));
    }

    fn flush(&self) {}
}

/// Names and labels of metrics.
struct Numbers;

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        say(&format!("metric {key}"));
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        say(&format!("metric {key}"));
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        say(&format!("metric {key}"));
        Histogram::noop()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Words {
    words: String,
}

/// A receiver that says the word in bodies and headers, and loses the reply of every write.
fn receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream).ok());
        }
    });
    format!("http://{address}")
}

fn serve(stream: TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    lines.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body)?;
    let (status, body) = if first.starts_with("POST") {
        return Ok(());
    } else if first.contains("/broken") {
        ("500 Internal Server Error", format!("no {CANARY} here"))
    } else if first.contains("/garbled") {
        ("200 OK", format!("{{\"words\": {CANARY}"))
    } else if first.contains("/busy") {
        ("429 Too Many Requests", CANARY.to_owned())
    } else {
        ("200 OK", format!("{{\"words\": \"{CANARY}\"}}"))
    };
    let mut stream = stream;
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nX-Said: {CANARY}\r\nRetry-After: {CANARY}\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn class(base: &str) -> Class<Words, Words> {
    let client = |base: &str| {
        let client = HttpClient::builder(base).header("X-Client", CANARY);
        let client = client.secret_header("Authorization", format!("Bearer {CANARY}"));
        client.build().expect("a valid client")
    };
    let there = client(base);
    let nowhere = client("http://127.0.0.1:1");
    let read = |name: &str, client: &HttpClient| {
        let path = name.to_owned();
        HttpRead::<Words, Words>::get(name, client, move |asked| {
            RequestParts::path([path.as_str(), CANARY]).query("q", &asked.words)
        })
    };
    let mut g = TaskClass::<Words>::define("canary", 1);
    g.budget(Budget::new().answer_by(secs(10)).retries(8));
    for name in ["broken", "garbled", "busy", "fine"] {
        let node = g.read(name, &read(name, &there), (), |m: &Words, ()| m.clone());
        node.soft("it is not needed").add();
    }
    let node = g.read("gone", &read("gone", &nowhere), (), |m, ()| m.clone());
    node.soft("it is not needed").add();
    let tickets = HttpWrite::<Words, Words>::post("tickets", &there, |made| {
        RequestParts::path(["tickets", CANARY]).json(made)
    });
    let tickets = tickets.find_by_key(|key| RequestParts::path(["tickets", key]));
    let order = g.write("order", &tickets, (), |m, ()| m.clone());
    let order = order.business_id(|m: &Words| &m.words).add();
    g.finish(order, |_, made| made.clone())
        .expect("a valid class")
}

async fn engine(folder: &std::path::Path, class: &Class<Words, Words>) -> Engine {
    let builder = mainstay::open(folder).expect("a free store").alone();
    builder.register(class).start().await.expect("it starts")
}

/// A run to its outcome, then another process's look at it.
async fn run(folder: &std::path::Path, class: &Class<Words, Words>) {
    let live = engine(folder, class).await;
    let input = Words {
        words: CANARY.to_owned(),
    };
    let start = live.start(class, input).tenant(CANARY).key(CANARY);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let handle = start.traceparent(trace).await.expect("it is started");
    let outcome = handle.outcome().await.expect("an outcome");
    assert_eq!(outcome.kind, OutcomeKind::Degraded, "{outcome:?}");
    assert_eq!(outcome.result.expect("a result").words, CANARY);
    let view = handle.view().await.expect("a view");
    let failed = serde_json::to_string(&view).expect("a view is plain data");
    assert!(
        failed.contains("RESULT_INVALID") && failed.contains("RATE_LIMITED"),
        "{failed}"
    );
    live.shutdown(Millis::from_secs(5)).await;
    drop(handle);
    let again = engine(folder, class).await;
    again.shutdown(Millis::from_secs(5)).await;
}

#[test]
fn nothing_that_goes_over_the_wire_or_to_disk_is_repeated_in_spans_metrics_or_logs() {
    log::set_logger(&Logged).expect("no other test sets one");
    log::set_max_level(log::LevelFilter::Trace);
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_span_events(FmtSpan::FULL)
        .with_writer(|| Spans)
        .finish();
    let folder = tempfile::tempdir().expect("a folder");
    let class = class(&receiver());
    // One thread, so that the subscriber and the recorder of this thread hear everything.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    metrics::with_local_recorder(&Numbers, || {
        tracing::subscriber::with_default(subscriber, || {
            runtime.block_on(async {
                let run = run(folder.path(), &class);
                tokio::time::timeout(Duration::from_secs(60), run).await
            })
        })
    })
    .expect("it ends");
    let said = SAID.lock().expect("no test panics holding it").clone();
    let heard: BTreeMap<&str, bool> = [
        "attempt{run=",
        "reconcile{run=",
        "metric Key(mainstay_dependency_attempt_total",
        "log ",
        "finding=\"applied\"",
    ]
    .map(|part| (part, said.contains(part)))
    .into();
    assert!(heard.values().all(|heard| *heard), "{heard:?}\n{said}");
    let repeated: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("CANARY"))
        .collect();
    assert!(repeated.is_empty(), "{}", repeated.join("\n"));
}
