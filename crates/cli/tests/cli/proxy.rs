//! `chaos proxy`: what it prints, what it does to connections, how it ends, what it refuses.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{program, say};

/// A read of a socket that takes longer than this has hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// The command, running in front of a server of this test.
struct Running {
    child: Child,
    /// `None` once nobody reads any more.
    lines: Option<Lines<BufReader<ChildStdout>>>,
    server: TcpListener,
}

impl Running {
    fn with(args: &[&str]) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = server.local_addr().unwrap().to_string();
        let mut child = program(&[["chaos", "proxy", "--to", &to].as_slice(), args].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            lines: Some(lines),
            server,
        }
    }

    fn line(&mut self) -> String {
        self.lines.as_mut().unwrap().next().unwrap().unwrap()
    }

    /// Asks through `address`, has it answered, and says what came back.
    fn exchange(&self, address: &str, reply: &str) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(b"please").unwrap();
        let (mut served, _) = self.server.accept().unwrap();
        let mut request = [0; 6];
        served.read_exact(&mut request).unwrap();
        served.write_all(reply.as_bytes()).unwrap();
        served.shutdown(Shutdown::Write).unwrap();
        let mut heard = String::new();
        client.read_to_string(&mut heard).unwrap();
        heard
    }

    /// What is said after this signal; the program has to end well and say nothing on stderr.
    fn end(mut self, signal: &str) -> Vec<String> {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let rest = self.lines.take().unwrap().map(Result::unwrap).collect();
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success(), "{said}");
        assert_eq!(said, "");
        rest
    }
}

/// A test that fails leaves no process behind.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_address_comes_first_then_a_line_for_each_connection_then_the_totals() {
    let mut running = Running::with(&["--fault", "2=cut_after:bytes=4"]);
    let address = running.line();
    assert_eq!(running.exchange(&address, "whatever"), "whatever");
    assert_eq!(
        running.line(),
        "connection 1: no fault; request 6 of 6 bytes, reply 8 of 8 bytes passed on; \
         closed by both sides"
    );
    assert_eq!(running.exchange(&address, "whatever"), "what");
    assert_eq!(
        running.line(),
        "connection 2: cut_after, hit; request 6 of 6 bytes, reply 4 of 8 bytes passed on; \
         ended by the fault"
    );
    assert_eq!(
        running.end("-TERM"),
        ["total: 2 connections, 1 of 1 faults hit, 12 bytes of requests, 12 bytes of replies"]
    );
}

#[test]
fn in_json_every_line_is_an_object_and_what_is_open_at_the_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let text = "[[rules]]\nconnections = 1\nfault.half_close = { bytes = 2 }\n";
    fs::write(&file, text).unwrap();
    let mut running = Running::with(&["--json", "--plan", file.to_str().unwrap()]);
    let object = |line: String| -> Value { serde_json::from_str(&line).unwrap() };
    let first = object(running.line());
    let to = running.server.local_addr().unwrap().to_string();
    assert_eq!(
        (&first["event"], &first["to"]),
        (&json!("listening"), &json!(to))
    );
    let address = first["address"].as_str().unwrap().to_owned();
    assert_eq!(running.exchange(&address, "whatever"), "wh");
    assert_eq!(
        object(running.line()),
        json!({
            "event": "connection",
            "connection": 1,
            "ended": 1,
            "fault": {"half_close": {"direction": "reply", "bytes": 2}},
            "hit": true,
            "request": {"read": 6, "passed": 6},
            "reply": {"read": 8, "passed": 2},
            "end": {"how": "closed"},
        })
    );
    let _open = TcpStream::connect(&address).unwrap();
    let _served = running.server.accept().unwrap();
    let rest: Vec<Value> = running.end("-INT").into_iter().map(object).collect();
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(rest[0]["end"], json!({"how": "stopped"}));
    assert_eq!(
        (&rest[1]["event"], &rest[1]["connections"], &rest[1]["hit"]),
        (&json!("totals"), &json!(2), &json!(1))
    );
}

#[test]
fn an_upstream_that_is_down_is_said_and_the_proxy_goes_on() {
    let mut running = Running::with(&[]);
    let address = running.line();
    let server = running.server.local_addr().unwrap();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    drop(std::mem::replace(&mut running.server, elsewhere));
    let mut client = TcpStream::connect(&address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(client.read(&mut [0]).is_err(), "it is reset");
    let line = running.line();
    assert!(line.contains("no connection to the upstream"), "{line}");
    running.server = TcpListener::bind(server).unwrap();
    assert_eq!(running.exchange(&address, "back"), "back");
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let mut running = Running::with(&[]);
    let address = running.line();
    drop(running.lines.take());
    assert_eq!(running.exchange(&address, "whatever"), "whatever");
    assert!(running.child.wait().unwrap().success());
}

/// The command with these arguments ends with this code, without data, and says this.
fn refused(args: &[&str], code: i32, part: &str) {
    let said = say(&[&["chaos", "proxy"], args].concat());
    assert_eq!((said.code, said.out.as_str()), (code, ""), "{args:?}");
    assert!(said.err.contains(part), "{args:?}: {}", said.err);
}

#[test]
fn arguments_that_cannot_be_are_refused_with_what_can() {
    refused(&["--to", "nowhere"], 2, "is no HOST:PORT");
    for (option, value, part) in [
        ("--fault", "cut", "it is one of cut_after, delay,"),
        ("--fault", "cut_after:byte=1", "like cut_after:bytes=20"),
        ("--fault", "0=refuse", "numbered from 1"),
        ("--listen", "localhost", "like 127.0.0.1:8080"),
        ("--listen", "0.0.0.0:0", "add --any-address if that is"),
    ] {
        refused(&["--to", "127.0.0.1:9", option, value], 2, part);
    }
}

#[test]
fn a_plan_that_is_none_is_refused_and_one_that_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    let file = path.to_str().unwrap();
    for (text, part) in [
        ("[[rule]]\nfault = 'refuse'", "expected `rules`"),
        ("[[rules]]\nfault.stall = { hold_ms = -1 }", "hold_ms"),
        (
            "[[rules]]\nfault.throttle = { bytes_per_second = 0 }",
            "must be from 1 to",
        ),
    ] {
        fs::write(&path, text).unwrap();
        refused(&["--to", "127.0.0.1:9", "--plan", file], 2, part);
    }
    fs::remove_file(&path).unwrap();
    let part = "plan.toml cannot be read";
    refused(&["--to", "127.0.0.1:9", "--plan", file], 3, part);
}

#[test]
fn an_address_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let args = ["--to", "127.0.0.1:9", "--listen", &address];
    refused(&args, 3, "cannot be listened at");
}
