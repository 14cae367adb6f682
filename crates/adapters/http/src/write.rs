//! Dependencies that change the outside world over HTTP, each with its way to find out what became
//! of a write whose reply was lost.
//!
//! A look-up must never be sent as the write: it is a GET without key and fence. And a control
//! attempt must never become a write, whatever calls it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mainstay_dispatch::{
    Answer, AttemptContext, Failure, FailureKind, Found, Promise, Resolution, Sent, Value, Write,
};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::classify::{Deed, Ending, failure};
use crate::client::HttpClient;
use crate::exchange::{Outgoing, Refusals, Reply, exchange, wire};
use crate::key::{quoted, wire_key};
use crate::parts::RequestParts;
use crate::route::{Parts, Route};

/// Makes the look-up's parts from the key as the receiver saw it, without quotes.
type ByKey = Arc<dyn Fn(&str) -> RequestParts + Send + Sync>;

/// Finds the reply in what a search found.
type Pick<Q, R> = Arc<dyn Fn(&Q, Reply) -> Result<Option<R>, Failure> + Send + Sync>;

/// A write that does not know yet how to find out what became of it, and so is no
/// [`Write`]: finish it with [`HttpWrite::find_by_key`] or [`HttpWrite::find_by_search`].
#[must_use = "a write needs a way to find out: `find_by_key` or `find_by_search`"]
pub struct HttpWrite<Q, R> {
    route: Route<Q>,
    reply: PhantomData<fn() -> R>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $function:ident $method:ident)*) => {$(
        $(#[$doc])*
        pub fn $function(
            name: impl Into<String>,
            client: &HttpClient,
            parts: impl Fn(&Q) -> RequestParts + Send + Sync + 'static,
        ) -> Self {
            Self { route: Route::new(name, client, Method::$method, parts), reply: PhantomData }
        }
    )*};
}

impl<Q: Value, R: Value> HttpWrite<Q, R> {
    methods! {
        /// Writes with POST.
        post POST
        /// Writes with PUT.
        put PUT
        /// Writes with PATCH.
        patch PATCH
        /// Writes with DELETE. Without a body, whether it was sent can only be told by whether the
        /// connection stood.
        delete DELETE
    }

    /// Says what the service promises. Default: [`Promise::new`], which takes it that keys are
    /// ignored; see `Promise::honours_keys`.
    pub fn with_promise(mut self, promise: Promise) -> Self {
        self.route.promise = promise;
        self
    }

    /// Finds out by asking, with GET, for the key: 2xx with the reply is applied, 202 is in
    /// progress, 404 is not found; anything else cannot tell.
    ///
    /// The route must answer 404 only for a key it does not know: after the horizon that is
    /// believed, and the write is sent again.
    #[must_use]
    pub fn find_by_key(
        self,
        parts: impl Fn(&str) -> RequestParts + Send + Sync + 'static,
    ) -> KeyedWrite<Q, R> {
        KeyedWrite {
            route: self.route,
            look_up: Arc::new(parts),
            reply: PhantomData,
        }
    }

    /// Finds out by a search, with GET, for something of the business that the request holds;
    /// `pick` says which of what was found is its reply, and `None` is not found.
    ///
    /// The search must see a write as soon as it is done: after the horizon "not found" is
    /// believed. Only 2xx is an answer; 202 is in progress, anything else (404, too) cannot tell.
    #[must_use]
    pub fn find_by_search<L: DeserializeOwned>(
        self,
        parts: impl Fn(&Q) -> RequestParts + Send + Sync + 'static,
        pick: impl Fn(&Q, L) -> Option<R> + Send + Sync + 'static,
    ) -> SearchedWrite<Q, R> {
        let pick = move |request: &Q, reply: Reply| Ok(pick(request, reply.json::<L>()?));
        SearchedWrite {
            route: self.route,
            look_up: Arc::new(parts),
            pick: Arc::new(pick),
        }
    }
}

/// A [`Write`] that is found again by its effect key.
pub struct KeyedWrite<Q, R> {
    route: Route<Q>,
    look_up: ByKey,
    reply: PhantomData<fn() -> R>,
}

impl<Q: Value, R: Value> Write for KeyedWrite<Q, R> {
    type Request = Q;
    type Reply = R;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        &self.route.name
    }

    async fn send(&self, request: Q, cx: &AttemptContext) -> Result<Answer<R>, Failure> {
        send(&self.route, &request, cx).await
    }

    async fn find(&self, _: Q, cx: &AttemptContext) -> Result<Found<R>, Failure> {
        let parts = (self.look_up)(&key_of(cx)?);
        let reply = ask(&self.route.client, parts, cx).await?;
        match reply.status() {
            StatusCode::ACCEPTED => Ok(Found::InProgress),
            StatusCode::NOT_FOUND => Ok(Found::NotFound),
            _ => reply.json().map(Found::Applied),
        }
    }

    fn promise(&self) -> Promise {
        self.route.promise.clone()
    }
}

/// A [`Write`] that is found again by a search for what it is about.
pub struct SearchedWrite<Q, R> {
    route: Route<Q>,
    look_up: Parts<Q>,
    pick: Pick<Q, R>,
}

impl<Q: Value, R: Value> Write for SearchedWrite<Q, R> {
    type Request = Q;
    type Reply = R;
    const RESOLUTION: Resolution = Resolution::ByBusinessKey;

    fn name(&self) -> &str {
        &self.route.name
    }

    async fn send(&self, request: Q, cx: &AttemptContext) -> Result<Answer<R>, Failure> {
        send(&self.route, &request, cx).await
    }

    async fn find(&self, request: Q, cx: &AttemptContext) -> Result<Found<R>, Failure> {
        let reply = ask(&self.route.client, (self.look_up)(&request), cx).await?;
        if reply.status() == StatusCode::ACCEPTED {
            return Ok(Found::InProgress);
        }
        Ok((self.pick)(&request, reply)?.map_or(Found::NotFound, Found::Applied))
    }

    fn promise(&self) -> Promise {
        self.route.promise.clone()
    }
}

async fn send<Q: Value, R: Value>(
    route: &Route<Q>,
    request: &Q,
    cx: &AttemptContext,
) -> Result<Answer<R>, Failure> {
    if cx.control {
        return Err(Failure::new(FailureKind::PermanentProvider, Sent::NotSent)
            .message("a control attempt changes nothing: it was not sent as a write"));
    }
    let deed = Deed::Writes(route.promise.keys);
    let mut headers = HeaderMap::new();
    let key = HeaderValue::try_from(quoted(&key_of(cx)?));
    headers.insert(wire::KEY, key.expect("a wire key is printable ASCII"));
    headers.insert(wire::FENCE, HeaderValue::from(cx.fence.get()));
    let out = Outgoing {
        method: route.method.clone(),
        parts: (route.parts)(request),
        headers,
        deed,
        refusals: Refusals::Unread,
    };
    let reply = exchange(&route.client, out, cx).await?;
    reply.json().map(Answer::new)
}

/// A look-up: a read of ours, without key and fence.
async fn ask(
    client: &HttpClient,
    parts: RequestParts,
    cx: &AttemptContext,
) -> Result<Reply, Failure> {
    let out = Outgoing {
        method: Method::GET,
        parts,
        headers: HeaderMap::new(),
        deed: Deed::Reads,
        refusals: Refusals::Unread,
    };
    exchange(client, out, cx).await
}

fn key_of(cx: &AttemptContext) -> Result<String, Failure> {
    let missing = || failure(Ending::Unsendable, Deed::Reads).message("there is no effect key");
    cx.effect_key.as_ref().map(wire_key).ok_or_else(missing)
}

impl<Q, R> Clone for KeyedWrite<Q, R> {
    fn clone(&self) -> Self {
        let look_up = Arc::clone(&self.look_up);
        Self {
            route: self.route.clone(),
            look_up,
            reply: PhantomData,
        }
    }
}

impl<Q, R> Clone for SearchedWrite<Q, R> {
    fn clone(&self) -> Self {
        let look_up = Arc::clone(&self.look_up);
        Self {
            route: self.route.clone(),
            look_up,
            pick: Arc::clone(&self.pick),
        }
    }
}

impl<Q, R> fmt::Debug for HttpWrite<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpWrite({:?})", self.route)
    }
}

impl<Q, R> fmt::Debug for KeyedWrite<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyedWrite({:?})", self.route)
    }
}

impl<Q, R> fmt::Debug for SearchedWrite<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SearchedWrite({:?})", self.route)
    }
}
