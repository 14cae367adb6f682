//! Another user than the engine's: refused by the operating system's word, not by the file's mode.
//!
//! Needs root, to become somebody else; says so loudly where it cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use mainstay_socket::{Client, place};
use mainstay_types::Code;

use crate::support::Served;

/// Where the child of this test finds the socket.
const PLACE: &str = "MAINSTAY_TEST_SOCKET";
const NOBODY: u32 = 65_534;
const OWN_NAME: &str = "other_user::another_user_is_refused_whatever_the_files_allow";

fn open_to_all(path: &Path) {
    let mode = fs::Permissions::from_mode(0o777);
    fs::set_permissions(path, mode).unwrap();
}

/// As somebody else.
async fn ask_as_another(path: &Path) {
    let failure = Client::connect(path).await.unwrap_err();
    assert_eq!(failure.code, Code::SocketForbidden);
    let told = format!("uid 0 and root, not uid {NOBODY}");
    assert!(failure.message.contains(&told), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_is_refused_whatever_the_files_allow() {
    if let Some(path) = std::env::var_os(PLACE) {
        return ask_as_another(Path::new(&path)).await;
    }
    if place::own_uid() != 0 {
        eprintln!("SKIPPED: becoming another user needs root");
        return;
    }
    let served = Served::new().await;
    let path = served.path();
    for opened in [served.folder.path(), path.parent().unwrap(), &path] {
        open_to_all(opened);
    }
    // The test binary itself may lie where another user cannot go.
    let exe = served.folder.path().join("asker");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    let child = tokio::task::spawn_blocking(move || {
        let mut asker = Command::new(exe);
        asker.args(["--exact", OWN_NAME, "--nocapture"]).uid(NOBODY);
        asker.env(PLACE, path).current_dir("/").output().unwrap()
    });
    let said = child.await.unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.status.success(),
        "{out}{}",
        String::from_utf8_lossy(&said.stderr)
    );
    assert!(out.contains("1 passed"), "{out}");
}
