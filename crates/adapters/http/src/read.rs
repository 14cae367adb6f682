//! A dependency that is asked over HTTP and changes nothing.

use std::fmt;
use std::marker::PhantomData;

use mainstay_dispatch::{Answer, AttemptContext, Failure, Promise, Read, Value};
use reqwest::Method;
use reqwest::header::HeaderMap;

use crate::classify::Deed;
use crate::client::HttpClient;
use crate::exchange::{Outgoing, Refusals, exchange};
use crate::parts::RequestParts;
use crate::route::Route;

/// A [`Read`]: asks with `Q`, answers with `R`. See [`crate::classify`] for its failures.
pub struct HttpRead<Q, R> {
    route: Route<Q>,
    reply: PhantomData<fn() -> R>,
}

impl<Q: Value, R: Value> HttpRead<Q, R> {
    /// Asks with GET.
    pub fn get(
        name: impl Into<String>,
        client: &HttpClient,
        parts: impl Fn(&Q) -> RequestParts + Send + Sync + 'static,
    ) -> Self {
        Self {
            route: Route::new(name, client, Method::GET, parts),
            reply: PhantomData,
        }
    }

    /// Asks with POST, for questions that need a body. The service must change nothing by it.
    pub fn post(
        name: impl Into<String>,
        client: &HttpClient,
        parts: impl Fn(&Q) -> RequestParts + Send + Sync + 'static,
    ) -> Self {
        Self {
            route: Route::new(name, client, Method::POST, parts),
            reply: PhantomData,
        }
    }

    /// Says what the service promises. Default: [`Promise::new`].
    #[must_use]
    pub fn with_promise(mut self, promise: Promise) -> Self {
        self.route.promise = promise;
        self
    }
}

impl<Q: Value, R: Value> Read for HttpRead<Q, R> {
    type Request = Q;
    type Reply = R;

    fn name(&self) -> &str {
        &self.route.name
    }

    async fn call(&self, request: Q, cx: &AttemptContext) -> Result<Answer<R>, Failure> {
        let out = Outgoing {
            method: self.route.method.clone(),
            parts: (self.route.parts)(&request),
            headers: HeaderMap::new(),
            deed: Deed::Reads,
            refusals: Refusals::Unread,
        };
        let reply = exchange(&self.route.client, out, cx).await?;
        reply.json().map(Answer::new)
    }

    fn promise(&self) -> Promise {
        self.route.promise.clone()
    }
}

impl<Q, R> Clone for HttpRead<Q, R> {
    fn clone(&self) -> Self {
        Self {
            route: self.route.clone(),
            reply: PhantomData,
        }
    }
}

impl<Q, R> fmt::Debug for HttpRead<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpRead({:?})", self.route)
    }
}
