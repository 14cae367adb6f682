//! The program itself: its announcement, its pid file, signals, and what survives kill -9.
//!
//! It must never leave a process behind: each is killed when its handle is dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::support::payload;
use reqwest::StatusCode;
use service_kit::Announcement;
use ticket_service::{LogPage, Status, Ticket};

struct Program {
    child: Child,
    announced: Announcement,
}

impl Program {
    fn start(dir: &Path, more: &[&str]) -> Program {
        let mut child = command(dir)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let announced = serde_json::from_str(&line).unwrap();
        Program { child, announced }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.announced.listening)
    }

    fn signal(mut self, name: &str) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ticket-service"));
    command
        .arg("--db")
        .arg(dir.join("tickets.db"))
        .args(["--listen", "127.0.0.1:0"]);
    command.arg("--pid-file").arg(dir.join("tickets.pid"));
    command
}

async fn post(program: &Program, key: &str, position: u32) -> reqwest::Result<StatusCode> {
    let request = reqwest::Client::new().post(program.url("/tickets"));
    let request = request.header("Idempotency-Key", format!("\"{key}\""));
    Ok(request.json(&payload(position, "a")).send().await?.status())
}

#[tokio::test]
async fn the_pid_file_says_what_stdout_says_and_goes_with_a_clean_stop() {
    for signal in ["-TERM", "-INT"] {
        let dir = tempfile::tempdir().unwrap();
        let program = Program::start(dir.path(), &[]);
        let pid_file = dir.path().join("tickets.pid");
        assert_eq!(program.announced.pid, program.child.id());
        assert_eq!(program.announced.db, Some(dir.path().join("tickets.db")));
        assert_eq!(
            Announcement::read(&pid_file).as_ref(),
            Some(&program.announced)
        );
        assert_eq!(
            reqwest::get(program.url("/health")).await.unwrap().status(),
            StatusCode::OK
        );
        assert!(program.signal(signal).success());
        assert!(!pid_file.exists());
    }
}

#[tokio::test]
async fn tickets_keys_and_the_request_log_survive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::start(dir.path(), &["--fault", "delay@9,delay_ms=60000"]);
    assert_eq!(post(&program, "k1", 1).await.unwrap(), StatusCode::CREATED);
    // Held open by the delay, so it is in flight when the process dies.
    let cut = post(&program, "k9", 9);
    let kill = async {
        let mut log: LogPage;
        while {
            log = reqwest::get(program.url("/requests"))
                .await
                .unwrap()
                .json()
                .await
                .unwrap();
            log.total < 2
        } {}
        let pid = program.child.id().to_string();
        Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    };
    let (cut, ()) = tokio::join!(cut, kill);
    assert!(cut.is_err());
    drop(program);
    assert!(dir.path().join("tickets.pid").exists());

    let program = Program::start(dir.path(), &[]);
    let log: LogPage = reqwest::get(program.url("/requests"))
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let statuses: Vec<_> = log.requests.iter().map(|e| (e.seq, e.status)).collect();
    assert_eq!(statuses, [(1, Status::Code(201)), (2, Status::UNFINISHED)]);
    assert_eq!(post(&program, "k1", 1).await.unwrap(), StatusCode::OK);
    let path = program.url("/tickets/by-key/k9");
    assert_eq!(
        reqwest::get(path).await.unwrap().status(),
        StatusCode::NOT_FOUND
    );
    let path = program.url("/tickets/by-key/k1");
    let ticket: Ticket = reqwest::get(path).await.unwrap().json().await.unwrap();
    assert_eq!(ticket.id, "T-1");
}

#[tokio::test]
async fn a_stop_lets_an_accepted_request_end() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::start(dir.path(), &["--fault", "delay:1@1,delay_ms=700"]);
    let post = post(&program, "k1", 1);
    let stop = async {
        loop {
            let path = program.url("/tickets/by-key/k1");
            if reqwest::get(path).await.unwrap().status() == StatusCode::ACCEPTED {
                break;
            }
        }
        let pid = program.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    };
    let (status, ()) = tokio::join!(post, stop);
    assert_eq!(status.unwrap(), StatusCode::CREATED);
}

#[test]
fn a_second_process_on_the_same_database_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::start(dir.path(), &[]);
    let second = command(dir.path()).output().unwrap();
    assert!(!second.status.success());
    assert_eq!(second.stdout, b"");
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(
        said.contains("tickets.db is in use by another ticket-service"),
        "{said}"
    );
    let pid_file = Announcement::read(&dir.path().join("tickets.pid"));
    assert_eq!(pid_file.as_ref(), Some(&program.announced));
}

#[test]
fn a_fault_that_is_not_understood_is_refused_with_the_form() {
    let dir = tempfile::tempdir().unwrap();
    let refused = command(dir.path())
        .args(["--fault", "slow"])
        .output()
        .unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("write kind[:times][@position]"), "{said}");
}
