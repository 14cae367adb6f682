//! Reads a request's body whole, within a bound and a time.
//!
//! It must never keep more than the bound in memory, whatever the client sends.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;

use crate::problem::Problem;

/// How long a client may take to send its body.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// Bytes read and thrown away behind the bound, so that a client that is still sending sees the 413
/// and not a reset connection.
const DISCARD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The body, or the 400, 408 or 413 to answer instead.
pub(crate) async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    match tokio::time::timeout(READ_WITHIN, collect(body, bytes_max)).await {
        Ok(read) => read,
        Err(_) => {
            let detail = format!("the body did not end within {} s", READ_WITHIN.as_secs());
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "BODY_TOO_SLOW",
                detail,
            ))
        }
    }
}

async fn collect(mut body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let mut kept = Vec::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| Problem::bad("BODY_BROKEN", format!("body: {e}")))?;
        let Ok(data) = frame.into_data() else {
            continue; // Trailers carry nothing we use.
        };
        seen = seen.saturating_add(data.len());
        if seen <= bytes_max {
            kept.extend_from_slice(&data);
        }
        if bytes_max.saturating_add(DISCARD_BYTES_MAX) < seen {
            break;
        }
    }
    if bytes_max < seen {
        let detail = format!("the body is larger than {bytes_max} bytes");
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "BODY_TOO_LARGE",
            detail,
        ));
    }
    Ok(kept.into())
}
