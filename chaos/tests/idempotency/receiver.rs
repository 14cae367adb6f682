//! The purchase tool by itself: keys, look-ups, searches, and what it does with drawn faults.

use std::time::Duration;

use mainstay_chaos::experiment::idempotency::{
    Ask, Draws, Fate, Faults, Intent, Keys, Receiver, Seed, Way,
};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

const NO_FAULTS: Way = Way {
    lost: 0.0,
    late: 0.0,
    late_in_slow_spell: 0.0,
};

const ALWAYS_LATE: Way = Way {
    late: 1.0,
    late_in_slow_spell: 1.0,
    ..NO_FAULTS
};

const FIRST: Intent = Intent {
    session: 0,
    order: 0,
};

/// A receiver, and who asks it about the first session's first order.
struct Desk {
    receiver: Receiver,
    client: Client,
}

impl Desk {
    async fn new(send: Way, keys: Keys) -> Self {
        let mut faults = Faults::of_the_experiment();
        (faults.send, faults.look_up) = (send, NO_FAULTS);
        let draws = Draws::new(Seed(9), faults);
        Self {
            receiver: Receiver::start(faults, draws, keys).await.unwrap(),
            client: Client::builder().no_proxy().build().unwrap(),
        }
    }

    async fn post(&self, key: Option<&str>, body: &Value) -> reqwest::Result<(StatusCode, Value)> {
        let url = format!("{}/orders", self.receiver.base(FIRST));
        let mut request = self.client.post(url).timeout(Duration::from_secs(5));
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let reply = request.json(body).send().await?;
        Ok((reply.status(), reply.json().await?))
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let url = format!("{}/orders{path}", self.receiver.base(FIRST));
        let reply = self.client.get(url).send().await.unwrap();
        let status = reply.status();
        let text = reply.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }
}

fn order(qty: u32, memo: &str) -> Value {
    json!({ "item": "filter", "qty": qty, "memo": memo })
}

#[tokio::test]
async fn a_key_executes_once_and_its_first_result_is_the_answer_from_then_on() {
    let desk = Desk::new(NO_FAULTS, Keys::Honoured).await;
    let first = desk.post(Some("\"k1\""), &order(3, "")).await.unwrap();
    let again = desk
        .post(Some("\"k1\""), &order(3, "urgent"))
        .await
        .unwrap();
    assert_eq!(first.0, StatusCode::CREATED);
    assert_eq!(first, again);
    let other = desk.post(Some("\"k2\""), &order(3, "")).await.unwrap();
    assert_ne!(first.1["order_no"], other.1["order_no"]);
    let truth = desk.receiver.settled().await;
    assert_eq!((truth.applied.len(), truth.sends), (2, 3));
}

#[tokio::test]
async fn another_item_or_quantity_under_the_same_key_is_a_mismatch_and_not_the_first_result() {
    let desk = Desk::new(NO_FAULTS, Keys::Honoured).await;
    desk.post(Some("\"k\""), &order(3, "")).await.unwrap();
    let other_item = json!({ "item": "hose", "qty": 3, "memo": "" });
    for body in [order(4, ""), other_item] {
        let (status, refusal) = desk.post(Some("\"k\""), &body).await.unwrap();
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(refusal["code"], "IDEMPOTENCY_MISMATCH");
    }
    assert_eq!(desk.receiver.settled().await.applied.len(), 1);
}

#[tokio::test]
async fn without_a_key_each_request_executes_and_so_it_does_where_keys_are_ignored() {
    for (keys, key) in [(Keys::Honoured, None), (Keys::Ignored, Some("\"k\""))] {
        let desk = Desk::new(NO_FAULTS, keys).await;
        for _ in 0..3 {
            desk.post(key, &order(3, "")).await.unwrap();
        }
        assert_eq!(desk.receiver.settled().await.of(FIRST).count(), 3);
    }
}

#[tokio::test]
async fn orders_are_searched_by_request_number_and_slot() {
    let desk = Desk::new(NO_FAULTS, Keys::Ignored).await;
    for slot in [0, 1] {
        let mut body = order(3, "");
        body["request_no"] = "PR-1".into();
        body["slot"] = slot.into();
        desk.post(None, &body).await.unwrap();
    }
    for (query, found) in [
        ("?request_no=PR-1", 2),
        ("?request_no=PR-1&slot=1", 1),
        ("?request_no=PR-1&slot=2", 0),
        ("?request_no=PR-2", 0),
    ] {
        let (status, reply) = desk.get(query).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(reply["orders"].as_array().unwrap().len(), found, "{query}");
    }
    assert_eq!(desk.get("?slot=1").await.1["code"], "QUERY_INVALID");
    assert_eq!(
        desk.get("/by-key/k").await,
        (StatusCode::NOT_FOUND, Value::Null)
    );
}

#[tokio::test]
async fn a_look_up_by_key_says_not_found_of_an_order_that_still_lands() {
    let desk = Desk::new(ALWAYS_LATE, Keys::Honoured).await;
    let body = order(3, "");
    let (posted, early) = tokio::join!(desk.post(Some("\"k\""), &body), async {
        desk.get("/by-key/k").await
    });
    assert_eq!(
        early,
        (StatusCode::NOT_FOUND, json!({ "state": "not_found" }))
    );
    let (status, placed) = posted.unwrap();
    assert_eq!(status, StatusCode::CREATED);
    let (status, reply) = desk.get("/by-key/k").await;
    assert_eq!(
        (status, &reply["state"]),
        (StatusCode::OK, &"applied".into())
    );
    assert_eq!(reply["order"], placed);
}

#[tokio::test]
async fn an_order_lands_though_its_client_is_gone() {
    let desk = Desk::new(ALWAYS_LATE, Keys::Honoured).await;
    let body = order(3, "");
    let post = desk.post(Some("\"k\""), &body);
    let gone = tokio::time::timeout(Duration::from_millis(40), post).await;
    assert!(gone.is_err(), "{gone:?}");
    let truth = desk.receiver.settled().await;
    assert_eq!((truth.applied.len(), truth.sends_struck), (1, 1));
}

#[tokio::test]
async fn while_the_receiver_works_on_a_key_a_look_up_says_so_and_a_second_request_waits() {
    let mut faults = Faults::of_the_experiment();
    (faults.send, faults.look_up) = (NO_FAULTS, NO_FAULTS);
    faults.receiver.work_ms = 100;
    let draws = Draws::new(Seed(9), faults);
    let receiver = Receiver::start(faults, draws, Keys::Honoured)
        .await
        .unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let desk = Desk { receiver, client };
    let body = order(3, "");
    let asks = async {
        loop {
            let (status, reply) = desk.get("/by-key/k").await;
            if status != StatusCode::NOT_FOUND {
                return (status, reply);
            }
        }
    };
    let (one, two, standing) = tokio::join!(
        desk.post(Some("\"k\""), &body),
        desk.post(Some("\"k\""), &body),
        asks
    );
    assert_eq!(
        standing,
        (StatusCode::ACCEPTED, json!({ "state": "in_progress" }))
    );
    assert_eq!(one.unwrap(), two.unwrap());
    assert_eq!(desk.receiver.settled().await.applied.len(), 1);
}

#[tokio::test]
async fn what_is_malformed_is_refused_with_a_code_and_executes_nothing() {
    let desk = Desk::new(NO_FAULTS, Keys::Honoured).await;
    for (key, body, code) in [
        (Some("k"), order(3, ""), "KEY_INVALID"),
        (None, json!({ "item": "filter" }), "BODY_INVALID"),
    ] {
        let (status, refusal) = desk.post(key, &body).await.unwrap();
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(refusal["code"], code);
    }
    assert_eq!(desk.receiver.settled().await.applied.len(), 0);
}

#[test]
fn the_fate_of_a_request_is_that_of_its_number_whatever_was_asked_before() {
    let faults = Faults::of_the_experiment();
    let draws = Draws::new(Seed(4), faults);
    let forwards: Vec<Fate> = (0..50)
        .map(|nth| draws.fate(Ask::Send, FIRST, nth))
        .collect();
    let mut backwards: Vec<Fate> = (0..50)
        .rev()
        .map(|nth| {
            let _ = draws.fate(Ask::LookUp, FIRST, nth);
            draws.fate(Ask::Send, FIRST, nth)
        })
        .collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
}
