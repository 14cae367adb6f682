//! Requests whose end is lost: what is proven not sent, and what may have arrived.

use std::time::{Duration, Instant};

use mainstay_dispatch::{FailureKind, Millis, Read, Sent, Write};
use mainstay_http::HttpClient;
use tokio::net::TcpListener;

use crate::peer::{Act, FullHouse, Peer, reply};
use crate::support::{
    TICKET_JSON, builder, client, context, is, keyed, new_ticket, one, searched, ticket, told,
    with_time,
};

type Told = (FailureKind, Sent, String);

/// Bounds how long a test waits for something that is to come at once.
const AT_ONCE: Duration = Duration::from_secs(10);

fn not_sent(code: &str) -> Told {
    is(FailureKind::TransientTransport, Sent::NotSent, code)
}

fn doubt(code: &str) -> Told {
    is(FailureKind::EffectUnknown, Sent::MaybeSent, code)
}

fn maybe_read(code: &str) -> Told {
    is(FailureKind::TransientTransport, Sent::MaybeSent, code)
}

/// How a read and a write end there.
async fn both(client: &HttpClient) -> (Told, Told) {
    let read = told(one(client).call("T-1".to_owned(), &context()).await);
    (
        read,
        told(keyed(client).send(new_ticket(0), &context()).await),
    )
}

fn patient(url: &str) -> HttpClient {
    builder(url)
        .connect_timeout(Millis::from_secs(60))
        .build()
        .expect("a valid client")
}

#[tokio::test]
async fn a_refused_connection_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("the loopback is there");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    drop(listener);
    let refused = not_sent("CONNECT_FAILED");
    assert_eq!(both(&client(&url)).await, (refused.clone(), refused));
}

#[tokio::test]
async fn a_host_that_does_not_exist_is_not_sent() {
    let unknown = not_sent("CONNECT_FAILED");
    let client = client("http://no-such-host.invalid");
    assert_eq!(both(&client).await, (unknown.clone(), unknown));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_does_not_stand_in_time_is_not_sent() {
    let house = FullHouse::open().await;
    let hasty = builder(&house.url).connect_timeout(Millis::new(100));
    let late = not_sent("CONNECT_FAILED");
    assert_eq!(
        both(&hasty.build().expect("a valid client")).await,
        (late.clone(), late)
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_write_whose_time_is_up_before_its_body_left_is_not_sent() {
    let house = FullHouse::open().await;
    let began = Instant::now();
    let ended = keyed(&patient(&house.url))
        .send(new_ticket(0), &with_time(Millis::new(150)))
        .await;
    assert_eq!(told(ended), not_sent("ATTEMPT_TIMEOUT"));
    assert!(
        began.elapsed() < AT_ONCE,
        "the connect timeout was waited for"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_write_canceled_before_its_body_left_is_not_sent() {
    let house = FullHouse::open().await;
    let cx = context();
    let cancel = cx.cancel().clone();
    let write = keyed(&patient(&house.url));
    let sending = tokio::spawn(async move { write.send(new_ticket(0), &cx).await });
    // Whether it has begun to connect or not, nothing has left.
    tokio::task::yield_now().await;
    cancel.cancel();
    let ended = tokio::time::timeout(AT_ONCE, sending)
        .await
        .expect("it ends at once");
    let canceled = is(FailureKind::Canceled, Sent::NotSent, "ATTEMPT_CANCELED");
    assert_eq!(told(ended.expect("no panic")), canceled);
}

#[tokio::test]
async fn a_write_canceled_on_its_way_is_waited_for_and_a_read_is_not() {
    let peer = Peer::acting([Act::Hold(reply(201, TICKET_JSON).into_bytes())]).await;
    let cx = context();
    let (cancel, client) = (cx.cancel().clone(), client(&peer.url));
    let write = keyed(&client);
    let sending = tokio::spawn(async move { write.send(new_ticket(0), &cx).await });
    peer.arrival().await;
    cancel.cancel();
    tokio::task::yield_now().await;
    assert!(!sending.is_finished());
    peer.release();
    let answer = sending.await.expect("no panic").expect("an answer");
    assert_eq!(answer.value, ticket());

    let cx = context();
    let (cancel, read) = (cx.cancel().clone(), one(&client));
    let asking = tokio::spawn(async move { read.call("T-1".to_owned(), &cx).await });
    peer.arrival().await;
    cancel.cancel();
    let ended = tokio::time::timeout(AT_ONCE, asking)
        .await
        .expect("it ends at once");
    let canceled = is(FailureKind::Canceled, Sent::MaybeSent, "ATTEMPT_CANCELED");
    assert_eq!(told(ended.expect("no panic")), canceled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_canceled_at_any_moment_is_not_sent_only_if_it_never_arrives() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let mut held_back = Vec::new();
    for round in 0..400 {
        // A new client each time, so that connecting is one of the moments.
        let (cx, write) = (context(), keyed(&client(&peer.url)));
        let cancel = cx.cancel().clone();
        let sending = tokio::spawn(async move { write.send(new_ticket(round), &cx).await });
        for _ in 0..(round % 80) * 20 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        if let Err(failure) = sending.await.expect("no panic") {
            assert_eq!(
                (failure.kind, failure.sent),
                (FailureKind::Canceled, Sent::NotSent)
            );
            held_back.push(round);
        }
    }
    eprintln!("{} of 400 were held back", held_back.len());
    keyed(&client(&peer.url))
        .send(new_ticket(1_000), &context())
        .await
        .expect("an answer");
    let arrived = peer.requests();
    assert_eq!(arrived.len() + held_back.len(), 401);
    for round in &held_back {
        let position = format!("\"position\":{round},");
        assert!(
            !arrived.iter().any(|request| request.contains(&position)),
            "round {round}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_does_not_come_in_time_leaves_a_write_in_doubt() {
    let peer = Peer::acting([Act::Hold(Vec::new())]).await;
    let (client, short) = (client(&peer.url), Millis::new(150));
    let read = one(&client).call("T-1".to_owned(), &with_time(short)).await;
    assert_eq!(told(read), maybe_read("ATTEMPT_TIMEOUT"));
    let write = keyed(&client).send(new_ticket(0), &with_time(short)).await;
    assert_eq!(told(write), doubt("ATTEMPT_TIMEOUT"));
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn a_head_or_a_body_that_does_not_end_in_time_leaves_a_write_in_doubt() {
    let whole = reply(201, TICKET_JSON);
    for length in [20, whole.len() - 1] {
        let peer = Peer::saying(&whole.as_bytes()[..length]).await;
        let cx = with_time(Millis::new(150));
        let write = keyed(&client(&peer.url)).send(new_ticket(0), &cx).await;
        assert_eq!(told(write), doubt("ATTEMPT_TIMEOUT"), "{length}");
    }
}

#[tokio::test]
async fn a_reply_cut_anywhere_leaves_a_write_in_doubt() {
    let whole = reply(201, TICKET_JSON);
    for length in 0..whole.len() {
        let part = whole.as_bytes()[..length].to_vec();
        let peer = Peer::acting([Act::SayAndClose(part)]).await;
        let lost = (maybe_read("CONNECTION_LOST"), doubt("CONNECTION_LOST"));
        assert_eq!(
            both(&client(&peer.url)).await,
            lost,
            "cut after {length} bytes"
        );
        assert_eq!(peer.requests().len(), 2, "cut after {length} bytes");
    }
    let peer = Peer::acting([Act::SayAndClose(whole.into_bytes())]).await;
    let answer = keyed(&client(&peer.url))
        .send(new_ticket(0), &context())
        .await;
    assert_eq!(answer.expect("an answer").value, ticket());
}

#[tokio::test]
async fn a_reset_connection_leaves_a_write_in_doubt() {
    for bytes in ["", "HTTP/1.1 201 Created\r\n"] {
        let peer = Peer::acting([Act::SayAndReset(bytes.as_bytes().to_vec())]).await;
        let lost = (maybe_read("CONNECTION_LOST"), doubt("CONNECTION_LOST"));
        assert_eq!(both(&client(&peer.url)).await, lost);
    }
}

#[tokio::test]
async fn what_is_not_http_leaves_a_write_in_doubt() {
    for garbage in [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "HTTP/1.1 2x1 A\r\n\r\n",
    ] {
        let peer = Peer::acting([Act::SayAndClose(garbage.as_bytes().to_vec())]).await;
        let lost = (maybe_read("CONNECTION_LOST"), doubt("CONNECTION_LOST"));
        assert_eq!(both(&client(&peer.url)).await, lost, "{garbage:?}");
    }
}

#[tokio::test]
async fn a_good_status_with_an_unusable_reply_is_asked_about() {
    for body in ["{}", "", "{\"id\""] {
        let peer = Peer::saying(reply(201, body)).await;
        let write = keyed(&client(&peer.url))
            .send(new_ticket(0), &context())
            .await;
        assert_eq!(told(write), doubt("REPLY_INVALID"), "{body:?}");
    }
    let peer = Peer::saying(reply(201, &" ".repeat(4_097))).await;
    let small = builder(&peer.url)
        .reply_bytes_max(4_096)
        .build()
        .expect("a valid client");
    let write = keyed(&small).send(new_ticket(0), &context()).await;
    assert_eq!(told(write), doubt("REPLY_TOO_LARGE"));
}

#[tokio::test]
async fn a_status_that_may_come_after_the_commit_leaves_a_write_in_doubt() {
    for status in [302, 409, 500, 502, 504] {
        let peer = Peer::saying(reply(status, "")).await;
        let write = keyed(&client(&peer.url))
            .send(new_ticket(0), &context())
            .await;
        assert_eq!(told(write), doubt(&format!("HTTP {status}")));
        assert_eq!(peer.requests().len(), 1);
    }
    let peer = Peer::saying(reply(503, "")).await;
    let (service, busy) = (client(&peer.url), FailureKind::Overloaded);
    let write = keyed(&service).send(new_ticket(0), &context()).await;
    assert_eq!(told(write), is(busy, Sent::Answered, "HTTP 503"));
    let write = searched(&service).send(new_ticket(0), &context()).await;
    assert_eq!(told(write), doubt("HTTP 503"));
}

#[tokio::test]
async fn an_old_connection_that_breaks_under_a_write_leaves_it_in_doubt_and_nothing_is_resent() {
    let first = Act::Say(reply(201, TICKET_JSON).into_bytes());
    let peer = Peer::acting([first, Act::SayAndClose(Vec::new())]).await;
    let write = keyed(&client(&peer.url));
    write
        .send(new_ticket(0), &context())
        .await
        .expect("an answer");
    let ended = told(write.send(new_ticket(1), &context()).await);
    assert_eq!(ended, doubt("CONNECTION_LOST"));
    assert_eq!((peer.connections(), peer.requests().len()), (1, 2));
}

#[tokio::test]
async fn a_connection_closed_while_idle_never_makes_two_requests_of_one_write() {
    let answer = Act::SayAndClose(reply(201, TICKET_JSON).into_bytes());
    let peer = Peer::acting([answer]).await;
    let write = keyed(&client(&peer.url));
    for round in 0..200 {
        let before = peer.requests().len();
        let ended = write.send(new_ticket(round), &context()).await;
        let arrived = peer.requests().len() - before;
        match ended {
            Ok(_) => assert_eq!(arrived, 1, "round {round}"),
            Err(failure) if failure.sent == Sent::NotSent => assert_eq!(arrived, 0, "{failure}"),
            Err(failure) => {
                assert_eq!(failure.sent, Sent::MaybeSent, "{failure}");
                assert!(arrived <= 1, "round {round}: {failure}");
            }
        }
    }
}
