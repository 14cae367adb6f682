//! A shop that pays refunds once per key, in the test's own process, so that it outlives every
//! process of the service.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// A running shop; clones are the same one.
#[derive(Clone)]
pub(crate) struct Shop(Arc<Inner>);

struct Inner {
    url: Mutex<String>,
    refunds: Mutex<BTreeMap<String, Value>>,
    requests: watch::Sender<usize>,
    /// Requests are held at the door while this is `false`.
    open: watch::Sender<bool>,
    losing: Mutex<usize>,
}

impl Shop {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shop = Self(Arc::new(Inner {
            url: Mutex::new(url),
            refunds: Mutex::default(),
            requests: watch::Sender::new(0),
            open: watch::Sender::new(true),
            losing: Mutex::new(0),
        }));
        let routes = Router::new()
            .route("/orders/{order}", get(order))
            .route("/refunds", post(refund))
            .route("/refunds/by-key/{key}", get(by_key))
            .with_state(shop.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        shop
    }

    pub(crate) fn url(&self) -> String {
        self.0.url.lock().unwrap().clone()
    }

    /// How many refunds were paid.
    pub(crate) fn paid(&self) -> usize {
        self.0.refunds.lock().unwrap().len()
    }

    /// Pays the next refund and answers it with a gateway's error.
    pub(crate) fn lose_a_reply(&self) {
        *self.0.losing.lock().unwrap() += 1;
    }

    /// Holds every request that asks for an order until [`Shop::open`].
    pub(crate) fn close(&self) {
        self.0.open.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until so many orders have been asked for, at most for the test runner's patience.
    pub(crate) async fn asked(&self, times: usize) {
        let mut requests = self.0.requests.subscribe();
        let reached = requests.wait_for(|&seen| times <= seen);
        let bound = std::time::Duration::from_secs(20);
        let reached = tokio::time::timeout(bound, reached).await;
        assert!(reached.is_ok(), "the shop was not asked {times} times");
    }
}

async fn order(State(shop): State<Shop>, Path(order): Path<String>) -> (StatusCode, Json<Value>) {
    shop.0.requests.send_modify(|seen| *seen += 1);
    let mut open = shop.0.open.subscribe();
    open.wait_for(|&open| open).await.unwrap();
    if order == "nobody's" {
        return (
            StatusCode::NOT_FOUND,
            Json(json!({"code": "NO_SUCH_ORDER"})),
        );
    }
    (StatusCode::OK, Json(json!({"paid_cents": 900})))
}

async fn refund(
    State(shop): State<Shop>,
    headers: HeaderMap,
    Json(_): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let key = headers["idempotency-key"].to_str().unwrap();
    let key = key.trim_matches('"').to_owned();
    let mut refunds = shop.0.refunds.lock().unwrap();
    let next = refunds.len() + 1;
    let refund = refunds.entry(key);
    let refund = refund.or_insert_with(|| json!({"id": format!("R-{next}")}));
    let mut losing = shop.0.losing.lock().unwrap();
    if 0 < *losing {
        *losing -= 1;
        return (StatusCode::BAD_GATEWAY, Json(json!({})));
    }
    (StatusCode::CREATED, Json(refund.clone()))
}

async fn by_key(State(shop): State<Shop>, Path(key): Path<String>) -> (StatusCode, Json<Value>) {
    match shop.0.refunds.lock().unwrap().get(&key) {
        Some(refund) => (StatusCode::OK, Json(refund.clone())),
        None => (StatusCode::NOT_FOUND, Json(json!({}))),
    }
}
