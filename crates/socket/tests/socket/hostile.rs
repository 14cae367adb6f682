//! Bytes that no friend sends.

use mainstay_socket::{Ask, RunsAsk};
use mainstay_types::limits;
use tokio::io::AsyncWriteExt;

use crate::support::{Raw, Served, get, small};

/// The engine's end still serves others.
async fn is_well(served: &Served) {
    let mut client = served.client().await;
    client.ask(&Ask::Runs(RunsAsk::default())).await.unwrap();
}

const POST: &str = "POST /runs/0192f0c4-7d1e-7c55-9d0a-5b7c1a2f3e44/cancel HTTP/1.1\r\n\
                    host: engine\r\n";

#[tokio::test]
async fn garbage_is_answered_with_an_error_or_with_nothing() {
    let served = Served::with(small()).await;
    let zeros = [0_u8; 512];
    let tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for bytes in [
        &zeros[..],
        tls,
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        &[0xff; 64],
    ] {
        let mut raw = Raw::connect(&served.path()).await;
        raw.say(bytes).await;
        let told = raw.rest().await;
        assert!(!told.contains("HTTP/1.1 200"), "{bytes:?}: {told}");
    }
    is_well(&served).await;
}

#[tokio::test]
async fn a_head_that_does_not_end_is_cut_off() {
    let served = Served::with(small()).await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say("GET /status HTTP/1.1\r\n").await;
    let line = format!("x-filler: {}\r\n", "x".repeat(1_000));
    // Until the other end has had enough and closes.
    let mut sent = 0;
    while raw.0.write_all(line.as_bytes()).await.is_ok() {
        sent += line.len();
        assert!(
            sent < 64 * limits::SOCKET_HEAD_BYTES_MAX,
            "it takes everything"
        );
    }
    is_well(&served).await;
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_has_no_more_time_than_another() {
    let served = Served::with(small()).await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say("GET /version HTTP/1.1\r\nx: ").await;
    // Never the end of the head: only the clock at the other end can end this.
    let told = raw.rest().await;
    assert!(!told.contains("HTTP/1.1 200"), "{told}");
    is_well(&served).await;
}

#[tokio::test]
async fn a_body_that_is_said_to_be_too_large_is_not_read() {
    let served = Served::with(small()).await;
    let mut raw = Raw::connect(&served.path()).await;
    let length = limits::SOCKET_BODY_BYTES_MAX + 1;
    raw.say(format!("{POST}content-length: {length}\r\n\r\n"))
        .await;
    // Not one byte of it was sent.
    let told = raw.rest().await;
    assert!(told.starts_with("HTTP/1.1 413 "), "{told}");
    assert!(told.contains("\"code\":\"PAYLOAD_TOO_LARGE\""), "{told}");
    is_well(&served).await;
}

#[tokio::test]
async fn a_body_in_chunks_is_cut_off_at_the_same_size() {
    let served = Served::with(small()).await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(format!("{POST}transfer-encoding: chunked\r\n\r\n"))
        .await;
    let chunk = format!("{:x}\r\n{}\r\n", 4_096, " ".repeat(4_096));
    let mut sent = 0;
    while sent <= limits::SOCKET_BODY_BYTES_MAX {
        if raw.0.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
        sent += 4_096;
    }
    let told = raw.rest().await;
    assert!(told.starts_with("HTTP/1.1 413 "), "{told}");
    is_well(&served).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let served = Served::with(small()).await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(format!("{POST}content-length: 100\r\n\r\n{{\"by\":"))
        .await;
    let told = raw.until("\"retry_helps\":\"no\"}").await;
    assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
    assert!(told.contains("did not come within 200 ms"), "{told}");
    is_well(&served).await;
}

#[tokio::test]
async fn one_who_has_said_everything_and_closed_that_half_hears_the_answer() {
    let served = Served::new().await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(get("/runs")).await;
    raw.0.shutdown().await.unwrap();
    let told = raw.rest().await;
    assert!(told.contains("\"next_cursor\":null}"), "{told}");
}

#[tokio::test]
async fn one_who_goes_in_the_middle_costs_nobody_anything() {
    let served = Served::with(small()).await;
    // More than there are places, one after the other.
    for part in ["", "GET", "GET /runs HTTP/1.1\r\n", &get("/runs")].repeat(5) {
        let mut raw = Raw::connect(&served.path()).await;
        raw.say(part).await;
    }
    let well = async {
        while mainstay_socket::Client::connect(&served.path())
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, well)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_question_that_is_none_is_refused_with_the_list_of_those_there_are() {
    let served = Served::new().await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(get("/../../etc/passwd")).await;
    let told = raw.until("\"retry_helps\":\"no\"}").await;
    assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
    assert!(told.contains("POST /runs/ID/cancel"), "{told}");
}
