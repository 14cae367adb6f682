//! The HTTP routes: `POST /summaries` and `GET /about`.
//!
//! It must never rank on an async thread: two megabytes of minutes take a while.

use axum::body::Bytes;
use axum::middleware::from_fn;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use service_kit::{Described, Incoming, Problem, delayed};

use crate::summary::{Summary, summarise};
use crate::{BODY_BYTES_MAX, NAME};

/// Longest `focus`, in characters.
const FOCUS_CHARS_MAX: usize = 1_000;

/// Body of `POST /summaries`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    minutes: String,
    #[serde(default)]
    focus: Option<String>,
}

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/about", get(about))
        .route("/summaries", post(summaries))
        .layer(from_fn(delayed))
}

/// A summary is about no item of a list; a key is only noted.
pub(crate) fn describe(incoming: &Incoming<'_>) -> Described {
    let key = incoming.headers.get("idempotency-key");
    let key = key.and_then(|key| Some(key.to_str().ok()?.trim_matches('"').to_owned()));
    Described {
        key,
        ..Described::default()
    }
}

async fn about() -> Json<Value> {
    Json(json!({
        "name": NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "method": "textrank-extractive",
        "body_bytes_max": BODY_BYTES_MAX,
    }))
}

async fn summaries(body: Bytes) -> Result<Json<Summary>, Problem> {
    let asked: Asked = serde_json::from_slice(&body)
        .map_err(|e| Problem::bad("JSON_INVALID", format!("body: {e}")))?;
    if FOCUS_CHARS_MAX < asked.focus.as_deref().unwrap_or_default().chars().count() {
        let detail = format!("focus is longer than {FOCUS_CHARS_MAX} characters");
        return Err(Problem::bad("FOCUS_TOO_LONG", detail));
    }
    let work = move || summarise(&asked.minutes, asked.focus.as_deref());
    let summary = tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| Problem::internal(&e))?;
    let none = || Problem::bad("MINUTES_EMPTY", "minutes hold no sentence");
    summary.map(Json).ok_or_else(none)
}
