//! Contexts, clients and dependencies that the tests share.

use std::sync::Arc;

use mainstay_dispatch::{AttemptContext, AttemptFacts, Failure, FailureKind, Keys, Promise, Sent};
use mainstay_http::{
    HttpClient, HttpClientBuilder, HttpRead, HttpWrite, KeyedWrite, RequestParts, SearchedWrite,
};
use mainstay_sim::Sim;
use mainstay_types::{
    AttemptNo, BusinessId, EffectKey, EffectName, Epoch, IdSource, Millis, Position, Rung, Scope,
    Tenant,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// Time enough for everything that is to end by itself.
pub(crate) const PLENTY: Millis = Millis::from_secs(20);

/// In every secret, body and query of the tests, and in no message.
pub(crate) const SWORDFISH: &str = "swordfish";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NewTicket {
    pub(crate) source: String,
    pub(crate) position: u32,
    pub(crate) title: String,
    pub(crate) body: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    pub(crate) title: String,
}

/// The reply of a peer that has written a ticket.
pub(crate) const TICKET_JSON: &str = r#"{"id":"T-1","title":"repaint"}"#;

pub(crate) fn ticket() -> Ticket {
    Ticket {
        id: "T-1".to_owned(),
        title: "repaint".to_owned(),
    }
}

pub(crate) fn new_ticket(position: u32) -> NewTicket {
    NewTicket {
        source: "minutes-1".to_owned(),
        position,
        title: "repaint".to_owned(),
        body: format!("the {SWORDFISH} mural"),
    }
}

/// What an attempt is told; the rest is the same for all.
pub(crate) struct Told {
    pub(crate) key: Option<EffectKey>,
    pub(crate) time_left: Millis,
    pub(crate) control: bool,
    pub(crate) traceparent: Option<String>,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            key: Some(key("acme", 0)),
            time_left: PLENTY,
            control: false,
            traceparent: None,
        }
    }
}

impl Told {
    pub(crate) fn context(self) -> AttemptContext {
        let sim = Sim::new(1);
        let facts = AttemptFacts {
            run: sim.ids().run_id(mainstay_sim::START),
            tenant: Tenant::new("acme").expect("a valid tenant"),
            call: "ticket_write[0]".to_owned(),
            attempt: AttemptNo(1),
            rung: Rung(0),
            control: self.control,
            time_left: self.time_left,
            effect_key: self.key,
            fence: Epoch(3),
            traceparent: self.traceparent,
        };
        AttemptContext::new(facts, Arc::new(sim.clock()), &CancellationToken::new())
    }
}

/// An attempt with plenty of time, under the key of item 0.
pub(crate) fn context() -> AttemptContext {
    Told::default().context()
}

pub(crate) fn with_time(time_left: Millis) -> AttemptContext {
    Told {
        time_left,
        ..Told::default()
    }
    .context()
}

/// The look-up of an attempt under the key of item 0.
pub(crate) fn look_up() -> AttemptContext {
    Told {
        control: true,
        ..Told::default()
    }
    .context()
}

pub(crate) fn key(tenant: &str, item: u32) -> EffectKey {
    EffectKey {
        tenant: Tenant::new(tenant).expect("a valid tenant"),
        effect: EffectName::new("ticket").expect("a valid name"),
        scope: Scope::Business(BusinessId::new("mtg-1").expect("a valid id")),
        position: Position::Item(item),
    }
}

pub(crate) fn builder(url: &str) -> HttpClientBuilder {
    HttpClient::builder(url).secret_header("Authorization", format!("Bearer {SWORDFISH}"))
}

pub(crate) fn client(url: &str) -> HttpClient {
    builder(url).build().expect("a valid client")
}

/// Asks for tickets with the words of the request.
pub(crate) fn search(client: &HttpClient) -> HttpRead<String, Vec<Ticket>> {
    HttpRead::get("related_tickets", client, |words: &String| {
        RequestParts::path(["tickets"]).query("q", words)
    })
}

/// Asks for one ticket.
pub(crate) fn one(client: &HttpClient) -> HttpRead<String, Ticket> {
    HttpRead::get("ticket", client, |id: &String| {
        RequestParts::path(["tickets", id])
    })
}

fn writing(client: &HttpClient, keys: Keys) -> HttpWrite<NewTicket, Ticket> {
    let promise = match keys {
        Keys::Honoured => Promise::new().honours_keys(None),
        Keys::Ignored => Promise::new(),
    };
    HttpWrite::post("tickets", client, |ticket: &NewTicket| {
        RequestParts::path(["tickets"]).json(ticket)
    })
    .with_promise(promise)
}

/// Writes under a key that the receiver honours.
pub(crate) fn keyed(client: &HttpClient) -> KeyedWrite<NewTicket, Ticket> {
    writing(client, Keys::Honoured)
        .find_by_key(|key| RequestParts::path(["tickets", "by-key", key]))
}

/// Writes to a receiver that ignores keys and can be searched.
pub(crate) fn searched(client: &HttpClient) -> SearchedWrite<NewTicket, Ticket> {
    writing(client, Keys::Ignored).find_by_search(
        |ticket: &NewTicket| {
            RequestParts::path(["tickets"])
                .query("source", &ticket.source)
                .query("position", ticket.position.to_string())
        },
        |_, found: Vec<Ticket>| found.into_iter().next(),
    )
}

/// The failure, after a look that it keeps every secret, body and query to itself.
pub(crate) fn failed<T: std::fmt::Debug>(result: Result<T, Failure>) -> Failure {
    let failure = result.expect_err("a failure");
    assert!(
        !format!("{failure:?} {failure}").contains(SWORDFISH),
        "{failure:?}"
    );
    failure
}

/// Kind, sent and provider code of a failure.
pub(crate) fn told<T: std::fmt::Debug>(result: Result<T, Failure>) -> (FailureKind, Sent, String) {
    let failure = failed(result);
    (
        failure.kind,
        failure.sent,
        failure.provider_code.expect("the adapter always gives one"),
    )
}

/// What [`told`] is to be.
pub(crate) fn is(kind: FailureKind, sent: Sent, code: &str) -> (FailureKind, Sent, String) {
    (kind, sent, code.to_owned())
}
