//! The task class: looks the order up, decides, pays the refund once.
//!
//! The shop is reached over HTTP and nothing here sends anything: a class says what is needed, the
//! engine does it.

use mainstay::class::{Budget, Class, TaskClass, secs};
use mainstay::dispatch::Promise;
use mainstay::http::{HttpClient, HttpRead, HttpWrite, RequestParts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of the desk.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The order it is about.
    pub(crate) order: String,
    /// How much is asked back.
    pub(crate) cents: u64,
    /// The customer's words.
    pub(crate) why: String,
}

/// What the shop knows of an order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Order {
    /// What was paid for it.
    pub(crate) paid_cents: u64,
}

/// A refund to be paid. The shop's books have one per effect key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NewRefund {
    pub(crate) order: String,
    pub(crate) cents: u64,
}

/// A refund that was paid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Refund {
    pub(crate) id: String,
}

/// What a run gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Decision {
    /// The refund's id in the shop.
    pub(crate) refund: String,
    /// How much was paid: never more than the order cost.
    pub(crate) cents: u64,
}

/// The class of runs that this service starts, with the shop behind `shop_url`.
pub(crate) fn class(shop_url: &str) -> Result<Class<Claim, Decision>, Box<dyn std::error::Error>> {
    let shop = HttpClient::builder(shop_url).build()?;
    let orders = HttpRead::<String, Order>::get("orders", &shop, |order| {
        RequestParts::path(["orders", order])
    });
    let refunds = HttpWrite::<NewRefund, Refund>::post("refunds", &shop, |refund| {
        RequestParts::path(["refunds"]).json(refund)
    })
    .with_promise(
        Promise::new()
            .timeout(secs(2))
            .receiver_bound(secs(2))
            .honours_keys(None),
    )
    .find_by_key(|key| RequestParts::path(["refunds", "by-key", key]));

    let mut g = TaskClass::<Claim>::define("refund", 1);
    g.budget(
        Budget::new()
            .answer_by(secs(10))
            .retries(4)
            .concurrency(2)
            .cost(10),
    );
    let order = g.read("order", &orders, (), |claim, ()| claim.order.clone());
    let order = order.attempts(3).add();
    let refund = g.write("refund", &refunds, order, |claim, order| NewRefund {
        order: claim.order.clone(),
        cents: payable(claim, order),
    });
    let refund = refund.attempts(3).add();
    let class = g.finish((order, refund), |claim, (order, refund)| Decision {
        refund: refund.id.clone(),
        cents: payable(claim, order),
    })?;
    Ok(class)
}

fn payable(claim: &Claim, order: &Order) -> u64 {
    claim.cents.min(order.paid_cents)
}

/// The class without a shop: fakes stand behind it, and time is virtual.
#[cfg(test)]
mod tests {
    use mainstay::testing::{InMemory, fake};
    use mainstay::{Engine, FailureKind, OutcomeKind};

    use super::*;

    fn claim(cents: u64) -> Claim {
        Claim {
            order: "A-17".to_owned(),
            cents,
            why: "arrived broken".to_owned(),
        }
    }

    #[test]
    fn nobody_gets_back_more_than_was_paid() {
        let class = class("http://shop.invalid").expect("a valid class");
        let orders = fake("orders").answers(Order { paid_cents: 900 });
        let refunds = fake("refunds").answers_with(|refund: NewRefund| Refund {
            id: format!("R-{}", refund.cents),
        });
        let builder = Engine::in_memory().with(&orders).with(&refunds);
        let outcome = builder.register(&class).start().run(&class, claim(1_200));
        let expected = Decision {
            refund: "R-900".to_owned(),
            cents: 900,
        };
        assert_eq!(outcome.result, Some(expected));
    }

    #[test]
    fn a_refund_whose_reply_was_lost_is_paid_once() {
        let class = class("http://shop.invalid").expect("a valid class");
        let orders = fake("orders").answers(Order { paid_cents: 900 });
        let orders = orders.fails(FailureKind::TransientTransport, 2);
        let refunds = fake("refunds").answers(Refund {
            id: "R-1".to_owned(),
        });
        let refunds = refunds.loses_the_reply();
        let builder = Engine::in_memory().with(&orders).with(&refunds);
        let outcome = builder.register(&class).start().run(&class, claim(100));
        assert_eq!(outcome.kind, OutcomeKind::Completed);
        assert_eq!((refunds.requests().len(), refunds.applied()), (1, 1));
    }
}
