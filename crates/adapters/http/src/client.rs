//! The client that all dependencies of one service share: base URL, headers, bounds, connections.
//!
//! It must never retry, follow a redirect, use a proxy or speak HTTP/2. A retry belongs to the
//! run's budget. A proxy that the process's environment names would change where a write goes,
//! unseen, and would blur "no connection" into "an answer of the proxy". HTTP/2 has refusals of its
//! own (GOAWAY, REFUSED_STREAM) that a client library answers with a hidden resend.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mainstay_types::{Clock, Millis, Timestamp, limits};
use reqwest::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Client, Url, redirect, retry};

use crate::bounds::{IDLE_CONNECTION, IDLE_CONNECTIONS_MAX};
use crate::exchange::wire;
use crate::retry_after::wall;
use crate::secret::Secret;

/// Why a client cannot be built. Nothing was tried on the network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The base URL cannot be used.
    #[error("the base URL cannot be used: {why}")]
    BaseUrl {
        /// What is wrong with it, without repeating it: it may hold a password.
        why: String,
    },
    /// The base URL is https, and this build cannot speak it.
    #[error("the base URL is https: build mainstay-http with its feature `tls`")]
    TlsMissing,
    /// A header is malformed.
    #[error("the header {name:?} cannot be sent: {why}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong, without its value.
        why: &'static str,
    },
    /// The system lacks something the client needs, for example certificates.
    #[error("the HTTP client cannot be made: {message}")]
    Client {
        /// What the library says.
        message: String,
    },
}

/// Builds an [`HttpClient`]; see [`HttpClient::builder`].
#[must_use = "a builder does nothing until `build`"]
pub struct HttpClientBuilder {
    base: String,
    headers: Vec<(String, Secret, Shown)>,
    connect_timeout: Millis,
    reply_bytes_max: usize,
    clock: Option<Arc<dyn Clock>>,
}

/// Whether a header's value may be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

/// One service. Clones share its connections; use one client per service and process, inside one
/// tokio runtime.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    base: Url,
    client: Client,
    connect_timeout: Millis,
    reply_bytes_max: usize,
    clock: Option<Arc<dyn Clock>>,
}

impl HttpClient {
    /// A client for the service at `base_url`, for example `https://tickets.example/api`.
    pub fn builder(base_url: impl Into<String>) -> HttpClientBuilder {
        HttpClientBuilder {
            base: base_url.into(),
            headers: Vec::new(),
            connect_timeout: Millis::new(limits::HTTP_CONNECT_MS_DEFAULT),
            reply_bytes_max: limits::HTTP_REPLY_BYTES_MAX,
            clock: None,
        }
    }

    pub(crate) fn base(&self) -> &Url {
        &self.0.base
    }

    pub(crate) fn requests(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn reply_bytes_max(&self) -> usize {
        self.0.reply_bytes_max
    }

    pub(crate) fn wall(&self) -> Timestamp {
        match &self.0.clock {
            Some(clock) => clock.wall(),
            None => wall(SystemTime::now()),
        }
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("base", &self.0.base.as_str())
            .field("connect_timeout", &self.0.connect_timeout)
            .finish_non_exhaustive()
    }
}

impl HttpClientBuilder {
    /// Sends this header with every request.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(name.into(), Secret::new(value), Shown::Yes)
    }

    /// Sends this header with every request and never shows its value.
    pub fn secret_header(self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.with(name.into(), value.into(), Shown::No)
    }

    fn with(mut self, name: String, value: Secret, shown: Shown) -> Self {
        self.headers.push((name, value, shown));
        self
    }

    /// Sets how long the name look-up, the connection and the TLS handshake may take together.
    /// Default: `limits::HTTP_CONNECT_MS_DEFAULT`. Beyond: TRANSIENT_TRANSPORT, NOT_SENT.
    pub const fn connect_timeout(mut self, timeout: Millis) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Lowers the bound of a reply, in bytes. Default and most: `limits::HTTP_REPLY_BYTES_MAX`.
    pub fn reply_bytes_max(mut self, bytes: usize) -> Self {
        self.reply_bytes_max = bytes.min(limits::HTTP_REPLY_BYTES_MAX);
        self
    }

    /// Sets the clock against which a `Retry-After` date is taken when the reply has no `Date`.
    /// Default: the system's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Builds the client; connects to nothing yet.
    pub fn build(self) -> Result<HttpClient, HttpError> {
        let base = base_of(&self.base)?;
        let client = Client::builder()
            .default_headers(headers_of(&self.headers)?)
            .retry(retry::never())
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .http1_only()
            .connect_timeout(self.connect_timeout.to_duration())
            .pool_idle_timeout(IDLE_CONNECTION.to_duration())
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build()
            .map_err(|error| HttpError::Client {
                message: error.to_string(),
            })?;
        Ok(HttpClient(Arc::new(Inner {
            base,
            client,
            connect_timeout: self.connect_timeout,
            reply_bytes_max: self.reply_bytes_max,
            clock: self.clock,
        })))
    }
}

fn base_of(text: &str) -> Result<Url, HttpError> {
    let refused = |why: &str| {
        Err(HttpError::BaseUrl {
            why: why.to_owned(),
        })
    };
    let base = match Url::parse(text) {
        Ok(base) => base,
        Err(error) => return refused(&error.to_string()),
    };
    if !matches!(base.scheme(), "http" | "https") {
        return refused("it must begin with http:// or https://");
    }
    if !base.username().is_empty() || base.password().is_some() {
        return refused("it holds credentials: send them with `secret_header`");
    }
    if base.query().is_some() || base.fragment().is_some() {
        return refused("it has a query or a fragment: add pairs to each request");
    }
    if base.scheme() == "https" && !cfg!(feature = "tls") {
        return Err(HttpError::TlsMissing);
    }
    Ok(base)
}

fn headers_of(given: &[(String, Secret, Shown)]) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let agent = concat!("mainstay/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    for (text, value, shown) in given {
        let refused = |why| HttpError::Header {
            name: text.clone(),
            why,
        };
        let name = HeaderName::from_bytes(text.as_bytes())
            .map_err(|_| refused("its name is not a header name"))?;
        if is_ours(&name) {
            return Err(refused("each attempt sets it itself"));
        }
        let mut value = HeaderValue::from_str(value.reveal())
            .map_err(|_| refused("its value is not visible ASCII"))?;
        value.set_sensitive(*shown == Shown::No);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// What says how long, under which key and how many bytes: a fixed value would be a lie.
fn is_ours(name: &HeaderName) -> bool {
    wire::ALL.contains(&name.as_str())
        || [
            CONTENT_TYPE,
            CONTENT_LENGTH,
            TRANSFER_ENCODING,
            CONNECTION,
            HOST,
        ]
        .contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: HttpClientBuilder) -> String {
        builder.build().expect_err("refused").to_string()
    }

    #[test]
    fn a_base_url_that_hides_something_is_refused_without_repeating_it() {
        for url in [
            "tickets.example/api",
            "ftp://tickets.example",
            "http://kim:swordfish@h",
            "http://h/?a=1",
            "http://h/#x",
        ] {
            let message = refused(HttpClient::builder(url));
            assert!(
                message.starts_with("the base URL cannot be used"),
                "{message}"
            );
            assert!(!message.contains("swordfish"), "{message}");
        }
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn https_names_the_feature_that_is_missing() {
        let error = HttpClient::builder("https://h")
            .build()
            .expect_err("no TLS here");
        assert_eq!(error, HttpError::TlsMissing);
    }

    #[test]
    fn headers_that_each_attempt_sets_are_refused_and_values_are_not_repeated() {
        for name in [
            "Idempotency-Key",
            "X-Time-Left-Ms",
            "Content-Length",
            "traceparent",
        ] {
            let message = refused(HttpClient::builder("http://h").header(name, "1"));
            assert!(message.contains("each attempt sets it itself"), "{message}");
        }
        let malformed = HttpClient::builder("http://h").secret_header("X-Token", "sword\nfish");
        let message = refused(malformed);
        assert!(
            message.contains("X-Token") && !message.contains("sword"),
            "{message}"
        );
        assert!(refused(HttpClient::builder("http://h").header("a b", "1")).contains("a b"));
    }

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("swordfish");
        assert_eq!(format!("{secret} {secret:?}"), "[sensitive] [sensitive]");
        let client = HttpClient::builder("http://h").secret_header("X-Token", secret);
        let client = client.build().expect("a valid client");
        assert!(!format!("{client:?} {:?}", client.requests()).contains("swordfish"));
    }
}
