//! The service's process, killed when its handle is dropped, and requests to it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Response, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Longer than any answer_by of the class.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Program {
    child: Child,
    url: String,
    client: Client,
}

/// A reply, read to its end.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) location: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) kind: String,
    pub(crate) body: Value,
}

impl Program {
    /// Starts it and waits until it says where it listens.
    pub(crate) fn start(store: &Path, shop_url: &str, settings: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_axum-service"))
            .envs(settings.iter().copied())
            .env("STORE", store)
            .env("SHOP_URL", shop_url)
            .env("LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ");
        let address = address.unwrap_or_else(|| panic!("it said {line:?}"));
        Self {
            url: format!("http://{address}"),
            child,
            client: Client::builder().timeout(PATIENCE).build().unwrap(),
        }
    }

    /// Asks for a refund.
    pub(crate) async fn post(&self, key: &str, order: &str, more: &[(&str, &str)]) -> Reply {
        let request = self.client.post(format!("{}/runs", self.url));
        let request = request.header("Idempotency-Key", key);
        let request = more.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let claim = json!({"order": order, "cents": 1_200, "why": "arrived broken"});
        Reply::of(request.json(&claim).send().await.unwrap()).await
    }

    pub(crate) async fn post_raw(&self, path: &str, body: &'static str) -> Reply {
        let request = self.client.post(format!("{}{path}", self.url));
        let request = request.header("Content-Type", "application/json");
        Reply::of(request.body(body).send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::of(
            self.client
                .get(format!("{}{path}", self.url))
                .send()
                .await
                .unwrap(),
        )
        .await
    }

    pub(crate) async fn cancel(&self, place: &str) -> Reply {
        let request = self.client.post(format!("{}{place}/cancel", self.url));
        let request = request.json(&json!({"by": "ops", "why": "the customer called"}));
        Reply::of(request.send().await.unwrap()).await
    }

    /// Reads the run until it has its outcome.
    pub(crate) async fn outcome(&self, place: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let reply = self.get(place).await;
            assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
            if reply.body["answer"] == "ready" {
                return reply.body;
            }
            assert!(Instant::now() < until, "no outcome: {}", reply.body);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Reply {
    async fn of(response: Response) -> Self {
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        Self {
            status: response.status(),
            location: header("location"),
            retry_after: header("retry-after"),
            kind: header("content-type").unwrap_or_default(),
            body: {
                let text = response.text().await.unwrap();
                match text.is_empty() {
                    true => Value::Null,
                    false => serde_json::from_str(&text).unwrap(),
                }
            },
        }
    }

    /// The problem's code, once it is sure that it is one.
    pub(crate) fn code(&self) -> &str {
        assert_eq!(self.kind, "application/problem+json", "{}", self.body);
        assert_eq!(self.body["status"], self.status.as_u16());
        self.body["code"].as_str().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
