//! Without a fault: what goes in comes out, both ways, and so do ends and resets.

use std::sync::LazyLock;

use mainstay_fault_proxy::{End, Plan, Side};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::support::{Line, Place, read, read_to_end, read_to_reset, send, soon};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let builder = builder.worker_threads(2).enable_all();
    builder.build().expect("threads")
});

/// Chunks of one direction: their lengths.
fn chunks() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![1_usize..64, 1_usize..40_000];
    proptest::collection::vec(length, 0..8)
}

/// Bytes that differ wherever they are.
fn content(chunks: &[usize], salt: u8) -> Vec<u8> {
    let total: usize = chunks.iter().sum();
    let byte = |at: usize| (at % 251).to_le_bytes()[0] ^ salt;
    (0..total).map(byte).collect()
}

/// Sends in these chunks, ends its direction, and hears the other side to its end.
async fn talk(stream: &mut TcpStream, chunks: &[usize], salt: u8) -> Vec<u8> {
    let (mut from, mut to) = stream.split();
    let whole = content(chunks, salt);
    let sending = async {
        let mut rest = whole.as_slice();
        for length in chunks {
            let (chunk, after) = rest.split_at(*length);
            to.write_all(chunk).await.expect("it takes it");
            tokio::task::yield_now().await;
            rest = after;
        }
        to.shutdown().await.expect("it is open");
    };
    let mut heard = Vec::new();
    let (_, ended) = tokio::join!(sending, from.read_to_end(&mut heard));
    ended.expect("an orderly end");
    heard
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out_both_ways_whatever_the_chunks(asked in chunks(), said in chunks()) {
        let (at_server, at_client, record) = RUNTIME.block_on(async {
            let place = Place::with(Plan::default()).await;
            let mut line = place.line().await;
            let client = talk(&mut line.client, &asked, 0);
            let server = talk(&mut line.server, &said, 85);
            let (heard, arrived) = soon(async { tokio::join!(client, server) }).await;
            (arrived, heard, place.record(1).await)
        });
        prop_assert!(at_server == content(&asked, 0), "the request changed");
        prop_assert!(at_client == content(&said, 85), "the reply changed");
        prop_assert_eq!(record.request.passed, at_server.len() as u64);
        prop_assert_eq!(record.reply.passed, at_client.len() as u64);
        prop_assert_eq!((record.fault, record.hit, record.end), (None, false, End::Closed));
    }
}

#[tokio::test]
async fn a_half_close_of_either_side_is_a_half_close_for_the_other() {
    let place = Place::with(Plan::default()).await;
    let mut line = place.line().await;
    send(&mut line.client, b"all I have").await;
    line.client.shutdown().await.expect("it is open");
    assert_eq!(read_to_end(&mut line.server).await, b"all I have");
    send(&mut line.server, b"still here").await;
    assert_eq!(read(&mut line.client, 10).await, b"still here");

    let mut other = place.line().await;
    other.server.shutdown().await.expect("it is open");
    assert_eq!(read_to_end(&mut other.client).await, b"");
    send(&mut other.client, b"still here").await;
    assert_eq!(read(&mut other.server, 10).await, b"still here");
}

/// A connection that has been used: one that is reset before may never have stood for the proxy.
async fn standing(place: &Place) -> Line {
    let mut line = place.line().await;
    send(&mut line.client, b"?").await;
    assert_eq!(read(&mut line.server, 1).await, b"?");
    line
}

#[tokio::test]
async fn a_reset_of_either_side_is_a_reset_for_the_other() {
    let place = Place::with(Plan::default()).await;
    let mut line = standing(&place).await;
    line.server.set_zero_linger().expect("a socket option");
    drop(line.server);
    assert_eq!(read_to_reset(&mut line.client).await, b"");
    let end = place.record(1).await.end;
    assert!(
        matches!(
            &end,
            End::Lost {
                side: Side::Upstream,
                ..
            }
        ),
        "{end:?}"
    );

    let mut line = standing(&place).await;
    line.client.set_zero_linger().expect("a socket option");
    drop(line.client);
    assert_eq!(read_to_reset(&mut line.server).await, b"");
    let end = place.record(2).await.end;
    assert!(
        matches!(
            &end,
            End::Lost {
                side: Side::Client,
                ..
            }
        ),
        "{end:?}"
    );
}

#[tokio::test]
async fn a_receiver_that_does_not_read_holds_its_sender_back() {
    let place = Place::with(Plan::default()).await;
    let mut line = place.line().await;
    // More than the buffers of the system and of the proxy together.
    let much = vec![7; 64 << 20];
    let mut sent = 0;
    let filling = async {
        while sent < much.len() {
            sent += line.client.write(&much[sent..]).await.expect("it is open");
        }
    };
    // A wait that has to end without the thing it waits for; the direction of doubt is harmless.
    let _ = tokio::time::timeout(std::time::Duration::from_millis(300), filling).await;
    assert!(sent < much.len(), "all of it is somewhere in between");
    drop(line.client);
    assert_eq!(read_to_end(&mut line.server).await.len(), sent);
}

#[tokio::test]
async fn an_early_reply_gets_through_though_the_request_is_never_read() {
    let place = Place::with(Plan::default()).await;
    let Line { client, mut server } = standing(&place).await;
    let (mut from, mut to) = client.into_split();
    // It ends when nobody takes it any more.
    let asking = tokio::spawn(async move { to.write_all(&vec![7; 32 << 20]).await });
    send(&mut server, b"413, and no more of it").await;
    // With bytes unread, or still to come, the system ends this with a reset.
    drop(server);
    let mut heard = Vec::new();
    let _ = soon(from.read_to_end(&mut heard)).await;
    assert_eq!(heard, b"413, and no more of it");
    assert!(soon(asking).await.expect("no panic").is_err());
    let end = place.record(1).await.end;
    assert!(matches!(end, End::Lost { .. }), "{end:?}");
}
