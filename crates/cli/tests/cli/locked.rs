//! Stores whose holder answers strangely, or not at all.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use crate::story::{Story, run_id};
use crate::support::{ask, open, store};

/// Listens where an engine would, answers the first request of each connection with `body` under
/// `status`, and closes.
fn impostor(store: &Path, status: &'static str, body: &'static str) {
    let folder = store.join("socket");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(folder.join("engine.sock")).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4_096];
            let _ = stream.read(&mut bytes).unwrap();
            let length = body.len();
            // Whoever has gone meanwhile needs no answer.
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\
                 \r\n\r\n{body}"
            );
        }
    });
}

#[test]
fn a_socket_that_a_killed_process_left_does_not_keep_anybody_out() {
    let store = store(&[Story::completed(1, "{}")]);
    let folder = store.path().join("socket");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(folder.join("engine.sock")).unwrap());
    let listing = ask(store.path(), &["runs"]).data();
    assert!(listing.contains(&run_id(1).to_string()), "{listing}");
}

#[test]
fn a_holder_of_another_protocol_is_named_and_nothing_is_opened_beside_it() {
    let store = store(&[Story::completed(1, "{}")]);
    let version = r#"{"protocol":2,"mainstay":"0.3.0","pid":4182}"#;
    impostor(store.path(), "200 OK", version);
    let said = ask(store.path(), &["runs"]);
    assert_eq!((said.code, said.out.as_str()), (3, ""));
    assert!(said.err.starts_with("SOCKET_PROTOCOL: "), "{said:?}");
    assert!(said.err.contains("mainstay 0.3.0, pid 4182"), "{said:?}");
    assert!(
        said.err
            .contains("\n\nhint: use the program of that version"),
        "{said:?}"
    );
}

#[test]
fn a_busy_holder_is_a_refusal() {
    let store = store(&[]);
    let busy =
        r#"{"code":"SOCKET_BUSY","message":"64 callers","hint":"again","retry_helps":"yes"}"#;
    impostor(store.path(), "503 Service Unavailable", busy);
    let error = ask(store.path(), &["status", "--json"]).json_error(1);
    assert_eq!(error["code"], "SOCKET_BUSY");
    assert_eq!(
        (&error["message"], &error["retry_helps"]),
        (&"64 callers".into(), &"yes".into())
    );
}

#[test]
fn a_holder_that_talks_nonsense_holds_the_store_all_the_same() {
    let store = store(&[]);
    impostor(store.path(), "200 OK", "<html>");
    // Nobody holds it: whoever listens there is of no importance.
    ask(store.path(), &["runs", "--json"]).data();
    let _holder = open(store.path());
    let error = ask(store.path(), &["runs", "--json"]).json_error(3);
    assert_eq!(error["code"], "STORE_LOCKED");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("it does not say its version"), "{message}");
}

#[test]
fn a_holder_whose_socket_may_not_be_trusted_is_named_with_the_reason() {
    let store = store(&[]);
    let folder = store.path().join("socket");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    // Free: the socket is not needed.
    ask(store.path(), &["runs", "--json"]).data();
    let holder = open(store.path());
    let said = ask(store.path(), &["runs"]);
    assert_eq!((said.code, said.out.as_str()), (3, ""));
    assert!(said.err.starts_with("STORE_LOCKED: "), "{said:?}");
    assert!(
        said.err.contains("is not the store owner's own folder"),
        "{said:?}"
    );
    drop(holder);
}
