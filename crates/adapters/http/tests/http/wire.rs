//! What stands on the wire, and what does not.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use mainstay_dispatch::{FailureKind, Found, Read, Sent, Write};
use mainstay_sim::{START, VirtualClock};
use mainstay_types::Millis;

use crate::peer::{Peer, header, reply, reply_with};
use crate::support::{
    PLENTY, TICKET_JSON, Told, builder, client, context, failed, key, keyed, look_up, new_ticket,
    one, search, searched, ticket,
};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn traced(control: bool) -> Told {
    Told {
        control,
        traceparent: Some(TRACE.to_owned()),
        ..Told::default()
    }
}

#[tokio::test]
async fn a_write_carries_key_fence_time_left_and_trace_and_no_moment() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let write = keyed(&client(&peer.url));
    let answer = write
        .send(new_ticket(0), &traced(false).context())
        .await
        .expect("an answer");
    assert_eq!(answer.value, ticket());
    let request = peer.requests().remove(0);
    assert!(
        request.starts_with("POST /tickets HTTP/1.1\r\n"),
        "{request}"
    );
    assert_eq!(
        header(&request, "Idempotency-Key"),
        Some("\"acme/ticket/id:mtg-1/item:0\"")
    );
    assert_eq!(header(&request, "X-Fence-Token"), Some("3"));
    let margin = mainstay_http::bounds::TRAVEL_MARGIN;
    let left = PLENTY.less(margin).get().to_string();
    assert_eq!(header(&request, "X-Time-Left-Ms"), Some(left.as_str()));
    assert_eq!(header(&request, "traceparent"), Some(TRACE));
    assert_eq!(header(&request, "Content-Type"), Some("application/json"));
    let body =
        r#"{"body":"the swordfish mural","position":0,"source":"minutes-1","title":"repaint"}"#;
    assert!(request.ends_with(body), "{request}");
}

#[tokio::test]
async fn a_write_carries_no_header_that_is_not_known_here() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let write = keyed(&client(&peer.url));
    write
        .send(new_ticket(0), &traced(false).context())
        .await
        .expect("an answer");
    let request = peer.requests().remove(0);
    let head = request.split("\r\n\r\n").next().expect("a head");
    let mut names: Vec<String> = head
        .lines()
        .filter_map(|line| Some(line.split_once(": ")?.0.to_ascii_lowercase()))
        .collect();
    names.sort();
    let known = "accept authorization content-length content-type host idempotency-key \
                 traceparent user-agent x-fence-token x-time-left-ms";
    assert_eq!(names.join(" "), known);
}

#[tokio::test]
async fn clocks_an_hour_apart_change_neither_what_is_sent_nor_how_long_is_waited() {
    let hours = [
        ("Thu, 31 Dec 2026 23:00:0", Millis::ZERO),
        ("Fri, 01 Jan 2027 00:00:0", Millis::from_hours(1)),
        ("Fri, 01 Jan 2027 01:00:0", Millis::from_hours(2)),
    ];
    let mut sent = BTreeSet::new();
    for (theirs, ours) in hours
        .iter()
        .flat_map(|(at, _)| hours.map(|(_, by)| (at, by)))
    {
        let dates = format!("Date: {theirs}0 GMT\r\nRetry-After: {theirs}7 GMT\r\n");
        let peer = Peer::saying(reply_with(429, &dates, "{}")).await;
        let clock = VirtualClock::new(START);
        clock.jump_back(Millis::from_hours(1));
        clock.jump_forward(ours);
        let client = builder(&peer.url).clock(Arc::new(clock));
        let write = keyed(&client.build().expect("a valid client"));
        let failure = failed(write.send(new_ticket(0), &context()).await);
        let wait = Some(Millis::from_secs(7));
        assert_eq!(failure.retry_after, wait, "{theirs} {ours}");
        let request = peer.requests().remove(0);
        let lines = request.lines().filter(|line| !line.starts_with("host: "));
        sent.insert(lines.collect::<Vec<_>>().join("\n"));
    }
    assert_eq!(sent.len(), 1, "{sent:#?}");
    let left = PLENTY.less(mainstay_http::bounds::TRAVEL_MARGIN);
    let wanted = format!("x-time-left-ms: {}", left.get());
    assert!(sent.pop_first().is_some_and(|text| text.contains(&wanted)));
}

#[tokio::test]
async fn a_look_up_is_no_write_it_has_neither_key_nor_fence() {
    let peer = Peer::saying(reply(200, TICKET_JSON)).await;
    let found = keyed(&client(&peer.url))
        .find(new_ticket(0), &traced(true).context())
        .await;
    assert_eq!(found, Ok(Found::Applied(ticket())));
    let peer_of_search = Peer::saying(reply(200, &format!("[{TICKET_JSON}]"))).await;
    let write = searched(&client(&peer_of_search.url));
    assert_eq!(
        write.find(new_ticket(4), &look_up()).await,
        Ok(Found::Applied(ticket()))
    );
    for (peer, line) in [
        (
            &peer,
            "GET /tickets/by-key/acme%2Fticket%2Fid%3Amtg-1%2Fitem%3A0 HTTP/1.1",
        ),
        (
            &peer_of_search,
            "GET /tickets?source=minutes-1&position=4 HTTP/1.1",
        ),
    ] {
        let request = peer.requests().remove(0);
        assert_eq!(request.lines().next(), Some(line));
        assert_eq!(header(&request, "idempotency-key"), None);
        assert_eq!(header(&request, "x-fence-token"), None);
        assert!(header(&request, "x-time-left-ms").is_some());
        assert!(request.ends_with("\r\n\r\n"), "{request}");
    }
    assert_eq!(header(&peer.requests()[0], "traceparent"), Some(TRACE));
}

#[tokio::test]
async fn a_control_attempt_and_an_attempt_without_a_key_are_never_sent_as_a_write() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let write = keyed(&client(&peer.url));
    let refused = failed(write.send(new_ticket(0), &look_up()).await);
    assert_eq!(
        (refused.kind, refused.sent),
        (FailureKind::PermanentProvider, Sent::NotSent)
    );
    let nameless = Told {
        key: None,
        ..Told::default()
    }
    .context();
    let refused = failed(write.send(new_ticket(0), &nameless).await);
    assert_eq!(
        (refused.kind, refused.sent),
        (FailureKind::InvalidInput, Sent::NotSent)
    );
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_key_beyond_ascii_is_encoded_in_the_header_and_asked_for_alike() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let write = keyed(&client(&peer.url));
    let told = |control| {
        Told {
            key: Some(key("Café \"7\" \\", 1)),
            control,
            ..Told::default()
        }
        .context()
    };
    write
        .send(new_ticket(1), &told(false))
        .await
        .expect("an answer");
    write
        .find(new_ticket(1), &told(true))
        .await
        .expect("an answer");
    let requests = peer.requests();
    let sent = header(&requests[0], "idempotency-key");
    assert_eq!(sent, Some(r#""Caf%C3%A9 \"7\" \\/ticket/id:mtg-1/item:1""#));
    let asked = "GET /tickets/by-key/\
                 Caf%25C3%25A9%20%227%22%20%5C%2Fticket%2Fid%3Amtg-1%2Fitem%3A1 HTTP/1.1";
    assert_eq!(requests[1].lines().next(), Some(asked));
}

#[tokio::test]
async fn a_trace_that_is_no_header_does_not_cost_the_attempt() {
    let peer = Peer::saying(reply(200, TICKET_JSON)).await;
    let broken = Told {
        traceparent: Some("00-\r\nX-Evil: 1".to_owned()),
        ..Told::default()
    };
    let read = one(&client(&peer.url));
    read.call("T-1".to_owned(), &broken.context())
        .await
        .expect("an answer");
    let request = peer.requests().remove(0);
    assert_eq!(
        (header(&request, "traceparent"), header(&request, "X-Evil")),
        (None, None)
    );
}

#[tokio::test]
async fn every_resend_has_the_same_bytes() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let write = keyed(&client(&peer.url));
    for _ in 0..3 {
        write
            .send(new_ticket(0), &context())
            .await
            .expect("an answer");
    }
    let requests = peer.requests();
    assert!(
        requests.iter().all(|request| *request == requests[0]),
        "{requests:?}"
    );
    assert_eq!((requests.len(), peer.connections()), (3, 1));
}

/// Set for the copy of this test that runs with a proxy in its environment.
const TARGET: &str = "MAINSTAY_HTTP_TEST_TARGET";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_the_environment_names_is_not_used() {
    if let Ok(target) = std::env::var(TARGET) {
        let answer = search(&client(&target))
            .call("x".to_owned(), &context())
            .await;
        assert_eq!(answer.expect("an answer").value, [ticket()]);
        return;
    }
    let peer = Peer::saying(reply(200, &format!("[{TICKET_JSON}]"))).await;
    let proxy = Peer::saying(reply(502, "")).await;
    let mut copy = Command::new(std::env::current_exe().expect("this test's program"));
    copy.args([
        "--exact",
        "wire::a_proxy_that_the_environment_names_is_not_used",
    ])
    .env(TARGET, &peer.url)
    .env_remove("NO_PROXY")
    .env_remove("no_proxy")
    .env("http_proxy", &proxy.url)
    .env("all_proxy", &proxy.url);
    let output = tokio::task::spawn_blocking(move || copy.output())
        .await
        .expect("no panic");
    let output = output.expect("it can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert_eq!((peer.requests().len(), proxy.connections()), (1, 0));
}
