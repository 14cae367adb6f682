//! The service as its clients see it: a real listener for each test, and the program itself.
//!
//! It must never reach into the service but through HTTP, its options and its process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod process;

use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use service_kit::{Fault, FaultKind, Faults};
use specialist_service::{BODY_BYTES_MAX, LogPage, Options, Status, Summary};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const MINUTES: &str = "# Team meeting\n\n## Release\n\n\
    * The release needs a signed build before Monday.\n\
    * Kai will sign the release build on Friday.\n\
    * Lunch was good for everybody in the room.\n\n## Budget\n\n\
    * The travel budget of the team is spent until the next release.\n";

struct Running {
    url: String,
    client: Client,
    faults: Faults,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<Result<(), specialist_service::Error>>,
}

impl Running {
    async fn start() -> Running {
        let options = Options::default();
        let faults = options.faults.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let _ = stopped.await;
        };
        let ended = tokio::spawn(specialist_service::serve(options, listener, shutdown));
        Running {
            url,
            client: Client::new(),
            faults,
            stop,
            ended,
        }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap().unwrap();
    }

    async fn ask(&self, body: impl Into<reqwest::Body>) -> reqwest::Result<(StatusCode, Value)> {
        let url = format!("{}/summaries", self.url);
        let response = self.client.post(url).body(body).send().await?;
        let status = response.status();
        Ok((status, response.json().await?))
    }

    async fn summary(&self, minutes: &str) -> Summary {
        let (status, body) = self
            .ask(json!({ "minutes": minutes }).to_string())
            .await
            .unwrap();
        assert_eq!(status, StatusCode::OK, "{body}");
        serde_json::from_value(body).unwrap()
    }
}

#[tokio::test]
async fn a_summary_says_what_the_minutes_say_and_says_it_again() {
    let service = Running::start().await;
    let first = service.summary(MINUTES).await;
    assert_eq!(first.method, "textrank-extractive");
    let titles: Vec<_> = first
        .topics
        .iter()
        .map(|topic| topic.title.as_str())
        .collect();
    assert_eq!(titles, ["Release", "Budget"]);
    for sentence in first.topics.iter().flat_map(|topic| &topic.sentences) {
        assert!(MINUTES.contains(sentence.as_str()), "{sentence}");
    }
    assert!(
        first
            .summary
            .contains("The release needs a signed build before Monday.")
    );
    assert_eq!(service.summary(MINUTES).await, first);
    service.stop().await;
}

#[tokio::test]
async fn bad_input_is_refused_with_a_code() {
    let service = Running::start().await;
    let focus = "x".repeat(1_001);
    let too_large = json!({ "minutes": "x ".repeat(BODY_BYTES_MAX / 2) }).to_string();
    for (body, status, code) in [
        ("{\"minutes\":".to_owned(), 400, "JSON_INVALID"),
        (json!({ "minute": "x" }).to_string(), 400, "JSON_INVALID"),
        (
            json!({ "minutes": " \n " }).to_string(),
            400,
            "MINUTES_EMPTY",
        ),
        (
            json!({ "minutes": "x", "focus": focus }).to_string(),
            400,
            "FOCUS_TOO_LONG",
        ),
        (too_large, 413, "BODY_TOO_LARGE"),
    ] {
        let (found, problem) = service.ask(body).await.unwrap();
        assert_eq!(
            (found.as_u16(), problem["code"].as_str()),
            (status, Some(code))
        );
    }
    service.stop().await;
}

#[tokio::test]
async fn faults_strike_as_often_as_asked_and_the_log_tells() {
    let service = Running::start().await;
    let body = json!({ "minutes": MINUTES }).to_string();
    for fault in ["drop:1", "unavailable:1", "rate_limited:1,retry_after_s=3"] {
        service.faults.arm(fault.parse().unwrap()).unwrap();
    }
    assert!(service.ask(body.clone()).await.is_err());
    let limited = service
        .client
        .post(format!("{}/summaries", service.url))
        .body(body.clone());
    let limited = limited.send().await.unwrap();
    assert_eq!(limited.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(limited.headers()["retry-after"], "3");
    assert_eq!(
        service.ask(body.clone()).await.unwrap().0,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(service.ask(body.clone()).await.unwrap().0, StatusCode::OK);
    let log = service
        .client
        .get(format!("{}/requests", service.url))
        .send()
        .await
        .unwrap();
    let log: LogPage = log.json().await.unwrap();
    let statuses: Vec<_> = log.requests.iter().map(|entry| entry.status).collect();
    let codes = [429, 503, 200].map(Status::Code);
    assert_eq!(statuses, [&[Status::DROPPED][..], &codes[..]].concat());
    let refused = service
        .faults
        .arm(Fault::new(FaultKind::CommitThenDrop))
        .unwrap_err();
    assert!(
        refused.to_string().contains("no fault commit_then_drop"),
        "{refused}"
    );
    service.stop().await;
}

#[tokio::test]
async fn a_delay_keeps_the_client_waiting_for_that_long() {
    let service = Running::start().await;
    let delay = Duration::from_millis(300);
    service
        .faults
        .arm(Fault::new(FaultKind::Delay).times(1).delay(delay))
        .unwrap();
    let since = std::time::Instant::now();
    service.summary(MINUTES).await;
    assert!(delay <= since.elapsed(), "{:?}", since.elapsed());
    service.stop().await;
}

#[tokio::test]
async fn the_largest_minutes_are_summarised() {
    let service = Running::start().await;
    let mut text = String::new();
    let mut n = 0;
    while text.len() < BODY_BYTES_MAX - 200 {
        n += 1;
        text.push_str(&format!(
            "Point {n} is about budget {} and release {}. ",
            n % 97,
            n % 89
        ));
    }
    let (status, body) = service
        .ask(json!({ "minutes": text }).to_string())
        .await
        .unwrap();
    assert_eq!(status, StatusCode::OK);
    assert_eq!(body["topics"][0]["title"], "General");
    service.stop().await;
}
