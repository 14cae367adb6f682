//! Dependencies behind HTTP: the ticket service and the specialist.
//!
//! Their promises are numbers the services state themselves (`GET /about`); addresses are no part
//! of a request, so a service may come back on another port.

use mainstay::dispatch::Promise;
use mainstay::http::{HttpClient, HttpError, HttpRead, HttpWrite, KeyedWrite, RequestParts};
use mainstay::{CostUnits, Millis};
use serde::Deserialize;

use crate::class::Deps;
use crate::tickets::RelatedTicket;
use crate::wire::{RelatedQuery, SpecialistReply, SpecialistRequest, TicketReply, TicketRequest};

/// How long the ticket service may take to act on a request it accepted.
pub const TICKET_BOUND: Millis = Millis::from_secs(2);
/// How long the ticket service remembers a key.
pub const TICKET_KEY_TTL: Millis = Millis::from_hours(24);

/// How long the ticket service may take to say what it is.
const ABOUT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// The search for related tickets.
#[must_use]
pub fn related(service: &HttpClient) -> HttpRead<RelatedQuery, Vec<RelatedTicket>> {
    let promise = Promise::new()
        .operation("search_tickets")
        .timeout(Millis::new(1_500))
        .estimate(Millis::new(200))
        .cost(CostUnits::units(1));
    HttpRead::get("related_tickets", service, |asked: &RelatedQuery| {
        RequestParts::path(["tickets"])
            .query("q", asked.query.terms.join(" "))
            .query("exclude_source", &asked.exclude_source)
            .query("limit", asked.query.top.to_string())
    })
    .with_promise(promise)
}

/// The specialist.
#[must_use]
pub fn specialist(service: &HttpClient) -> HttpRead<SpecialistRequest, SpecialistReply> {
    let promise = Promise::new()
        .operation("summarise")
        .timeout(Millis::new(3_000))
        .estimate(Millis::new(800))
        .cost(CostUnits::units(2));
    HttpRead::post("specialist", service, |request: &SpecialistRequest| {
        RequestParts::path(["summaries"]).json(request)
    })
    .with_promise(promise)
}

/// Writing a ticket under its key, and finding it by that key.
#[must_use]
pub fn tickets(service: &HttpClient) -> KeyedWrite<TicketRequest, TicketReply> {
    let promise = Promise::new()
        .operation("create_ticket")
        .timeout(Millis::new(1_500))
        .estimate(Millis::new(300))
        .cost(CostUnits::milli(100))
        .backoff(Millis::new(100), Millis::new(800))
        .honours_keys(Some(TICKET_KEY_TTL))
        .receiver_bound(TICKET_BOUND);
    HttpWrite::post("ticket_service", service, |ticket: &TicketRequest| {
        RequestParts::path(["tickets"]).json(ticket)
    })
    .with_promise(promise)
    .find_by_key(|key| RequestParts::path(["tickets", "by-key", key]))
}

/// A client of the service at `url`.
///
/// # Errors
/// The address is none.
pub fn client(url: &str) -> Result<HttpClient, HttpError> {
    HttpClient::builder(url)
        .header("X-Client", "meeting-analysis")
        .build()
}

/// The class's dependencies behind HTTP.
pub type HttpDeps = Deps<
    HttpRead<RelatedQuery, Vec<RelatedTicket>>,
    HttpRead<SpecialistRequest, SpecialistReply>,
    KeyedWrite<TicketRequest, TicketReply>,
>;

/// What the ticket service says of itself.
#[derive(Debug, Deserialize)]
struct About {
    key_ttl_ms: u64,
    bound_ms: u64,
}

/// Checks what the class promises of the ticket service against what it says of itself. One that
/// does not answer now is left to the run: its calls will say so.
///
/// # Errors
/// The service may act later, or forgets sooner, than the class counts on.
pub async fn check_promises(url: &str) -> anyhow::Result<()> {
    let about = async {
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(ABOUT_TIMEOUT)
            .build()?;
        let reply = client
            .get(format!("{url}/about"))
            .send()
            .await?
            .error_for_status()?;
        reply.json::<About>().await
    };
    let about = match about.await {
        Ok(about) => about,
        Err(error) => {
            eprintln!("note: the ticket service does not say what it promises: {error}");
            return Ok(());
        }
    };
    if TICKET_BOUND.get() < about.bound_ms {
        let (says, counted) = (about.bound_ms, TICKET_BOUND.get());
        anyhow::bail!(
            "the ticket service may act on a request for {says} ms; the class counts on \
             {counted}\n\nhint: start it with --bound-ms {counted}"
        );
    }
    if about.key_ttl_ms < TICKET_KEY_TTL.get() {
        let (says, counted) = (about.key_ttl_ms, TICKET_KEY_TTL.get());
        anyhow::bail!(
            "the ticket service remembers a key for {says} ms; the class counts on {counted}\n\n\
             hint: start it with --key-ttl-secs {}",
            counted / 1_000
        );
    }
    Ok(())
}
