//! The HTTP routes: what each reads, asks the store for, and answers.
//!
//! It must never touch SQLite on an async thread, nor answer a write before its claim is settled.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::json;
use service_kit::{
    Described, FaultKind, Incoming, Problem, RequestContext, delayed, dropped, now_ms,
};

use crate::in_flight::{Busy, Claim, InFlight};
use crate::store::{Create, Created, Search, Store, StoreError};
use crate::ticket::{NewTicket, Ticket, id_row};
use crate::{BODY_BYTES_MAX, NAME, Options, key};

/// Tickets on a page when no limit is given.
const LIMIT_DEFAULT: usize = 100;
/// Largest page; a larger limit is cut to it.
const LIMIT_MAX: usize = 500;

/// How long the disk sync of a commit may take at most for the stated bound to hold.
const COMMIT_WITHIN: Duration = Duration::from_secs(1);

/// Answer of `GET /about`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// `ticket-service`.
    pub name: String,
    /// Of the program.
    pub version: String,
    /// How long a key is remembered after its first success, in milliseconds.
    pub key_ttl_ms: u64,
    /// How long after its arrival a request may still take effect, in milliseconds. Assumes that a
    /// disk sync takes less than one second.
    pub bound_ms: u64,
    /// Largest body, in bytes.
    pub body_bytes_max: usize,
    /// Largest page of tickets.
    pub page_max: usize,
}

/// Answer of `GET /tickets` without a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketPage {
    /// By id.
    pub tickets: Vec<Ticket>,
    /// The cursor of the next page; `None` when this is the last.
    pub next_cursor: Option<String>,
}

#[derive(Clone)]
struct Api {
    store: Arc<Store>,
    in_flight: InFlight,
    key_ttl: Duration,
    bound: Duration,
}

pub(crate) fn routes(store: Arc<Store>, options: &Options) -> Router {
    let in_flight = InFlight::default();
    let api = Api {
        store,
        in_flight,
        key_ttl: options.key_ttl,
        bound: options.bound,
    };
    let reads = Router::new()
        .route("/about", get(about))
        .route("/tickets", get(search))
        .route("/tickets/{id}", get(by_id))
        .route("/tickets/by-key/{key}", get(by_key))
        .layer(from_fn(delayed));
    // A write delays itself, once it has claimed its key: that is what "in progress" looks like.
    reads
        .merge(Router::new().route("/tickets", post(create)))
        .with_state(api)
}

/// What the log and the faults get to know of a request.
pub(crate) fn describe(incoming: &Incoming<'_>) -> Described {
    #[derive(Default, Deserialize)]
    struct About {
        source: Option<String>,
        position: Option<u32>,
    }
    let about = match Query::<About>::try_from_uri(incoming.uri) {
        Ok(Query(about)) if incoming.body.is_empty() => about,
        Ok(_) | Err(_) => serde_json::from_slice(incoming.body).unwrap_or_default(),
    };
    let in_path = || incoming.params.iter().find(|(name, _)| name == "key");
    Described {
        key: key::from_headers(incoming.headers)
            .ok()
            .or_else(|| Some(in_path()?.1.clone())),
        source: about.source,
        position: about.position,
    }
}

impl Api {
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let store = Arc::clone(&self.store);
        let answer = tokio::task::spawn_blocking(move || question(&store)).await;
        answer
            .map_err(|e| Problem::internal(&e))?
            .map_err(|e| Problem::internal(&e))
    }

    fn claim(&self, client: &str, key: &str, new: &NewTicket) -> Result<Claim, Problem> {
        let claim = self.in_flight.claim(client, key, &new.fingerprint());
        claim.map_err(|busy| match busy {
            Busy::SamePayload => {
                let detail = "a request with this key is being processed; look it up or wait";
                Problem::new(StatusCode::CONFLICT, "KEY_IN_PROGRESS", detail).retry_after_s(Some(1))
            }
            Busy::OtherPayload => mismatch(),
        })
    }
}

async fn about(State(api): State<Api>) -> Json<About> {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Json(About {
        name: NAME.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        key_ttl_ms: ms(api.key_ttl),
        bound_ms: ms(api.bound),
        body_bytes_max: BODY_BYTES_MAX,
        page_max: LIMIT_MAX,
    })
}

async fn create(
    State(api): State<Api>,
    Extension(context): Extension<RequestContext>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let key = key::from_headers(&headers)?;
    let new = NewTicket::read(&body)?;
    let subject = Arc::clone(&context.subject);
    let struck = |kind| context.faults.take(kind, &subject).is_some();
    let dedupe = !struck(FaultKind::NoDedupe);
    let claim = if dedupe {
        api.claim(&subject.client, &key, &new)?
    } else {
        api.in_flight
            .join(&subject.client, &key, &new.fingerprint())
    };
    context.delay().await;
    if struck(FaultKind::DropBeforeCommit) {
        return Ok(dropped());
    }
    let create = Create {
        client: subject.client.clone(),
        key,
        new,
        dedupe,
        now_ms: now_ms(),
        key_ttl: api.key_ttl,
        commit_by: context.arrived + (api.bound - COMMIT_WITHIN),
    };
    let created = api.ask(move |store| store.create(&create)).await?;
    drop(claim);
    let response = told(created)?;
    // Only now: a write that was refused has nothing to lose the reply of.
    if struck(FaultKind::CommitThenDrop) {
        return Ok(dropped());
    }
    Ok(response)
}

fn told(created: Created) -> Result<Response, Problem> {
    match created {
        Created::New(ticket) => Ok(json_text(StatusCode::CREATED, ticket)),
        Created::Replayed(ticket) => {
            let stored = json_text(StatusCode::OK, ticket);
            Ok(([("idempotency-replayed", "true")], stored).into_response())
        }
        Created::Mismatch => Err(mismatch()),
        Created::TooLate => Err(too_late()),
    }
}

async fn by_key(
    State(api): State<Api>,
    Extension(context): Extension<RequestContext>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(key) = path.map_err(|e| Problem::bad("KEY_INVALID", e.body_text()))?;
    key::check(&key)?;
    let client = context.subject.client.clone();
    // Asked before the store: a request that ends in between has committed, and is found there.
    let in_progress = api.in_flight.holds(&client, &key);
    match api.ask(move |store| store.by_key(&client, &key)).await? {
        Some(ticket) => Ok(Json(ticket).into_response()),
        None if in_progress => {
            let state = Json(json!({ "state": "in_progress" }));
            Ok((StatusCode::ACCEPTED, state).into_response())
        }
        None => Err(absent(
            "no ticket was written under this key by this client",
        )),
    }
}

async fn by_id(
    State(api): State<Api>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Ticket>, Problem> {
    let Path(id) = path.map_err(|e| Problem::bad("ID_INVALID", e.body_text()))?;
    let row = id_row(&id).ok_or_else(|| absent("an id looks like T-17"))?;
    let found = api.ask(move |store| store.by_row(row)).await?;
    found
        .map(Json)
        .ok_or_else(|| absent("no ticket has this id"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    source: Option<String>,
    position: Option<u32>,
    q: Option<String>,
    exclude_source: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
}

/// An array when something is searched, a page with a cursor when all are listed.
async fn search(
    State(api): State<Api>,
    query: Result<Query<SearchQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(query) = query.map_err(|e| query_invalid(&e.body_text()))?;
    let searching = query.source.is_some() || query.q.is_some();
    let mut asked = query.check(searching)?;
    if searching {
        let tickets = api.ask(move |store| store.search(&asked)).await?;
        return Ok(Json(tickets).into_response());
    }
    let limit = asked.limit;
    asked.limit += 1; // One more than the page tells whether there is another.
    let mut tickets = api.ask(move |store| store.search(&asked)).await?;
    let more = limit < tickets.len();
    tickets.truncate(limit);
    let next_cursor = tickets
        .last()
        .filter(|_| more)
        .map(|ticket| ticket.id.clone());
    Ok(Json(TicketPage {
        tickets,
        next_cursor,
    })
    .into_response())
}

impl SearchQuery {
    fn check(self, searching: bool) -> Result<Search, Problem> {
        if !searching && (self.position.is_some() || self.exclude_source.is_some()) {
            return Err(query_invalid(
                "position needs source; exclude_source needs q",
            ));
        }
        if searching && self.cursor.is_some() {
            return Err(query_invalid("a search has no cursor; only the list has"));
        }
        let behind = match &self.cursor {
            Some(cursor) => id_row(cursor)
                .ok_or_else(|| query_invalid("cursor is next_cursor of the page before"))?,
            None => 0,
        };
        Ok(Search {
            source: self.source,
            position: self.position,
            exclude_source: self.exclude_source,
            text: self.q,
            behind,
            limit: self.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX),
        })
    }
}

fn query_invalid(why: &str) -> Problem {
    Problem::bad("QUERY_INVALID", why)
}

fn json_text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn mismatch() -> Problem {
    let detail = "this key was used with another payload; a new intent needs a new key";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "KEY_REUSED", detail)
}

fn too_late() -> Problem {
    let detail = "the request could not be committed within bound_ms; nothing was written";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_LATE", detail)
}

fn absent(detail: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", detail)
}
