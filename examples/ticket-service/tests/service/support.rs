//! A service on a real listener, and a client that says what came back.
//!
//! It must never share a database or a port between two tests.

use std::time::{Duration, Instant};

use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use service_kit::{Fault, Faults};
use ticket_service::{LogPage, Options, Ticket};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a test waits for a value before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) client: Client,
    pub(crate) faults: Faults,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), ticket_service::Error>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) replayed: bool,
    pub(crate) retry_after: Option<String>,
    pub(crate) media: String,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn code(&self) -> &str {
        assert_eq!(self.media, "application/problem+json", "{}", self.body);
        assert_eq!(self.body["status"], self.status.as_u16());
        self.body["code"].as_str().unwrap()
    }

    pub(crate) fn ticket(&self) -> Ticket {
        serde_json::from_value(self.body.clone()).unwrap()
    }
}

pub(crate) fn payload(position: u32, title: &str) -> Value {
    json!({
        "source": "minutes-1", "position": position, "title": title, "body": "as agreed",
        "owner": "Kai", "citations": ["line 12"]
    })
}

impl Running {
    pub(crate) async fn start(options: Options) -> Running {
        let faults = options.faults.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let _ = stopped.await;
        };
        let ended = tokio::spawn(ticket_service::serve(options, listener, shutdown));
        Running {
            url,
            client: Client::new(),
            faults,
            stop,
            ended,
        }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap().unwrap();
    }

    pub(crate) fn arm(&self, fault: Fault) {
        self.faults.arm(fault).unwrap();
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn try_post(&self, key: &str, payload: &Value) -> reqwest::Result<Response> {
        let request = self.request(Method::POST, "/tickets");
        request
            .header("Idempotency-Key", format!("\"{key}\""))
            .json(payload)
            .send()
            .await
    }

    pub(crate) async fn post(&self, key: &str, payload: &Value) -> Answer {
        answer(self.try_post(key, payload).await.unwrap()).await
    }

    pub(crate) async fn log(&self, query: &str) -> LogPage {
        let page = self.get(&format!("/requests{query}")).await;
        serde_json::from_value(page.body).unwrap()
    }

    /// Asks until the status is this; fails after a bound.
    pub(crate) async fn wait_for(&self, path: &str, status: StatusCode) -> Answer {
        let since = Instant::now();
        loop {
            let answer = self.get(path).await;
            if answer.status == status {
                return answer;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "{path} stays {}: {}",
                answer.status,
                answer.body
            );
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) async fn answer(response: Response) -> Answer {
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    let replayed = header("idempotency-replayed").as_deref() == Some("true");
    let retry_after = header("retry-after");
    let media = header("content-type").unwrap_or_default();
    let status = response.status();
    let text = response.text().await.unwrap();
    let body = if text.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&text).unwrap()
    };
    Answer {
        status,
        replayed,
        retry_after,
        media,
        body,
    }
}
