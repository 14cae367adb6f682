//! What a read and a write have in common: a name, a service, how a request is made. It must never
//! send anything itself.

use std::fmt;
use std::sync::Arc;

use mainstay_dispatch::Promise;
use reqwest::Method;

use crate::client::HttpClient;
use crate::parts::RequestParts;

/// Makes the parts of a request from `Q`.
pub(crate) type Parts<Q> = Arc<dyn Fn(&Q) -> RequestParts + Send + Sync>;

pub(crate) struct Route<Q> {
    pub(crate) name: Arc<str>,
    pub(crate) client: HttpClient,
    pub(crate) method: Method,
    pub(crate) parts: Parts<Q>,
    pub(crate) promise: Promise,
}

impl<Q> Route<Q> {
    pub(crate) fn new(
        name: impl Into<String>,
        client: &HttpClient,
        method: Method,
        parts: impl Fn(&Q) -> RequestParts + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into().into(),
            client: client.clone(),
            method,
            parts: Arc::new(parts),
            promise: Promise::new(),
        }
    }
}

impl<Q> Clone for Route<Q> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            client: self.client.clone(),
            method: self.method.clone(),
            parts: Arc::clone(&self.parts),
            promise: self.promise.clone(),
        }
    }
}

impl<Q> fmt::Debug for Route<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.name, self.method, self.client)
    }
}
