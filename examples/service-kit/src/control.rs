//! The routes that every service has beside its own: `/faults`, `/requests`, `/health`.
//!
//! They must never be logged or struck by a fault: they are how a test sees and steers the others.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::fault::Fault;
use crate::front::Front;
use crate::log::{LogError, LogFilter, LogPage};
use crate::problem::Problem;

pub(crate) fn routes(front: Arc<Front>) -> Router {
    Router::new()
        .route("/health", get(async || Json(json!({ "status": "ok" }))))
        .route("/faults", get(list).post(arm).delete(clear))
        .route("/requests", get(requests))
        .with_state(front)
}

async fn list(State(front): State<Arc<Front>>) -> Response {
    Json(json!({ "faults": front.faults.list() })).into_response()
}

async fn arm(State(front): State<Arc<Front>>, body: Bytes) -> Result<Response, Problem> {
    let fault: Fault =
        serde_json::from_slice(&body).map_err(|e| Problem::bad("FAULT_INVALID", e.to_string()))?;
    let armed = front
        .faults
        .arm(fault)
        .map_err(|e| Problem::bad("FAULT_INVALID", e.to_string()))?;
    Ok((StatusCode::CREATED, Json(armed)).into_response())
}

async fn clear(State(front): State<Arc<Front>>) -> StatusCode {
    front.faults.clear();
    StatusCode::NO_CONTENT
}

async fn requests(
    State(front): State<Arc<Front>>,
    query: Result<Query<LogFilter>, QueryRejection>,
) -> Result<Json<LogPage>, Problem> {
    let Query(filter) = query.map_err(|e| Problem::bad("QUERY_INVALID", e.body_text()))?;
    let log = Arc::clone(&front.log);
    let page = tokio::task::spawn_blocking(move || log.page(&filter)).await;
    let page = page.unwrap_or_else(|e| Err(LogError(e.to_string())));
    page.map(Json).map_err(|e| Problem::internal(&e))
}
