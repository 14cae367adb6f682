//! A dependency of a worker that is in another process: each attempt is one HTTP request to it.
//!
//! It must never send twice for one attempt, nor say of a request that left that it did not.

use std::sync::Arc;

use mainstay_dispatch::{AttemptContext, AttemptFacts, Found, Provider, RawAnswer};
use mainstay_types::{BoxFuture, EffectKey, Failure, FailureKind, Payload, Sent};
use reqwest::{redirect, retry};

use super::letter::{Letter, Reply, lost};

/// The way to everything outside, shared by all dependencies of a worker.
#[derive(Clone)]
pub(super) struct Line {
    http: reqwest::Client,
    outside: String,
}

impl Line {
    /// The line to `outside`, a URL without a slash at its end.
    pub(super) fn to(outside: &str) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .retry(retry::never())
            .redirect(redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .build()?;
        let outside = outside.to_owned();
        Ok(Self { http, outside })
    }

    /// The reply of what was done under a key, as a person finds it at its receiver.
    pub(super) async fn truth(&self, key: &EffectKey) -> Option<Payload> {
        let url = format!("{}/truth", self.outside);
        let asked = self.http.post(url).json(&key.to_string()).send().await;
        let reply: Option<String> = asked.ok()?.json().await.ok()?;
        reply.map(|reply| Payload::new(reply.into_bytes()))
    }

    async fn send(&self, letter: Letter) -> Result<Reply, Failure> {
        let url = format!("{}/letters", self.outside);
        let sent = self.http.post(url).json(&letter).send().await;
        let response = sent.map_err(|error| match error.is_connect() {
            true => Failure::new(FailureKind::TransientTransport, Sent::NotSent),
            false => lost("the connection broke"),
        })?;
        let status = response.status();
        if !status.is_success() {
            let failure = Failure::new(FailureKind::PermanentProvider, Sent::Answered);
            return Err(failure.provider_code(status.as_str()));
        }
        let reply = response.json().await;
        reply.map_err(|_| lost("the reply is not whole"))
    }
}

/// See the module.
pub(super) struct Far {
    name: String,
    /// The dependency that it stands for.
    own: Arc<dyn Provider>,
    line: Line,
}

impl Far {
    pub(super) fn new(name: &str, own: &Arc<dyn Provider>, line: &Line) -> Self {
        Self {
            name: name.to_owned(),
            own: Arc::clone(own),
            line: line.clone(),
        }
    }

    fn letter(&self, facts: &AttemptFacts, request: &Payload) -> Letter {
        Letter::new(&self.name, facts, request)
    }
}

impl Provider for Far {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_write(&self) -> bool {
        self.own.is_write()
    }

    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        let (line, letter) = (self.line.clone(), self.letter(&cx, &request));
        Box::pin(async move { line.send(letter).await?.answer() })
    }

    fn look_up(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        if !self.is_write() {
            return None;
        }
        let (line, letter) = (self.line.clone(), self.letter(&cx, &request));
        Some(Box::pin(async move { line.send(letter).await?.found() }))
    }

    fn check_reply(&self, reply: &Payload) -> Result<(), Failure> {
        self.own.check_reply(reply)
    }
}
