//! Five dependencies as a user would write them, each with its way to find out what became of a
//! write.
//!
//! "Not found" is said only where the receiver said so; whatever else goes wrong cannot tell.

use mainstay::http::key::wire_key;
use mainstay::http::{HttpClient, HttpRead, HttpWrite, KeyedWrite, RequestParts, SearchedWrite};
use mainstay::{
    AttemptContext, Failure, FailureKind, Found, Millis, Read, Reply, Sent, Write,
    dispatch::{Promise, Resolution},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::{BOUND_MS, TIMEOUT_MS};

/// What is ordered, under an id of the business.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// Its id, known before the run.
    pub id: String,
    /// What.
    pub item: String,
}

/// What a receiver answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// The receiver's number.
    pub number: String,
}

/// Without keys: what is sent twice is there twice.
pub(super) fn promise() -> Promise {
    Promise::new()
        .timeout(Millis::new(TIMEOUT_MS))
        .receiver_bound(Millis::new(BOUND_MS))
}

/// The receiver honours keys, and is asked by them.
pub(super) fn by_key(client: &HttpClient) -> KeyedWrite<Order, Receipt> {
    HttpWrite::post("by_key", client, |order: &Order| {
        RequestParts::path(["keyed"]).json(order)
    })
    .with_promise(promise().honours_keys(None))
    .find_by_key(|key| RequestParts::path(["keyed", key]))
}

/// The receiver can be searched for the order's id.
pub(super) fn by_business_key(client: &HttpClient) -> SearchedWrite<Order, Receipt> {
    searched("by_business_key", client, &["orders"], &["orders"])
}

/// Posts an order to one path, and searches for it at another.
pub(super) fn searched(
    name: &str,
    client: &HttpClient,
    to: &'static [&'static str],
    at: &'static [&'static str],
) -> SearchedWrite<Order, Receipt> {
    HttpWrite::post(name, client, move |order: &Order| {
        RequestParts::path(to).json(order)
    })
    .with_promise(promise())
    .find_by_search(
        move |order| RequestParts::path(at).query("business_id", &order.id),
        |_, found: Vec<Receipt>| found.into_iter().next(),
    )
}

/// What is posted as an operation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Operation {
    operation: String,
    order: Order,
}

/// How something stands at a receiver that says more than there or not.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Standing {
    state: String,
    receipt: Option<Receipt>,
}

impl Standing {
    fn found(self) -> Found<Receipt> {
        match (self.state.as_str(), self.receipt) {
            ("done", Some(receipt)) => Found::Applied(receipt),
            ("partly", _) => Found::Partly,
            ("running", _) => Found::InProgress,
            _ => Found::CannotTell,
        }
    }
}

/// The receiver is told the id of an operation, and asked for its status.
#[derive(Clone)]
pub(super) struct ByStatus {
    write: KeyedWrite<Operation, Receipt>,
    status: HttpRead<String, Standing>,
}

impl ByStatus {
    pub(super) fn new(client: &HttpClient) -> Self {
        let path = |id: &str| RequestParts::path(["operations", id]);
        let write = HttpWrite::post("by_status", client, |operation: &Operation| {
            RequestParts::path(["operations"]).json(operation)
        });
        Self {
            write: write.with_promise(promise()).find_by_key(path),
            status: HttpRead::get("operation_status", client, move |id: &String| path(id)),
        }
    }
}

impl Write for ByStatus {
    type Request = Order;
    type Reply = Receipt;
    const RESOLUTION: Resolution = Resolution::ByStatus;

    fn name(&self) -> &str {
        self.write.name()
    }

    async fn send(&self, order: Order, cx: &AttemptContext) -> Result<Reply<Receipt>, Failure> {
        let operation = operation_id(cx)?;
        self.write.send(Operation { operation, order }, cx).await
    }

    async fn find(&self, _: Order, cx: &AttemptContext) -> Result<Found<Receipt>, Failure> {
        let asked = self.status.call(operation_id(cx)?, cx).await;
        Ok(unless_missing(asked)?.map_or(Found::NotFound, Standing::found))
    }

    fn promise(&self) -> Promise {
        self.write.promise()
    }
}

/// The same for every attempt: the effect's key, which the run makes and no model ever sees.
pub(super) fn operation_id(cx: &AttemptContext) -> Result<String, Failure> {
    let key = cx.effect_key.as_ref().map(wire_key);
    key.ok_or_else(|| Failure::new(FailureKind::InvalidInput, Sent::NotSent))
}

/// 404 is an answer: it is not there. Whatever else went wrong is none.
fn unless_missing<T>(asked: Result<Reply<T>, Failure>) -> Result<Option<T>, Failure> {
    match asked {
        Ok(reply) => Ok(Some(reply.value)),
        Err(failure) if failure.provider_code.as_deref() == Some("HTTP 404") => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The receiver takes the state of a thing under our id: the same again changes nothing.
#[derive(Clone)]
pub(super) struct ByUpsert {
    put: KeyedWrite<Order, Receipt>,
    thing: HttpRead<Order, Receipt>,
}

impl ByUpsert {
    pub(super) fn new(client: &HttpClient) -> Self {
        let path = |order: &Order| RequestParts::path(["things", &order.id]);
        let put = HttpWrite::put("by_upsert", client, move |order| path(order).json(order))
            .with_promise(promise().honours_keys(None));
        Self {
            put: put.find_by_key(|id| RequestParts::path(["things", id])),
            thing: HttpRead::get("thing", client, path),
        }
    }
}

impl Write for ByUpsert {
    type Request = Order;
    type Reply = Receipt;
    const RESOLUTION: Resolution = Resolution::ByUpsert;

    fn name(&self) -> &str {
        self.put.name()
    }

    async fn send(&self, order: Order, cx: &AttemptContext) -> Result<Reply<Receipt>, Failure> {
        self.put.send(order, cx).await
    }

    async fn find(&self, order: Order, cx: &AttemptContext) -> Result<Found<Receipt>, Failure> {
        let asked = self.thing.call(order, cx).await;
        match unless_missing(asked) {
            Ok(thing) => Ok(thing.map_or(Found::NotFound, Found::Applied)),
            Err(failure) => Err(failure),
        }
    }

    fn promise(&self) -> Promise {
        self.put.promise()
    }
}

/// A page of the receiver's ledger.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct LedgerPage {
    entries: Vec<Standing>,
}

/// The receiver writes down what it was sent, by our reference, and lets us read it.
#[derive(Clone)]
pub(super) struct ByLedger {
    write: KeyedWrite<Order, Receipt>,
    ledger: HttpRead<Order, LedgerPage>,
}

impl ByLedger {
    pub(super) fn new(client: &HttpClient) -> Self {
        let write = HttpWrite::post("by_ledger", client, |order: &Order| {
            RequestParts::path(["dispatches"]).json(order)
        });
        let page = |order: &Order| RequestParts::path(["ledger"]).query("reference", &order.id);
        Self {
            write: write
                .with_promise(promise())
                .find_by_key(|_| RequestParts::path(["ledger"])),
            ledger: HttpRead::get("ledger", client, page),
        }
    }
}

impl Write for ByLedger {
    type Request = Order;
    type Reply = Receipt;
    const RESOLUTION: Resolution = Resolution::ByLedger;

    fn name(&self) -> &str {
        self.write.name()
    }

    async fn send(&self, order: Order, cx: &AttemptContext) -> Result<Reply<Receipt>, Failure> {
        self.write.send(order, cx).await
    }

    async fn find(&self, order: Order, cx: &AttemptContext) -> Result<Found<Receipt>, Failure> {
        let page = self.ledger.call(order, cx).await?.value;
        let entry = page.entries.into_iter().next();
        Ok(entry.map_or(Found::NotFound, Standing::found))
    }

    fn promise(&self) -> Promise {
        self.write.promise()
    }
}
