//! What stands between a model and the purchase tool: the model's call, the tool's answer, and the
//! HTTP client, which is the inner one of the two layers that retry.
//!
//! Nothing here must ever send a request that it does not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::{StatusCode, Url, redirect, retry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::awake::awake;
use super::receiver::{OrderRequest, Placed};

/// What a model gives when it calls a tool, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: &'static str,
    /// Made anew for each call.
    pub call_id: String,
    /// As the model wrote them.
    pub arguments: Arguments,
}

/// The arguments of the purchase tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to order.
    pub item: String,
    /// How many.
    pub qty: u32,
    /// Words for people.
    pub memo: String,
}

impl Arguments {
    /// The order that they ask for, without any name of the business.
    #[must_use]
    pub fn order(&self) -> OrderRequest {
        OrderRequest {
            item: self.item.clone(),
            qty: self.qty,
            memo: self.memo.clone(),
            request_no: None,
            slot: None,
        }
    }
}

/// What a model is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolAnswer {
    /// The order is placed.
    Done {
        /// The receiver's number of it.
        order_no: String,
    },
    /// It failed, as far as the model is concerned: it may call again.
    Error {
        /// Why.
        error_code: &'static str,
    },
    /// Nobody knows yet, and a person sees to it: the model is not to call again.
    HandedOver {
        /// What the person is told.
        note: String,
    },
}

/// Why no order came back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// No reply, or none in time. Nobody knows what happened.
    #[error("no reply in time")]
    NoReply,
    /// The receiver said no.
    #[error("refused with status {status}")]
    Refused {
        /// Its status.
        status: u16,
        /// Its code.
        code: String,
    },
}

impl SendError {
    /// The error as the model sees it.
    #[must_use]
    pub fn told(&self) -> ToolAnswer {
        let error_code = match self {
            Self::NoReply => "TIMEOUT",
            Self::Refused { code, .. } if code == "IDEMPOTENCY_MISMATCH" => "IDEMPOTENCY_MISMATCH",
            Self::Refused { .. } => "REFUSED",
        };
        ToolAnswer::Error { error_code }
    }
}

impl From<Result<Placed, SendError>> for ToolAnswer {
    fn from(sent: Result<Placed, SendError>) -> Self {
        match sent {
            Ok(placed) => Self::Done {
                order_no: placed.order_no,
            },
            Err(error) => error.told(),
        }
    }
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
}

/// The HTTP client of the tools, shared by all sessions of a strategy.
pub struct ToolClient {
    http: reqwest::Client,
    timeout: Duration,
    resends_max: u32,
    unanswered: AtomicU64,
}

impl ToolClient {
    /// A client that waits so long and sends the same again at most so often.
    pub fn new(timeout: Duration, resends_max: u32) -> Result<Self, reqwest::Error> {
        // The library's own resends would be a third layer that nobody counts.
        let http = reqwest::Client::builder()
            .retry(retry::never())
            .redirect(redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .build()?;
        Ok(Self {
            http,
            timeout,
            resends_max,
            unanswered: AtomicU64::new(0),
        })
    }

    /// Sends of orders that had no reply in time. What is beyond the drawn faults is the machine's
    /// load, and is reported.
    pub(crate) fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    async fn send(
        &self,
        base: &str,
        order: &OrderRequest,
        key: Option<&str>,
    ) -> Result<Placed, SendError> {
        let mut sent = self.send_once(base, order, key).await;
        for _ in 0..self.resends_max {
            if sent != Err(SendError::NoReply) {
                break;
            }
            sent = self.send_once(base, order, key).await;
        }
        sent
    }

    async fn send_once(
        &self,
        base: &str,
        order: &OrderRequest,
        key: Option<&str>,
    ) -> Result<Placed, SendError> {
        let waits = Waits(&self.unanswered);
        // Dropping the exchange closes its connection, as a client's timeout does.
        let sent = tokio::select! {
            biased;
            sent = self.exchange(base, order, key) => sent,
            () = awake(self.timeout) => Err(SendError::NoReply),
        };
        if sent != Err(SendError::NoReply) {
            waits.are_over();
        }
        sent
    }

    /// A reply to a question within `wait`, as its status and body.
    async fn get(&self, url: Url, wait: Duration) -> Option<(StatusCode, Vec<u8>)> {
        let asked = async {
            let reply = self.http.get(url).send().await.ok()?;
            let status = reply.status();
            Some((status, reply.bytes().await.ok()?.to_vec()))
        };
        tokio::select! {
            biased;
            answered = asked => answered,
            () = awake(wait) => None,
        }
    }

    async fn exchange(
        &self,
        base: &str,
        order: &OrderRequest,
        key: Option<&str>,
    ) -> Result<Placed, SendError> {
        let mut request = self.http.post(format!("{base}/orders"));
        if let Some(key) = key {
            request = request.header("idempotency-key", format!("\"{key}\""));
        }
        // Whatever cut the exchange short, the order may have arrived.
        let reply = request
            .json(order)
            .send()
            .await
            .map_err(|_| SendError::NoReply)?;
        let status = reply.status();
        if status == StatusCode::CREATED {
            return reply.json().await.map_err(|_| SendError::NoReply);
        }
        let refusal = reply.json::<Refusal>().await;
        Err(SendError::Refused {
            status: status.as_u16(),
            code: refusal.map_or_else(|_| "UNKNOWN".to_owned(), |refusal| refusal.code),
        })
    }
}

/// A send that waits for its reply: whatever ends the wait, one that had no reply is counted.
struct Waits<'a>(&'a AtomicU64);

impl Waits<'_> {
    fn are_over(self) {
        std::mem::forget(self);
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Where a call's requests go: the harness gives it with each call, because the path decides their
/// fate. It says nothing that a wrapper may make a key of.
#[derive(Clone)]
pub struct Line {
    base: String,
    client: Arc<ToolClient>,
}

impl Line {
    /// The line to this base URL.
    #[must_use]
    pub fn new(base: String, client: Arc<ToolClient>) -> Self {
        Self { base, client }
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends an order, and sends the same again without a reply, as HTTP clients do.
    ///
    /// Not cancel safe: a dropped future may have ordered.
    pub async fn send(&self, order: &OrderRequest, key: Option<&str>) -> Result<Placed, SendError> {
        self.client.send(&self.base, order, key).await
    }

    /// Sends an order once, for a strategy that decides for itself what comes next.
    ///
    /// Not cancel safe: a dropped future may have ordered.
    pub async fn send_once(
        &self,
        order: &OrderRequest,
        key: Option<&str>,
    ) -> Result<Placed, SendError> {
        self.client.send_once(&self.base, order, key).await
    }

    pub(crate) async fn get(&self, url: Url, wait: Duration) -> Option<(StatusCode, Vec<u8>)> {
        self.client.get(url, wait).await
    }
}
