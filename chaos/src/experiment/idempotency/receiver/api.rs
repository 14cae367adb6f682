//! The receiver's routes and their JSON.
//!
//! They must never decide anything: what a request does is the landing's, what is true the table's.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::draw::Intent;
use super::landing::{Desk, Landed, Standing, standing};
use super::{Keys, key};

/// What is ordered. `request_no` and `slot` are names that a business gives an order, if it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    /// What.
    pub item: String,
    /// How many.
    pub qty: u32,
    /// Words for people; no part of what makes a request the same.
    pub memo: String,
    /// The purchase request that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_no: Option<String>,
    /// Which of that request's orders it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
}

/// An order that was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// The receiver's number of it.
    pub order_no: String,
    /// What was ordered.
    #[serde(flatten)]
    pub request: OrderRequest,
}

/// A refusal.
#[derive(Serialize)]
struct Problem {
    code: &'static str,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    request_no: String,
    slot: Option<u32>,
}

#[derive(Serialize)]
struct FoundOrders {
    orders: Vec<Placed>,
}

/// How a key stands; the status says the same: 200, 202, 404.
#[derive(Serialize)]
struct KeyStanding {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Placed>,
}

pub(super) fn routes(desk: Arc<Desk>) -> Router {
    const WANTED: &str = "/sessions/{session}/wanted/{order}";
    let mut orders = Router::new().route("/orders", post(place).get(search));
    if desk.keys == Keys::Honoured {
        orders = orders.route("/orders/by-key/{key}", get(by_key));
    }
    Router::new().nest(WANTED, orders).with_state(desk)
}

type Wanted<T> = Result<Path<T>, PathRejection>;

async fn place(
    State(desk): State<Arc<Desk>>,
    wanted: Wanted<Intent>,
    headers: HeaderMap,
    body: Result<Json<OrderRequest>, JsonRejection>,
) -> Result<Response, Response> {
    let Path(intent) = wanted.map_err(|error| invalid("PATH_INVALID", error.body_text()))?;
    let Json(request) = body.map_err(|error| invalid("BODY_INVALID", error.body_text()))?;
    let key = key::of(&headers).map_err(|why| invalid("KEY_INVALID", why.to_owned()))?;
    Ok(match desk.send(intent, key, request).await {
        Landed::Placed(placed) => (StatusCode::CREATED, Json(placed)).into_response(),
        Landed::Mismatch => problem(
            StatusCode::UNPROCESSABLE_ENTITY,
            "IDEMPOTENCY_MISMATCH",
            "the key was used for another item or quantity".to_owned(),
        ),
        Landed::Expired => problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "EXPIRED",
            "the order came to its turn too late and was not executed".to_owned(),
        ),
    })
}

async fn search(
    State(desk): State<Arc<Desk>>,
    wanted: Wanted<Intent>,
    query: Result<Query<Search>, QueryRejection>,
) -> Result<Json<FoundOrders>, Response> {
    let Path(intent) = wanted.map_err(|error| invalid("PATH_INVALID", error.body_text()))?;
    let Query(query) = query.map_err(|error| invalid("QUERY_INVALID", error.body_text()))?;
    let look = move |table: &_| search_in(table, &query);
    let orders = desk.look_up(intent, look).await;
    Ok(Json(FoundOrders { orders }))
}

fn search_in(table: &super::table::Table, query: &Search) -> Vec<Placed> {
    table.search(&query.request_no, query.slot)
}

async fn by_key(
    State(desk): State<Arc<Desk>>,
    wanted: Wanted<(u32, u32, String)>,
) -> Result<Response, Response> {
    let Path((session, order, key)) =
        wanted.map_err(|error| invalid("PATH_INVALID", error.body_text()))?;
    let intent = Intent { session, order };
    let look = move |table: &_| standing(table, &key);
    let (status, state, order) = match desk.look_up(intent, look).await {
        Standing::Applied(placed) => (StatusCode::OK, "applied", Some(placed)),
        Standing::InProgress => (StatusCode::ACCEPTED, "in_progress", None),
        Standing::NotFound => (StatusCode::NOT_FOUND, "not_found", None),
    };
    Ok((status, Json(KeyStanding { state, order })).into_response())
}

fn invalid(code: &'static str, message: String) -> Response {
    problem(StatusCode::BAD_REQUEST, code, message)
}

fn problem(status: StatusCode, code: &'static str, message: String) -> Response {
    (status, Json(Problem { code, message })).into_response()
}
