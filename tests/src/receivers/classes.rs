//! One class per kind of receiver: a write under the order's id, and its receipt as the result.

use std::path::Path;

use mainstay::class::{Budget, Builder, Class, Extend, Problems, TaskClass, hours, secs};
use mainstay::http::HttpClient;
use mainstay::{Millis, Write};

use super::Kind;
use super::mute::ByHuman;
use super::writes::{ByLedger, ByStatus, ByUpsert, Order, Receipt, by_business_key, by_key};

/// How long one attempt may take: on a busy machine, too, a worker is killed before it is over.
pub const TIMEOUT_MS: u64 = 1_000;
/// How long a receiver may take to act on what it accepted.
pub const BOUND_MS: u64 = 600;

/// The class of a kind, at the receiver of this address; `table` is where a wrapper keeps its own.
///
/// # Errors
/// All problems of the class at once.
///
/// # Panics
/// The address is none.
pub fn class(kind: Kind, url: &str, table: &Path) -> Result<Class<Order, Receipt>, Problems> {
    let client = HttpClient::builder(url);
    let client = client.connect_timeout(Millis::new(TIMEOUT_MS / 2)).build();
    let client = client.expect("a plain address");
    match kind {
        Kind::Key => written(kind, &by_key(&client)),
        Kind::Status => written(kind, &ByStatus::new(&client)),
        Kind::BusinessKey => written(kind, &by_business_key(&client)),
        Kind::Upsert => written(kind, &ByUpsert::new(&client)),
        Kind::Ledger => written(kind, &ByLedger::new(&client)),
        Kind::Human => written(kind, &ByHuman::new(&client, table)),
    }
}

fn written<W>(kind: Kind, write: &W) -> Result<Class<Order, Receipt>, Problems>
where
    W: Write<Request = Order, Reply = Receipt> + Clone,
{
    let mut g: Builder<Order> = TaskClass::define(kind.as_str(), 1);
    let budget = Budget::new().answer_by(secs(60)).retries(6);
    g.budget(budget.concurrency(2).cost(40))
        .on_downtime(Extend(hours(1)));
    let order = g
        .write("order", write, (), |order, ()| order.clone())
        .business_id(|order: &Order| &order.id)
        .attempts(3)
        .add();
    g.finish(order, |_, receipt| receipt.clone())
}
