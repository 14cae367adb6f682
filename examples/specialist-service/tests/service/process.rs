//! The program itself: its announcement, its pid file, and a log that survives kill -9.
//!
//! It must never leave a process behind: each is killed when its handle is dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::StatusCode;
use serde_json::json;
use service_kit::Announcement;
use specialist_service::{LogPage, Status};

struct Program {
    child: Child,
    announced: Announcement,
}

impl Program {
    fn start(dir: &Path) -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_specialist-service"))
            .args(["--listen", "127.0.0.1:0", "--pid-file"])
            .arg(dir.join("specialist.pid"))
            .arg("--log")
            .arg(dir.join("requests.jsonl"))
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

    async fn ask(&self) -> StatusCode {
        let url = format!("http://{}/summaries", self.announced.listening);
        let body = json!({ "minutes": "We agreed to ship the release on Monday." });
        reqwest::Client::new()
            .post(url)
            .json(&body)
            .send()
            .await
            .unwrap()
            .status()
    }

    async fn log(&self) -> LogPage {
        let url = format!("http://{}/requests", self.announced.listening);
        reqwest::get(url).await.unwrap().json().await.unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn the_request_log_goes_on_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let program = Program::start(dir.path());
    assert_eq!(program.ask().await, StatusCode::OK);
    drop(program);
    let program = Program::start(dir.path());
    assert_eq!(program.ask().await, StatusCode::OK);
    let log = program.log().await;
    let seen: Vec<_> = log
        .requests
        .iter()
        .map(|entry| (entry.seq, entry.status))
        .collect();
    assert_eq!(seen, [(1, Status::Code(200)), (2, Status::Code(200))]);
}

#[tokio::test]
async fn the_pid_file_says_what_stdout_says_and_goes_with_a_clean_stop() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = Program::start(dir.path());
    let pid_file = dir.path().join("specialist.pid");
    assert_eq!(
        Announcement::read(&pid_file).as_ref(),
        Some(&program.announced)
    );
    assert_eq!(program.announced.pid, program.child.id());
    let pid = program.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(program.child.wait().unwrap().success());
    assert!(!pid_file.exists());
}
