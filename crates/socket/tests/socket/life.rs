//! The socket's own life: it comes with the engine, goes with it, and keeps none from starting.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use mainstay_socket::{Ask, Client, LocalSocket, RunsAsk, place};
use mainstay_types::{Code, Millis};

use crate::support::{PATIENCE, Raw, Served, engine};

const BOUND: Millis = Millis::from_secs(1);

async fn answers(store: &std::path::Path) -> bool {
    let Some(path) = place::find(store).unwrap() else {
        return false;
    };
    match Client::connect(&path).await.unwrap() {
        Some(mut client) => client.ask(&Ask::Runs(RunsAsk::default())).await.is_ok(),
        None => false,
    }
}

#[tokio::test]
async fn the_socket_is_there_when_the_engine_has_started_and_gone_when_it_is_shut_down() {
    let served = Served::new().await;
    let path = served.path();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(answers(served.folder.path()).await);
    let folder = served.stop().await;
    assert!(!path.exists());
    assert_eq!(place::find(folder.path()), Ok(None));
    assert!(Client::connect(&path).await.unwrap().is_none());
}

#[tokio::test]
async fn an_engine_that_is_alone_has_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = std::sync::Arc::new(mainstay_ledger::MemoryLedger::new());
    let ports = mainstay_runtime::system::ports();
    let builder = mainstay_runtime::EngineBuilder::new(ledger, ports);
    let builder = builder.accompany(LocalSocket::of(folder.path())).alone();
    let engine = builder.start().await.unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    engine.shutdown(BOUND).await;
}

#[tokio::test]
async fn a_socket_that_a_dead_process_left_is_nobody_and_the_next_engine_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    fs::create_dir(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o700)).unwrap();
    // Dropping a listener leaves its file, as a kill does.
    drop(UnixListener::bind(socket.join("engine.sock")).unwrap());
    let path = place::find(folder.path())
        .unwrap()
        .expect("the file is there");
    assert!(Client::connect(&path).await.unwrap().is_none());
    let engine = engine(LocalSocket::of(folder.path())).await;
    assert!(answers(folder.path()).await);
    engine.shutdown(BOUND).await;
}

#[tokio::test]
async fn the_next_engines_socket_outlives_the_end_of_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let first = engine(LocalSocket::of(folder.path())).await;
    let second = engine(LocalSocket::of(folder.path())).await;
    first.shutdown(BOUND).await;
    assert!(answers(folder.path()).await);
    second.shutdown(BOUND).await;
    assert_eq!(place::find(folder.path()), Ok(None));
}

#[tokio::test]
async fn an_engine_that_is_dropped_takes_its_socket_with_it() {
    let Served { engine, folder } = Served::new().await;
    drop(engine);
    let gone = async {
        while place::find(folder.path()).unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("it goes");
}

#[test]
fn a_runtime_that_is_torn_down_leaves_no_file() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Served { engine, folder } = runtime.block_on(Served::new());
    drop(runtime);
    assert_eq!(place::find(folder.path()), Ok(None));
    drop(engine);
}

#[tokio::test]
async fn a_store_that_lies_too_deep_is_found_all_the_same() {
    let (above, short) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = above.path().join("d".repeat(120));
    fs::create_dir(&store).unwrap();
    let socket = LocalSocket::of(&store).short_folder(short.path().join("s"));
    let engine = engine(socket).await;
    assert!(answers(&store).await);
    engine.shutdown(BOUND).await;
    assert_eq!(place::find(&store), Ok(None));
    assert_eq!(fs::read_dir(short.path().join("s")).unwrap().count(), 0);
}

#[tokio::test]
async fn an_engine_starts_without_its_socket_when_there_is_no_place_for_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("socket"), "in the way").unwrap();
    let engine = engine(LocalSocket::of(folder.path())).await;
    assert!(place::find(folder.path()).is_err());
    engine.shutdown(BOUND).await;
    let text = fs::read_to_string(folder.path().join("socket")).unwrap();
    assert_eq!(text, "in the way");
}

#[tokio::test]
async fn an_engine_that_ends_does_not_wait_for_askers_who_do_nothing() {
    let served = Served::new().await;
    let mut idle = Raw::connect(&served.path()).await;
    let mut halfway = Raw::connect(&served.path()).await;
    halfway.say("GET /runs HTTP/1.1\r\n").await;
    let mut client = served.client().await;
    let stopping = served.stop();
    let _folder = tokio::time::timeout(PATIENCE, stopping).await.unwrap();
    assert_eq!(idle.rest().await, "");
    assert_eq!(halfway.rest().await, "");
    let failure = client.ask(&Ask::Classes).await.unwrap_err();
    assert_eq!(failure.code, Code::SocketFailed);
}
