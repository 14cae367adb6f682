//! What goes wrong, as `application/problem+json` (RFC 9457) with a stable code.
//!
//! The status is for machines between us and the caller, the code is what a caller may branch on.
//! It must never invent a code: they are the engine's, and each has its page.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainstay::types::RetryHelps;
use mainstay::{Code, EngineError, Millis};
use serde::Serialize;

/// How long to stay away when the engine does not say.
const RETRY_AFTER: Millis = Millis::from_secs(1);

/// Codes whose status is not "our fault": who asked can do something about these, or only wait.
const STATUS: [(Code, StatusCode); 10] = [
    (Code::InvalidInput, StatusCode::BAD_REQUEST),
    (Code::PayloadTooLarge, StatusCode::PAYLOAD_TOO_LARGE),
    (Code::StartKeyMismatch, StatusCode::UNPROCESSABLE_ENTITY),
    (Code::RunUnknown, StatusCode::NOT_FOUND),
    (Code::RunEnded, StatusCode::CONFLICT),
    (Code::KeyHeld, StatusCode::CONFLICT),
    (Code::EngineFull, StatusCode::TOO_MANY_REQUESTS),
    (Code::InboxFull, StatusCode::TOO_MANY_REQUESTS),
    (Code::EngineStopping, StatusCode::SERVICE_UNAVAILABLE),
    (Code::StoreFull, StatusCode::SERVICE_UNAVAILABLE),
];

/// An error on its way to the caller.
#[derive(Debug)]
pub(crate) struct Problem {
    code: Code,
    detail: String,
    retry_after: Option<Millis>,
}

#[derive(Serialize)]
struct Body {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: String,
}

impl Problem {
    /// The caller's own mistake.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self {
            code: Code::InvalidInput,
            detail: detail.into(),
            retry_after: None,
        }
    }

    fn status(&self) -> StatusCode {
        let listed = STATUS.iter().find(|(code, _)| *code == self.code);
        listed.map_or_else(
            || match self.code.retry_helps() {
                RetryHelps::No => StatusCode::INTERNAL_SERVER_ERROR,
                RetryHelps::Yes | RetryHelps::Later => StatusCode::SERVICE_UNAVAILABLE,
            },
            |&(_, status)| status,
        )
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let retry_after = match &error {
            EngineError::Refused { retry_after, .. } => *retry_after,
            EngineError::Ledger(_) | EngineError::NotDriven { .. } | EngineError::Value { .. } => {
                None
            }
        };
        // What the store or the engine says of itself is for its operator, not for its callers.
        if let EngineError::Ledger(error) = &error {
            eprintln!("the store: {error}");
        }
        let detail = match &error {
            EngineError::Refused { refusal, .. } => refusal.to_string(),
            EngineError::Ledger(_) => error.code().summary().to_owned(),
            EngineError::NotDriven { .. } | EngineError::Value { .. } => error.to_string(),
        };
        Self {
            code: error.code(),
            detail,
            retry_after,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let waits = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let body = Body {
            kind: format!("urn:mainstay:error:{}", self.code),
            title: self.code.summary(),
            status: status.as_u16(),
            code: self.code.as_str(),
            detail: self.detail,
        };
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if waits {
            let wait = self.retry_after.unwrap_or(RETRY_AFTER);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(in_seconds(wait)));
        }
        response
    }
}

/// Whole seconds, rounded up: zero would be "at once".
fn in_seconds(wait: Millis) -> u64 {
    wait.get().div_ceil(1_000).max(1)
}
