//! What the program prints: one JSON object, or text for people.
//!
//! Everything is read from the run's view, so that text, JSON and `mainstay run show` never tell
//! different stories.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use mainstay::Code;
use mainstay::engine::{EngineError, RunView};
use mainstay::model::ModelError;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::app::input::NoInput;
use crate::report::{self, Report};

/// Exit code of a run that ended without a full or degraded result.
const EXIT_NO_RESULT: u8 = 3;
/// Exit code of an input that is refused.
const EXIT_INPUT: u8 = 2;
/// Exit code of a store that cannot be used.
const EXIT_STORE: u8 = 4;

/// What is printed.
pub struct Printed<'a> {
    /// The run.
    pub view: &'a RunView,
    /// Whether the key had stood for it before.
    pub reused: bool,
    /// Whether nothing of it was left to do.
    pub settled: bool,
    /// The store's folder.
    pub store: &'a Path,
}

/// A ticket of the run.
#[derive(Debug, Serialize)]
struct Ticket {
    /// The effect key.
    key: String,
    /// The service's id; `None` while it is not known.
    id: Option<String>,
    /// Whether an earlier run had written it.
    reused: bool,
    /// How the effect stands.
    state: &'static str,
}

#[derive(Serialize)]
struct Json<'a> {
    reused: bool,
    tickets: Vec<Ticket>,
    store: String,
    #[serde(flatten)]
    view: &'a RunView,
}

/// Prints the run; the exit code says whether it has a result.
#[must_use]
pub fn print(json: bool, printed: &Printed<'_>) -> ExitCode {
    if json {
        let object = Json {
            reused: printed.reused,
            tickets: tickets(printed.view),
            store: printed.store.display().to_string(),
            view: printed.view,
        };
        match serde_json::to_string(&object) {
            Ok(text) => say(&format!("{text}\n")),
            Err(error) => eprintln!("the run cannot be printed: {error}"),
        }
    } else {
        say(&text(printed));
    }
    match printed.view.outcome {
        Some("completed" | "degraded") => ExitCode::SUCCESS,
        Some(_) | None => ExitCode::from(EXIT_NO_RESULT),
    }
}

/// Writes to stdout. Whoever reads it may be gone; that ends nothing.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        eprintln!("the run is done, but it cannot be printed: {error}");
    }
}

fn tickets(view: &RunView) -> Vec<Ticket> {
    let items = view.calls.iter().filter_map(|call| call.effect.as_ref());
    items
        .map(|effect| Ticket {
            key: effect.key.clone(),
            id: effect.result.as_deref().and_then(id_of),
            reused: effect.reason == Some("ADOPTED_FROM_OTHER_RUN"),
            state: effect.state,
        })
        .collect()
}

fn id_of(reply: &RawValue) -> Option<String> {
    let reply: crate::wire::TicketReply = serde_json::from_str(reply.get()).ok()?;
    Some(reply.id)
}

fn text(printed: &Printed<'_>) -> String {
    let view = printed.view;
    let mut out = String::new();
    let result = view.result.as_deref();
    if let Some(report) = result.and_then(|raw| serde_json::from_str::<Report>(raw.get()).ok()) {
        out.push_str(&report::to_text(&report));
        out.push('\n');
    }
    match (printed.reused, printed.settled) {
        (true, true) => {
            out.push_str("This run was done before; nothing was asked or written again.\n\n");
        }
        (true, false) => out.push_str("This run was started before and went on.\n\n"),
        (false, _) => {}
    }
    out.push_str(&mainstay::engine::render(view));
    let store = printed.store.display();
    out.push_str(&format!(
        "\nThe store is {store}. Look at the run again with\n  \
         cargo run --release -p mainstay-cli -- --store {store} run show {}\n",
        view.run_id
    ));
    out
}

/// Prints an error to stderr; its exit code says whose fault it is.
#[must_use]
pub fn failure(json: bool, error: &anyhow::Error) -> ExitCode {
    let engine = error.downcast_ref::<EngineError>();
    let input = error.downcast_ref::<NoInput>();
    let model = error.downcast_ref::<ModelError>();
    let code = match (engine, input, model) {
        (Some(error), _, _) => error.code().as_str(),
        (None, Some(_), _) => "INVALID_INPUT",
        (None, None, Some(error)) => error.code().as_str(),
        (None, None, None) => "FAILED",
    };
    if json {
        let object = serde_json::json!({ "code": code, "message": format!("{error:#}") });
        eprintln!("{object}");
    } else {
        eprintln!("{error:#}");
        if engine.is_some() || input.is_some() {
            eprintln!("\nhint: `mainstay error {code}` says what to do");
        }
    }
    match (engine, input) {
        (_, Some(_)) => ExitCode::from(EXIT_INPUT),
        (Some(EngineError::Ledger(_)), _) => ExitCode::from(EXIT_STORE),
        (Some(error), None) if error.code() == Code::StoreFull => ExitCode::from(EXIT_STORE),
        (Some(_), None) => ExitCode::FAILURE,
        (None, None) => ExitCode::FAILURE,
    }
}
