//! Each fault: what both sides see, what the record says.

use std::time::{Duration, Instant};

use mainstay_fault_proxy::{Delayed, Direction, Directions, End, Fault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Line, Place, read, read_to_end, read_to_reset, send, soon};

const REQUEST: &[u8] = b"may I have a ticket, please?";
const REPLY: &[u8] = b"here is your ticket, number 7";

/// A time that a fault is given where its length is looked at.
const SHORT_MS: u64 = 120;
const SHORT: Duration = Duration::from_millis(SHORT_MS);

const fn cut(direction: Direction, bytes: u64, reset: bool) -> Fault {
    Fault::CutAfter {
        direction,
        bytes,
        reset,
    }
}

fn bytes(count: u64) -> usize {
    count.try_into().expect("small")
}

/// Asks, and answers what was asked.
async fn converse(line: &mut Line) {
    send(&mut line.client, REQUEST).await;
    assert_eq!(read(&mut line.server, REQUEST.len()).await, REQUEST);
    send(&mut line.server, REPLY).await;
}

#[tokio::test]
async fn a_reply_is_cut_after_its_bytes_by_an_end_or_a_reset() {
    for (reset, count) in [(false, 0), (false, 9), (true, 0), (true, 9)] {
        let place = Place::doing(cut(Direction::Reply, count, reset)).await;
        let mut line = place.line().await;
        converse(&mut line).await;
        let heard = match reset {
            false => read_to_end(&mut line.client).await,
            true => read_to_reset(&mut line.client).await,
        };
        assert_eq!(heard, &REPLY[..bytes(count)], "{reset}");
        match reset {
            false => assert_eq!(read_to_end(&mut line.server).await, b""),
            true => assert_eq!(read_to_reset(&mut line.server).await, b""),
        }
        drop(line);
        let record = place.record(1).await;
        assert_eq!((record.hit, record.end), (true, End::Fault));
        assert_eq!((record.reply.passed, record.reply.read), (count, 29));
        assert_eq!(record.request.passed, 28);
    }
}

#[tokio::test]
async fn a_request_is_cut_after_its_bytes_and_its_client_learns_of_it() {
    for (reset, count) in [(false, 0), (false, 9), (true, 0), (true, 9)] {
        let place = Place::doing(cut(Direction::Request, count, reset)).await;
        let mut line = place.line().await;
        send(&mut line.client, REQUEST).await;
        let (arrived, heard) = match reset {
            false => (
                read_to_end(&mut line.server).await,
                read_to_end(&mut line.client).await,
            ),
            true => (
                read_to_reset(&mut line.server).await,
                read_to_reset(&mut line.client).await,
            ),
        };
        assert_eq!(
            (arrived.as_slice(), heard.as_slice()),
            (&REQUEST[..bytes(count)], &b""[..])
        );
        drop(line);
        let record = place.record(1).await;
        assert!(record.hit && record.request.passed == count, "{record:?}");
    }
}

#[tokio::test]
async fn a_fault_whose_bytes_never_come_does_not_hit() {
    let far = REPLY.len() as u64 + 1;
    for fault in [
        cut(Direction::Reply, far, true),
        Fault::HalfClose {
            direction: Direction::Reply,
            bytes: far,
        },
    ] {
        let place = Place::doing(fault).await;
        let mut line = place.line().await;
        converse(&mut line).await;
        assert_eq!(read(&mut line.client, REPLY.len()).await, REPLY);
        drop(line);
        let record = place.record(1).await;
        assert_eq!((record.fault, record.hit), (Some(fault), false));
        assert_eq!(record.end, End::Closed);
    }
}

#[tokio::test]
async fn a_dropped_reply_is_swallowed_and_the_client_hears_nothing_until_the_hold_is_over() {
    let place = Place::doing(Fault::DropReply { hold_ms: SHORT_MS }).await;
    let mut line = place.line().await;
    let began = Instant::now();
    converse(&mut line).await;
    line.server.shutdown().await.expect("it is open");
    assert_eq!(read_to_end(&mut line.client).await, b"");
    assert!(
        SHORT <= began.elapsed(),
        "the end of the server got through"
    );
    drop(line);
    let record = place.record(1).await;
    assert_eq!((record.hit, record.end), (true, End::Fault));
    assert_eq!((record.request.passed, record.reply.read), (28, 29));
    assert_eq!(record.reply.passed, 0);
}

#[tokio::test]
async fn a_half_close_ends_one_direction_and_leaves_the_other_open() {
    let place = Place::doing(Fault::HalfClose {
        direction: Direction::Reply,
        bytes: 4,
    })
    .await;
    let mut line = place.line().await;
    converse(&mut line).await;
    assert_eq!(read_to_end(&mut line.client).await, b"here");
    send(&mut line.client, b"and another").await;
    assert_eq!(read(&mut line.server, 11).await, b"and another");
    drop(line);
    let record = place.record(1).await;
    assert_eq!((record.hit, record.reply.passed), (true, 4));
    assert_eq!((record.request.passed, record.end), (39, End::Closed));
}

#[tokio::test]
async fn a_half_closed_request_can_still_be_answered() {
    let place = Place::doing(Fault::HalfClose {
        direction: Direction::Request,
        bytes: 3,
    })
    .await;
    let mut line = place.line().await;
    send(&mut line.client, REQUEST).await;
    assert_eq!(read_to_end(&mut line.server).await, b"may");
    send(&mut line.server, REPLY).await;
    line.server.shutdown().await.expect("it is open");
    assert_eq!(read_to_end(&mut line.client).await, REPLY);
    drop(line);
    let record = place.record(1).await;
    assert_eq!((record.request.read, record.request.passed), (28, 3));
    assert_eq!(record.end, End::Closed);
}

#[tokio::test]
async fn a_refused_connection_is_reset_and_the_upstream_is_not_connected_to() {
    let place = Place::doing(Fault::Refuse).await;
    let mut client = place.client().await;
    // Whichever comes first tells of the reset; what comes after it may not any more.
    let told = match client.write_all(REQUEST).await {
        Ok(()) => soon(client.read_u8()).await.map(drop),
        refused => refused,
    };
    let error = told.expect_err("a reset");
    assert_ne!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    let record = place.record(1).await;
    assert_eq!((record.hit, record.end), (true, End::Fault));
    assert_eq!((record.request.read, record.reply.read), (0, 0));
    place.leave_untouched();
}

#[tokio::test]
async fn a_stalled_connection_is_silent_for_its_time_and_then_reset() {
    let place = Place::doing(Fault::Stall { hold_ms: SHORT_MS }).await;
    let began = Instant::now();
    let mut client = place.client().await;
    send(&mut client, REQUEST).await;
    assert_eq!(read_to_reset(&mut client).await, b"");
    assert!(SHORT <= began.elapsed());
    let record = place.record(1).await;
    assert_eq!((record.hit, record.request.read), (true, 0));
    place.leave_untouched();
}

#[tokio::test]
async fn a_delay_lets_the_first_byte_wait_or_every_chunk() {
    for (what, chunks) in [(Delayed::FirstByte, 1), (Delayed::EachChunk, 3)] {
        let place = Place::doing(Fault::Delay {
            direction: Directions::Both,
            ms: SHORT_MS,
            what,
        })
        .await;
        let mut line = place.line().await;
        let began = Instant::now();
        for chunk in ["one", "two", "three"] {
            send(&mut line.client, chunk.as_bytes()).await;
            // The next one is sent when this one has come, so they are three.
            assert_eq!(read(&mut line.server, chunk.len()).await, chunk.as_bytes());
        }
        assert!(SHORT * chunks <= began.elapsed(), "{what:?}");
        send(&mut line.server, REPLY).await;
        assert_eq!(read(&mut line.client, REPLY.len()).await, REPLY);
        assert!(SHORT * (chunks + 1) <= began.elapsed(), "{what:?}");
        drop(line);
        assert!(place.record(1).await.hit);
    }
}

#[tokio::test]
async fn a_throttle_is_never_faster_than_its_rate() {
    let place = Place::doing(Fault::Throttle {
        direction: Directions::Reply,
        bytes_per_second: 100,
    })
    .await;
    let mut line = place.line().await;
    let began = Instant::now();
    converse(&mut line).await;
    assert_eq!(read(&mut line.client, REPLY.len()).await, REPLY);
    assert!(Duration::from_millis(290) <= began.elapsed());
    drop(line);
    let record = place.record(1).await;
    assert_eq!((record.hit, record.reply.passed), (true, 29));
}
