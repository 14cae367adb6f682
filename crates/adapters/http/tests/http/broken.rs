//! Connections that break on purpose, between the adapter and a server that does all it is asked.

use mainstay_dispatch::{Failure, FailureKind, Read, Sent, Write};
use mainstay_fault_proxy::{Direction, Fault};
use mainstay_types::Millis;

use crate::breaks::{BREAKS, Break, Broken, Ends, Lengths, SHORT, check, lengths};
use crate::peer::{Act, Peer, reply};
use crate::support::{
    PLENTY, TICKET_JSON, Ticket, client, context, failed, is, keyed, new_ticket, one, searched,
    ticket, told, with_time,
};

/// What is sent.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Reads,
    WritesKeyed,
    WritesUnkeyed,
}

const DEEDS: [Deed; 3] = [Deed::Reads, Deed::WritesKeyed, Deed::WritesUnkeyed];

async fn attempt(deed: Deed, url: &str, time: Millis) -> Result<Ticket, Failure> {
    let (client, cx) = (client(url), with_time(time));
    match deed {
        Deed::Reads => {
            let read = one(&client).call("T-1".to_owned(), &cx).await;
            read.map(|reply| reply.value)
        }
        Deed::WritesKeyed => {
            let write = keyed(&client).send(new_ticket(0), &cx).await;
            write.map(|answer| answer.value)
        }
        Deed::WritesUnkeyed => {
            let write = searched(&client).send(new_ticket(0), &cx).await;
            write.map(|answer| answer.value)
        }
    }
}

/// An attempt through a proxy that does nothing.
async fn unbroken(deed: Deed, said: &str) -> Lengths {
    let peer = Peer::saying(said).await;
    let broken = Broken::before(&peer.url).await;
    let answer = attempt(deed, &broken.url, PLENTY).await;
    assert_eq!(answer.expect("an answer"), ticket());
    lengths(&broken.record().await)
}

/// Kind, sent and code of what may have arrived.
fn maybe(deed: Deed, code: &str) -> (FailureKind, Sent, String) {
    let kind = match deed {
        Deed::Reads => FailureKind::TransientTransport,
        Deed::WritesKeyed | Deed::WritesUnkeyed => FailureKind::EffectUnknown,
    };
    is(kind, Sent::MaybeSent, code)
}

/// What the adapter's contract says about the row's end.
fn judge(row: &Break, deed: Deed, ended: Result<Ticket, Failure>) {
    let place = format!("{}, {deed:?}", row.name);
    match row.ends {
        Ends::Answered => assert_eq!(ended.expect(&place), ticket(), "{place}"),
        Ends::Lost => assert_eq!(told(ended), maybe(deed, "CONNECTION_LOST"), "{place}"),
        Ends::TimeUp => assert_eq!(told(ended), maybe(deed, "ATTEMPT_TIMEOUT"), "{place}"),
        Ends::Refused => {
            let heard = told(ended);
            let not_sent = |code| is(FailureKind::TransientTransport, Sent::NotSent, code);
            let allowed = [
                not_sent("CONNECT_FAILED"),
                not_sent("CONNECTION_LOST"),
                maybe(deed, "CONNECTION_LOST"),
            ];
            assert!(allowed.contains(&heard), "{place}: {heard:?}");
        }
    }
}

async fn meet_every_break(deed: Deed) {
    let lengths = unbroken(deed, &reply(201, TICKET_JSON)).await;
    for row in &BREAKS {
        let peer = Peer::saying(reply(201, TICKET_JSON)).await;
        let broken = Broken::with(&peer.url, (row.fault)(lengths)).await;
        let time = if row.ends == Ends::TimeUp {
            SHORT
        } else {
            PLENTY
        };
        let ended = attempt(deed, &broken.url, time).await;
        if row.arrives {
            peer.arrival().await;
        }
        judge(row, deed, ended);
        check(row, &broken.record().await, lengths, peer.requests().len());
    }
}

#[tokio::test]
async fn every_way_a_connection_breaks_is_told_as_the_contract_says() {
    // Side by side: most of the time of each is spent on waiting for a time to be up.
    let [reads, keyed, unkeyed] = DEEDS.map(meet_every_break);
    tokio::join!(reads, keyed, unkeyed);
}

#[tokio::test]
async fn a_request_cut_anywhere_is_not_sent_only_if_it_never_arrives() {
    let whole = unbroken(Deed::WritesKeyed, &reply(201, TICKET_JSON))
        .await
        .request;
    for bytes in (0..=whole).step_by(5).chain([whole - 1, whole]) {
        for reset in [false, true] {
            let peer = Peer::saying(reply(201, TICKET_JSON)).await;
            let direction = Direction::Request;
            let fault = Fault::CutAfter {
                direction,
                bytes,
                reset,
            };
            let broken = Broken::with(&peer.url, fault).await;
            let failure = failed(attempt(Deed::WritesKeyed, &broken.url, PLENTY).await);
            let record = broken.record().await;
            assert_eq!(record.request.passed, bytes);
            // A byte left, so nothing proves that the rest did not.
            assert_eq!(failure.sent, Sent::MaybeSent, "{bytes} {reset}");
            assert_eq!(failure.kind, FailureKind::EffectUnknown, "{bytes} {reset}");
            assert!(
                bytes == whole || peer.requests().is_empty(),
                "{bytes} {reset}"
            );
        }
    }
}

#[tokio::test]
async fn a_refused_connection_is_called_not_sent_only_while_nothing_arrives() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let mut proven = 0;
    for round in 0..100 {
        let deed = DEEDS[round % DEEDS.len()];
        let broken = Broken::with(&peer.url, Fault::Refuse).await;
        let failure = failed(attempt(deed, &broken.url, PLENTY).await);
        proven += usize::from(failure.sent == Sent::NotSent);
        assert_ne!(failure.sent, Sent::Answered);
        let record = broken.record().await;
        assert_eq!((record.request.read, record.hit), (0, true));
    }
    eprintln!("{proven} of 100 were proven not sent");
    assert_eq!((peer.requests().len(), peer.connections()), (0, 0));
}

#[tokio::test]
async fn a_reply_that_ends_between_two_chunks_is_no_reply() {
    let (first, rest) = TICKET_JSON.split_at(9);
    let begin = format!(
        "HTTP/1.1 201 Whatever\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n",
        first.len()
    );
    let whole = format!("{begin}{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len());
    for deed in DEEDS {
        let lengths = unbroken(deed, &whole).await;
        assert_eq!(lengths.reply, whole.len() as u64);
        // Behind the first chunk, behind the second, before the last line of all.
        for bytes in [begin.len(), whole.len() - 5, whole.len() - 2] {
            for fault in [false, true] {
                let peer = Peer::saying(whole.as_str()).await;
                let (direction, bytes) = (Direction::Reply, bytes as u64);
                let fault = match fault {
                    true => Fault::HalfClose { direction, bytes },
                    false => Fault::CutAfter {
                        direction,
                        bytes,
                        reset: false,
                    },
                };
                let broken = Broken::with(&peer.url, fault).await;
                let ended = attempt(deed, &broken.url, PLENTY).await;
                assert_eq!(
                    told(ended),
                    maybe(deed, "CONNECTION_LOST"),
                    "{fault:?} {deed:?}"
                );
                assert!(broken.record().await.hit);
                assert_eq!(peer.requests().len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_kept_connection_that_breaks_under_the_next_request_is_one_request_each() {
    let said = reply(201, TICKET_JSON);
    let first = unbroken(Deed::WritesKeyed, &said).await;
    for reset in [false, true] {
        let peer = Peer::acting([Act::Say(said.clone().into_bytes())]).await;
        // The second reply on the same connection is cut in its head.
        let fault = Fault::CutAfter {
            direction: Direction::Reply,
            bytes: first.reply + 20,
            reset,
        };
        let broken = Broken::with(&peer.url, fault).await;
        let write = keyed(&client(&broken.url));
        write
            .send(new_ticket(0), &context())
            .await
            .expect("an answer");
        let ended = told(write.send(new_ticket(1), &context()).await);
        assert_eq!(ended, maybe(Deed::WritesKeyed, "CONNECTION_LOST"));
        assert!(broken.record().await.hit);
        assert_eq!((peer.connections(), peer.requests().len()), (1, 2));
    }
}

#[tokio::test]
async fn a_reply_without_a_length_that_is_cut_is_no_answer() {
    let head = "HTTP/1.1 201 Whatever\r\n\r\n";
    let whole = format!("{head}{TICKET_JSON}");
    let direction = Direction::Reply;
    for deed in DEEDS {
        for bytes in [head.len(), head.len() + 1, whole.len() - 1].map(|bytes| bytes as u64) {
            for reset in [false, true] {
                let peer = Peer::acting([Act::SayAndClose(whole.clone().into_bytes())]).await;
                let fault = Fault::CutAfter {
                    direction,
                    bytes,
                    reset,
                };
                let broken = Broken::with(&peer.url, fault).await;
                let heard = told(attempt(deed, &broken.url, PLENTY).await);
                // An orderly end is how such a reply ends, so only its content can tell.
                let wanted = match (reset, deed) {
                    (true, _) => maybe(deed, "CONNECTION_LOST"),
                    (false, Deed::Reads) => {
                        is(FailureKind::ResultInvalid, Sent::Answered, "REPLY_INVALID")
                    }
                    (false, _) => maybe(deed, "REPLY_INVALID"),
                };
                assert_eq!(heard, wanted, "{bytes} {reset} {deed:?}");
                assert!(broken.record().await.hit);
            }
        }
    }
}
