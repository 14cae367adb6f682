//! More askers than there is room for.

use std::time::Duration;

use mainstay_socket::{Ask, Bounds, Client, RunsAsk};
use mainstay_types::Code;

use crate::support::{PATIENCE, Raw, Served, get, small};

/// How many are tried at once in a flood.
const FLOOD: usize = 200;

fn patient_but_small() -> Bounds {
    Bounds {
        read_within: PATIENCE,
        ..small()
    }
}

/// Connections that have their place for certain: each has been answered once.
async fn hold(served: &Served, places: usize) -> Vec<Raw> {
    let mut held = Vec::new();
    for _ in 0..places {
        let mut raw = Raw::connect(&served.path()).await;
        raw.say(get("/version")).await;
        raw.until("\"protocol\":1").await;
        held.push(raw);
    }
    held
}

#[tokio::test]
async fn one_more_than_there_is_room_for_is_told_so_and_served_once_there_is() {
    let served = Served::with(patient_but_small()).await;
    let mut held = hold(&served, 3).await;
    let failure = Client::connect(&served.path()).await.unwrap_err();
    assert_eq!(failure.code, Code::SocketBusy);
    assert!(failure.message.starts_with("3 callers"), "{failure}");
    drop(held.pop());
    // The place is free once the engine's end has seen the other one go.
    let served_again = async {
        loop {
            match Client::connect(&served.path()).await {
                Ok(client) => return client.unwrap(),
                Err(failure) => assert_eq!(failure.code, Code::SocketBusy),
            }
        }
    };
    let mut client = tokio::time::timeout(PATIENCE, served_again).await.unwrap();
    client.ask(&Ask::Runs(RunsAsk::default())).await.unwrap();
}

#[tokio::test]
async fn a_flood_of_connections_takes_no_place_from_those_who_have_one() {
    let served = Served::with(patient_but_small()).await;
    let mut client = served.client().await;
    let _held = hold(&served, 2).await;
    let mut flood = Vec::new();
    for _ in 0..FLOOD {
        flood.push(Raw::connect(&served.path()).await);
    }
    client.ask(&Ask::Runs(RunsAsk::default())).await.unwrap();
    // Every one of them is closed in the end, told why or not; none is served.
    for mut raw in flood {
        let told = raw.rest().await;
        assert!(!told.contains("HTTP/1.1 200"), "{told}");
    }
    client.ask(&Ask::Classes).await.unwrap();
}

#[tokio::test]
async fn those_who_connect_and_say_nothing_lose_their_place() {
    let served = Served::with(small()).await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(Raw::connect(&served.path()).await);
    }
    for raw in &mut idle {
        let told = raw.rest().await;
        assert!(!told.contains("200"), "{told}");
    }
    let connected = async {
        while Client::connect(&served.path()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, connected).await.unwrap();
}

#[tokio::test]
async fn no_connection_lives_beyond_its_bound_however_busy_it_is() {
    let served = Served::with(Bounds {
        connection_within: Duration::from_millis(300),
        ..small()
    })
    .await;
    let mut client = served.client().await;
    let asking = async {
        loop {
            if let Err(failure) = client.ask(&Ask::Classes).await {
                return failure;
            }
        }
    };
    let failure = tokio::time::timeout(PATIENCE, asking).await.unwrap();
    assert_eq!(failure.code, Code::SocketFailed);
}
