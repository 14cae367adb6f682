//! The routes of the six kinds, and their JSON.
//!
//! ```text
//! POST /keyed        Idempotency-Key      GET /keyed/{key}            200, 202, 404
//! POST /operations   {operation}          GET /operations/{id}        state, 404
//! POST /orders       {business_id}        GET /orders?business_id=    a list, 202
//! PUT  /things/{id}                       GET /things/{id}            200, 202, 404
//! POST /dispatches   {reference}          GET /ledger?reference=      entries
//! POST /mute         {business_id}        GET /mute/export            what a person gets to see
//! ```
//! They decide nothing: what a request does is the desk's.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use service_kit::dropped;

use super::Receipt;
use super::desk::{Desk, Reply, Told};

type Table = State<Arc<Desk>>;

pub(super) fn routes(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/keyed", post(by_key))
        .route("/keyed/{name}", get(found))
        .route("/operations", post(by_operation))
        .route("/operations/{name}", get(status))
        .route("/orders", post(by_business_id).get(search))
        .route("/things/{name}", put(by_id).get(found))
        .route("/dispatches", post(by_reference))
        .route("/ledger", get(ledger))
        .route("/mute", post(by_business_id))
        .route("/mute/export", get(search))
        .layer(from_fn_with_state(Arc::clone(&desk), away))
        .with_state(desk)
}

async fn away(State(desk): Table, request: Request, next: Next) -> Response {
    match desk.is_away() {
        true => dropped(),
        false => next.run(request).await,
    }
}

async fn by_key(State(desk): Table, headers: HeaderMap) -> Response {
    let key = text_of(&headers, "idempotency-key");
    write(&desk, key.trim_matches('"'), &headers).await
}

async fn by_operation(State(desk): Table, headers: HeaderMap, body: Json<Value>) -> Response {
    write(&desk, text(&body, "operation"), &headers).await
}

async fn by_business_id(State(desk): Table, headers: HeaderMap, body: Json<Value>) -> Response {
    write(&desk, text(&body, "id"), &headers).await
}

async fn by_id(State(desk): Table, Path(id): Path<String>, headers: HeaderMap) -> Response {
    write(&desk, &id, &headers).await
}

async fn by_reference(State(desk): Table, headers: HeaderMap, body: Json<Value>) -> Response {
    write(&desk, text(&body, "id"), &headers).await
}

async fn write(desk: &Arc<Desk>, name: &str, headers: &HeaderMap) -> Response {
    let fence = text_of(headers, "x-fence-token").parse().unwrap_or(0);
    match desk.send(name, fence).await {
        Reply::Receipt(receipt) => (StatusCode::CREATED, Json(receipt)).into_response(),
        Reply::Refused => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
        Reply::Dropped => dropped(),
    }
}

/// By key, and under our id.
async fn found(State(desk): Table, Path(name): Path<String>) -> Response {
    match desk.look_up(&name) {
        Some((Told::Applied, Some(receipt))) => Json(receipt).into_response(),
        Some((Told::InProgress, _)) => StatusCode::ACCEPTED.into_response(),
        Some((Told::NotFound, _)) => StatusCode::NOT_FOUND.into_response(),
        Some((Told::Applied | Told::Partly, _)) => StatusCode::CONFLICT.into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn status(State(desk): Table, Path(name): Path<String>) -> Response {
    match desk.look_up(&name) {
        Some((Told::NotFound, _)) => StatusCode::NOT_FOUND.into_response(),
        Some((told, receipt)) => Json(entry(told, receipt)).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn search(State(desk): Table, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let name = asked.first().map_or("", |(_, value)| value.as_str());
    match desk.look_up(name) {
        Some((Told::Applied, Some(receipt))) => Json([receipt]).into_response(),
        Some((Told::InProgress, _)) => StatusCode::ACCEPTED.into_response(),
        Some((Told::Applied | Told::Partly | Told::NotFound, _)) => {
            Json(Vec::<Receipt>::new()).into_response()
        }
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn ledger(State(desk): Table, Query(asked): Query<Vec<(String, String)>>) -> Response {
    let name = asked.first().map_or("", |(_, value)| value.as_str());
    match desk.look_up(name) {
        Some((Told::NotFound, _)) => Json(json!({"entries": []})).into_response(),
        Some((told, receipt)) => Json(json!({"entries": [entry(told, receipt)]})).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

fn entry(told: Told, receipt: Option<Receipt>) -> Value {
    let state = match told {
        Told::Applied => "done",
        Told::Partly => "partly",
        Told::InProgress => "running",
        Told::NotFound => "unknown",
    };
    json!({"state": state, "receipt": receipt})
}

fn text<'a>(body: &'a Value, field: &str) -> &'a str {
    body[field].as_str().unwrap_or_default()
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}
