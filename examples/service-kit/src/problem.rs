//! Errors on the wire: `application/problem+json` with a stable code.
//!
//! It must never carry what a log line or a backtrace would: only what the client may act on.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

/// One problem; `type` is `about:blank`, so `title` is the status in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Always `about:blank`: the code says what it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened and what to do about it.
    pub detail: String,
    /// Stable, in capitals: `KEY_MISSING`.
    pub code: String,
    /// Seconds of the `Retry-After` header, which carries it.
    #[serde(skip)]
    pub retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem with this status, stable code and detail.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Problem {
        Problem {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            retry_after_s: None,
        }
    }

    /// 400.
    pub fn bad(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// 500; the cause goes to stderr, where the operator reads it.
    pub fn internal(cause: &dyn std::fmt::Display) -> Problem {
        eprintln!("error: {cause}");
        let detail = "the service failed; see its error output";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", detail)
    }

    /// With a `Retry-After` of so many seconds.
    pub fn retry_after_s(mut self, seconds: Option<u64>) -> Problem {
        self.retry_after_s = seconds;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).expect("made from a status by new");
        let retry_after_s = self.retry_after_s;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        let media = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, media);
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
