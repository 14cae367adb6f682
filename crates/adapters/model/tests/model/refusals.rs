//! What a server's "no" means: kind, wait, code, cost.

use std::sync::Arc;

use mainstay_dispatch::{CostUnits, FailureKind, Millis, Sent};
use mainstay_sim::{START, VirtualClock};
use serde_json::json;

use crate::peer::{Act, Peer, reply};
use crate::support::{ask, builder, failed, model, structured};

const FREE: Option<CostUnits> = Some(CostUnits::ZERO);

/// Status and code as sent; kind, provider code and cost as told.
type Row = (
    u16,
    &'static str,
    FailureKind,
    &'static str,
    Option<CostUnits>,
);

const ROWS: [Row; 14] = {
    use FailureKind::{
        InvalidInput, Overloaded, PermanentProvider, RateLimited, TransientTransport, Unauthorized,
    };
    [
        (
            400,
            "invalid_value",
            InvalidInput,
            "HTTP 400 invalid_value",
            FREE,
        ),
        (
            400,
            "context_length_exceeded",
            InvalidInput,
            "HTTP 400 context_length_exceeded",
            FREE,
        ),
        (
            400,
            "content_filter",
            InvalidInput,
            "HTTP 400 content_filter",
            FREE,
        ),
        (
            401,
            "invalid_api_key",
            Unauthorized,
            "HTTP 401 invalid_api_key",
            FREE,
        ),
        (403, "swordfish", Unauthorized, "HTTP 403", FREE),
        (
            404,
            "model_not_found",
            PermanentProvider,
            "HTTP 404 model_not_found",
            FREE,
        ),
        (413, "", InvalidInput, "HTTP 413", FREE),
        (
            429,
            "rate_limit_exceeded",
            RateLimited,
            "HTTP 429 rate_limit_exceeded",
            FREE,
        ),
        (
            429,
            "insufficient_quota",
            PermanentProvider,
            "HTTP 429 insufficient_quota",
            FREE,
        ),
        (
            500,
            "server_error",
            TransientTransport,
            "HTTP 500 server_error",
            None,
        ),
        (502, "", TransientTransport, "HTTP 502", None),
        (503, "", Overloaded, "HTTP 503", FREE),
        (504, "", TransientTransport, "HTTP 504", None),
        (
            529,
            "overloaded_error",
            Overloaded,
            "HTTP 529 overloaded_error",
            FREE,
        ),
    ]
};

#[tokio::test]
async fn a_status_has_its_kind_its_code_and_its_cost() {
    for (status, code, kind, shown, cost) in ROWS {
        let body = json!({"error": {"message": "swordfish", "code": code, "param": "swordfish"}});
        let peer = Peer::acting(Act::Say(reply(status, "", &body.to_string()))).await;
        let failure = failed(ask(&structured(&model(&peer.url))).await);
        assert_eq!(
            (failure.kind, failure.cost),
            (kind, cost),
            "{status} {code}"
        );
        assert_eq!(
            failure.provider_code.as_deref(),
            Some(shown),
            "{status} {code}"
        );
        assert_eq!(peer.requests().len(), 1, "{status} {code}");
    }
}

#[tokio::test]
async fn a_wait_is_told_in_seconds_or_as_a_date() {
    for (header, wait) in [
        ("Retry-After: 7\r\n", Some(7)),
        // No `Date` in the reply: our clock, which stands at the start of 2027.
        ("Retry-After: Fri, 01 Jan 2027 00:00:30 GMT\r\n", Some(30)),
        (
            "Date: Fri, 01 Jan 2027 00:00:20 GMT\r\n\
             Retry-After: Fri, 01 Jan 2027 00:00:30 GMT\r\n",
            Some(10),
        ),
        ("Retry-After: soon\r\n", None),
        ("", None),
    ] {
        for (status, kind) in [
            (429, FailureKind::RateLimited),
            (503, FailureKind::Overloaded),
        ] {
            let peer = Peer::acting(Act::Say(reply(status, header, "{}"))).await;
            let clock = Arc::new(VirtualClock::new(START));
            let model = builder(&peer.url)
                .clock(clock)
                .build()
                .expect("a valid model");
            let failure = failed(ask(&structured(&model)).await);
            assert_eq!(
                (failure.kind, failure.sent),
                (kind, Sent::Answered),
                "{header}"
            );
            assert_eq!(failure.retry_after, wait.map(Millis::from_secs), "{header}");
        }
    }
}

#[tokio::test]
async fn the_body_of_a_no_is_not_needed() {
    let long = reply(429, "Retry-After: 7\r\n", &"x".repeat(100_000));
    let cut =
        "HTTP/1.1 429 Whatever\r\nRetry-After: 7\r\nContent-Length: 99\r\n\r\n{\"err".to_owned();
    let none = reply(429, "Retry-After: 7\r\n", "");
    let odd = reply(429, "Retry-After: 7\r\n", "<html>swordfish");
    for act in [
        Act::Say(long),
        Act::Close(cut),
        Act::Say(none),
        Act::Say(odd),
    ] {
        let peer = Peer::acting(act.clone()).await;
        let failure = failed(ask(&structured(&model(&peer.url))).await);
        assert_eq!(failure.kind, FailureKind::RateLimited, "{act:?}");
        assert_eq!(failure.retry_after, Some(Millis::from_secs(7)), "{act:?}");
        assert_eq!(
            failure.provider_code.as_deref(),
            Some("HTTP 429"),
            "{act:?}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Peer::completing("{}").await;
    let location = format!("Location: {}/v1/chat/completions\r\n", elsewhere.url);
    for status in [301, 302, 307, 308] {
        let peer = Peer::acting(Act::Say(reply(status, &location, ""))).await;
        let failure = failed(ask(&structured(&model(&peer.url))).await);
        assert_eq!(failure.kind, FailureKind::PermanentProvider, "{status}");
    }
    assert!(elsewhere.requests().is_empty());
}
