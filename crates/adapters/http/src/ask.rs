//! One question to a service that speaks a protocol of its own over HTTP, for adapters above this
//! crate.
//!
//! It must never decide what the reply means beyond its status: [`crate::classify`] stays the one
//! table, and whoever knows the protocol adds to it. A body is handed out and never shown.

use mainstay_dispatch::{AttemptContext, Failure};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::classify::{Deed, Ending};
use crate::client::HttpClient;
use crate::exchange::{Outgoing, Refusals, Reply, exchange};
use crate::parts::RequestParts;

impl HttpClient {
    /// Posts one question that changes nothing, within the attempt's time, and gives the reply
    /// whatever its status is.
    ///
    /// Errors are those of a read in [`crate::classify`], up to the reply's status. Cancel safe, as
    /// the question changes nothing: dropping the future gives the request up; it may have left.
    pub async fn ask(
        &self,
        parts: RequestParts,
        cx: &AttemptContext,
    ) -> Result<HttpReply, Failure> {
        let out = Outgoing {
            method: Method::POST,
            parts,
            headers: HeaderMap::new(),
            deed: Deed::Reads,
            refusals: Refusals::Read,
        };
        exchange(self, out, cx).await.map(HttpReply)
    }
}

/// The reply to a question.
pub struct HttpReply(Reply);

impl HttpReply {
    /// Its status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    /// Whether the status is 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.0.status().is_success()
    }

    /// Its body. What is not 2xx has at most `bounds::REFUSAL_BYTES_MAX` bytes; a longer one, or
    /// one that did not come whole, is empty here.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
    }

    /// The body of a 2xx as `R`; another status is the failure that it means.
    pub fn json<R: DeserializeOwned>(&self) -> Result<R, Failure> {
        self.0.json()
    }

    /// The failure that this reply's status means, with the wait that it asked for.
    #[must_use]
    pub fn refused(&self) -> Failure {
        self.0.refused(self.0.status())
    }

    /// The same for a status that the body names; `None` when `status` says no or is none.
    #[must_use]
    pub fn refused_as(&self, status: u16) -> Option<Failure> {
        let status = StatusCode::from_u16(status).ok()?;
        let says_no = status.is_client_error() || status.is_server_error();
        says_no.then(|| self.0.refused(status))
    }

    /// RESULT_INVALID: the reply came and cannot be used. `why` must hold nothing of it.
    #[must_use]
    pub fn invalid(&self, why: &str) -> Failure {
        self.0.told(Ending::ReplyInvalid, why)
    }
}
