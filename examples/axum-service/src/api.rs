//! The routes: from HTTP to the engine and back.
//!
//! A handler that is dropped because its caller went away cancels nothing: the run is durable, and
//! the same key finds it.

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use mainstay::{Answer, Class, Code, Engine, RunHandle, RunId};
use serde::Deserialize;

use crate::problem::Problem;
use crate::refund::{Claim, Decision};
use crate::shown::Shown;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) refund: Class<Claim, Decision>,
}

pub(crate) fn routes(desk: Desk) -> Router {
    Router::new()
        .route("/runs", post(start))
        .route("/runs/{id}", get(show))
        .route("/runs/{id}/cancel", post(cancel))
        .with_state(desk)
}

async fn start(
    State(desk): State<Desk>,
    headers: HeaderMap,
    claim: Result<Json<Claim>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(claim) = claim.map_err(|error| Problem::invalid(error.body_text()))?;
    let key = idempotency_key(&headers)?;
    let mut start = desk.engine.start(&desk.refund, claim).key(key);
    if let Some(traceparent) = text(&headers, "traceparent") {
        start = start.traceparent(traceparent);
    }
    let run = start.await?;
    if text(&headers, "prefer").is_some_and(|prefer| prefer.contains("respond-async")) {
        return later(&run).await;
    }
    match run.answer().await {
        Ok(Answer::Ready(outcome)) => Ok(Json(Shown::ready(run.id(), outcome)).into_response()),
        // The first caller was told "later"; whoever comes after the outcome gets the outcome.
        Ok(_) if run.view().await?.outcome.is_some() => {
            let outcome = run.outcome().await?;
            Ok(Json(Shown::ready(run.id(), outcome)).into_response())
        }
        // In doubt, or anything else that is no outcome yet.
        Ok(_) => later(&run).await,
        // The process stops; the next one goes on with the run.
        Err(error) if error.code() == Code::RunNotLive => later(&run).await,
        Err(error) => Err(error.into()),
    }
}

async fn show(State(desk): State<Desk>, Path(id): Path<String>) -> Result<Json<Shown>, Problem> {
    let run = desk.engine.run(&desk.refund, run_id(&id)?).await?;
    let view = run.view().await?;
    if view.outcome.is_none() {
        return Ok(Json(Shown::open(view)));
    }
    let outcome = run.outcome().await?;
    Ok(Json(Shown::ready(run.id(), outcome)))
}

/// Who asks a run to stop, and why.
#[derive(Deserialize)]
struct Cancel {
    by: String,
    why: String,
}

async fn cancel(
    State(desk): State<Desk>,
    Path(id): Path<String>,
    cancel: Result<Json<Cancel>, JsonRejection>,
) -> Result<StatusCode, Problem> {
    let Json(cancel) = cancel.map_err(|error| Problem::invalid(error.body_text()))?;
    let run = desk.engine.run(&desk.refund, run_id(&id)?).await?;
    run.cancel(&cancel.by, &cancel.why).await?;
    Ok(StatusCode::ACCEPTED)
}

/// 202, and where the run is found.
async fn later(run: &RunHandle<Decision>) -> Result<Response, Problem> {
    let place = [(header::LOCATION, format!("/runs/{}", run.id()))];
    let body = Json(Shown::open(run.view().await?));
    Ok((StatusCode::ACCEPTED, place, body).into_response())
}

/// The key that makes a repeated request the same run. Without one a retry would pay twice, so it
/// is not optional. Taken with and without the quotes of a structured field.
fn idempotency_key(headers: &HeaderMap) -> Result<&str, Problem> {
    let key = text(headers, "idempotency-key");
    let key = key.map(|key| key.trim().trim_matches('"'));
    key.filter(|key| !key.is_empty())
        .ok_or_else(|| Problem::invalid("the header Idempotency-Key is missing"))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid(format!("{text:?} is not a run's id")))
}
