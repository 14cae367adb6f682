//! Reads: what they ask and what they make of replies.

use std::sync::Arc;

use mainstay_dispatch::{FailureKind, Millis, Read, Sent};
use mainstay_http::{HttpRead, RequestParts};
use mainstay_sim::{START, VirtualClock};

use crate::peer::{Peer, reply, reply_with};
use crate::support::{
    SWORDFISH, TICKET_JSON, Told, builder, client, context, failed, is, one, search, ticket, told,
};

#[tokio::test]
async fn a_read_asks_once_and_gives_the_reply() {
    let peer = Peer::saying(reply(200, &format!("[{TICKET_JSON}]"))).await;
    let words = format!("50% of {SWORDFISH} & co");
    let answer = search(&client(&peer.url)).call(words, &context()).await;
    assert_eq!(answer.expect("an answer").value, [ticket()]);
    let requests = peer.requests();
    assert_eq!(requests.len(), 1);
    let line = "GET /tickets?q=50%25%20of%20swordfish%20%26%20co HTTP/1.1";
    assert_eq!(requests[0].lines().next(), Some(line));
}

#[tokio::test]
async fn a_question_with_a_body_is_posted_without_a_key() {
    let peer = Peer::saying(reply(200, TICKET_JSON)).await;
    let read =
        HttpRead::<Vec<u64>, crate::support::Ticket>::post("ticket", &client(&peer.url), |ids| {
            RequestParts::path(["find"]).json(ids)
        });
    let answer = read
        .call(vec![u64::MAX, 1], &context())
        .await
        .expect("an answer");
    assert_eq!(answer.value, ticket());
    let request = peer.requests().remove(0);
    assert!(request.starts_with("POST /find HTTP/1.1"), "{request}");
    assert!(
        request.ends_with("\r\n\r\n[18446744073709551615,1]"),
        "{request}"
    );
    assert_eq!(crate::peer::header(&request, "idempotency-key"), None);
}

#[tokio::test]
async fn an_empty_reply_is_null() {
    let peer = Peer::saying("HTTP/1.1 204 No Content\r\n\r\n").await;
    let read = HttpRead::<String, Option<u8>>::get("none", &client(&peer.url), |_| {
        RequestParts::path(["none"])
    });
    let answer = read
        .call(String::new(), &context())
        .await
        .expect("an answer");
    assert_eq!(answer.value, None);
}

#[tokio::test]
async fn a_reply_of_another_type_is_invalid_and_named_without_its_data() {
    let peer = Peer::saying(reply(200, r#"{"id":"swordfish"}"#)).await;
    let failure = failed(
        one(&client(&peer.url))
            .call("T-1".to_owned(), &context())
            .await,
    );
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::ResultInvalid, Sent::Answered)
    );
    let message = failure.message.expect("a message");
    assert!(message.contains("missing field `title`"), "{message}");
    assert!(
        message.starts_with(&format!("GET {}/tickets/T-1: ", peer.url)),
        "{message}"
    );
}

#[tokio::test]
async fn a_reply_beyond_the_bound_is_refused_whether_it_says_its_length_or_not() {
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    let endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    let invalid = is(
        FailureKind::ResultInvalid,
        Sent::Answered,
        "REPLY_TOO_LARGE",
    );
    for bytes in [reply(200, &"x".repeat(4_097)), endless + &chunk.repeat(5)] {
        let peer = Peer::saying(bytes).await;
        let small = builder(&peer.url)
            .reply_bytes_max(4_096)
            .build()
            .expect("a valid client");
        assert_eq!(
            told(one(&small).call("T-1".to_owned(), &context()).await),
            invalid
        );
    }
    let peer = Peer::saying("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n").await;
    assert_eq!(
        told(
            one(&client(&peer.url))
                .call("T-1".to_owned(), &context())
                .await
        ),
        invalid
    );
}

#[tokio::test]
async fn a_reply_may_come_in_pieces_up_to_the_bound() {
    let body = format!("{TICKET_JSON}{}", " ".repeat(4_096 - TICKET_JSON.len()));
    let peer = Peer::saying(reply(200, &body)).await;
    let small = builder(&peer.url)
        .reply_bytes_max(4_096)
        .build()
        .expect("a valid client");
    let answer = one(&small)
        .call("T-1".to_owned(), &context())
        .await
        .expect("an answer");
    assert_eq!(answer.value, ticket());
}

#[tokio::test]
async fn a_message_names_the_path_and_neither_query_nor_body_of_the_reply() {
    let peer = Peer::saying(reply(400, SWORDFISH)).await;
    let failure = failed(
        search(&client(&peer.url))
            .call(SWORDFISH.to_owned(), &context())
            .await,
    );
    let message = failure.message.expect("a message");
    assert_eq!(message, format!("GET {}/tickets: Bad Request", peer.url));
    let long = "x".repeat(5_000);
    let failure = failed(one(&client(&peer.url)).call(long, &context()).await);
    assert!(failure.message.expect("a message").len() < 300);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Peer::saying(reply(200, TICKET_JSON)).await;
    let location = format!("Location: {}/tickets/T-1\r\n", elsewhere.url);
    for status in [301, 302, 307, 308] {
        let peer = Peer::saying(reply_with(status, &location, "")).await;
        let ended = told(
            one(&client(&peer.url))
                .call("T-1".to_owned(), &context())
                .await,
        );
        let code = format!("HTTP {status}");
        assert_eq!(
            ended,
            is(FailureKind::PermanentProvider, Sent::Answered, &code)
        );
    }
    assert_eq!(elsewhere.connections(), 0);
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
        ("", None),
    ] {
        for (status, kind) in [
            (429, FailureKind::RateLimited),
            (503, FailureKind::Overloaded),
        ] {
            let peer = Peer::saying(reply_with(status, header, SWORDFISH)).await;
            let clock = Arc::new(VirtualClock::new(START));
            let client = builder(&peer.url)
                .clock(clock)
                .build()
                .expect("a valid client");
            let failure = failed(one(&client).call("T-1".to_owned(), &context()).await);
            assert_eq!(
                (failure.kind, failure.sent),
                (kind, Sent::Answered),
                "{header}"
            );
            assert_eq!(failure.retry_after, wait.map(Millis::from_secs), "{header}");
            assert_eq!(failure.client_retries, 0);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_sent_or_has_no_time_never_leaves() {
    let peer = Peer::saying(reply(200, TICKET_JSON)).await;
    let read = one(&client(&peer.url));
    let unsendable = is(
        FailureKind::InvalidInput,
        Sent::NotSent,
        "REQUEST_UNSENDABLE",
    );
    assert_eq!(
        told(read.call("..".to_owned(), &context()).await),
        unsendable
    );
    let late = Told {
        time_left: Millis::ZERO,
        ..Told::default()
    }
    .context();
    let exhausted = is(
        FailureKind::DeadlineExhausted,
        Sent::NotSent,
        "NO_TIME_LEFT",
    );
    assert_eq!(told(read.call("T-1".to_owned(), &late).await), exhausted);
    let unwanted = context();
    unwanted.cancel().cancel();
    let canceled = is(FailureKind::Canceled, Sent::NotSent, "ATTEMPT_CANCELED");
    assert_eq!(told(read.call("T-1".to_owned(), &unwanted).await), canceled);
    assert_eq!(peer.connections(), 0);
}
