//! The engine that `open` makes serves its store's local socket, unless it is to be alone.

#![cfg(all(feature = "sled", feature = "socket"))]

use mainstay::Millis;
use mainstay::socket::{Ask, Client, place};

#[tokio::test]
async fn an_opened_engine_answers_at_its_socket_until_it_is_shut_down() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let engine = mainstay::open(folder.path())
            .unwrap()
            .start()
            .await
            .unwrap();
        let path = place::find(folder.path()).unwrap().expect("a socket");
        let mut client = Client::connect(&path).await.unwrap().expect("an engine");
        let status = client.ask(&Ask::Status).await.unwrap();
        assert!(status.body.contains("\"drives\":true"), "{}", status.body);
        drop(client);
        engine.shutdown(Millis::from_secs(1)).await;
        assert_eq!(place::find(folder.path()), Ok(None));
        // The store is free again at once: the next turn of this loop opens it.
    }
}

#[tokio::test]
async fn an_engine_that_is_to_be_alone_has_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let engine = mainstay::open(folder.path()).unwrap().alone();
    let engine = engine.start().await.unwrap();
    assert_eq!(place::find(folder.path()), Ok(None));
    engine.shutdown(Millis::from_secs(1)).await;
}
