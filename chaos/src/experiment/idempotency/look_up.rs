//! Questions to the purchase tool that change nothing: what became of a key, and a search.
//!
//! They meet the tool's faults like orders do. An answer that did not come must never be read as
//! "not there".

use std::time::Duration;

use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::receiver::{OrderRequest, Placed};
use super::tool::Line;

/// How a key stands at the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was executed.
    Applied(Placed),
    /// It is being executed.
    InProgress,
    /// It is not known. It may still land, within the tool's bound.
    NotFound,
}

/// Why a question has no answer. Nobody knows more than before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookUpError {
    /// No reply, or none in time.
    #[error("no reply in time")]
    NoReply,
    /// A reply that says nothing about the question.
    #[error("a reply with status {0} is no answer")]
    NotAnAnswer(u16),
}

#[derive(Deserialize)]
struct KeyStanding {
    order: Placed,
}

#[derive(Deserialize)]
struct Orders {
    orders: Vec<Placed>,
}

impl Line {
    /// How a key stands, when the tool says so within `wait`.
    ///
    /// Cancel safe: asking changes nothing.
    pub async fn standing(&self, key: &str, wait: Duration) -> Result<Standing, LookUpError> {
        let url = self.url(&["orders", "by-key", key])?;
        let (status, body) = self.get(url, wait).await.ok_or(LookUpError::NoReply)?;
        let not_an_answer = LookUpError::NotAnAnswer(status.as_u16());
        match status {
            StatusCode::OK => {
                let applied = serde_json::from_slice(&body);
                let KeyStanding { order } = applied.map_err(|_| not_an_answer)?;
                Ok(Standing::Applied(order))
            }
            StatusCode::ACCEPTED => Ok(Standing::InProgress),
            StatusCode::NOT_FOUND => Ok(Standing::NotFound),
            _ => Err(not_an_answer),
        }
    }

    /// The orders with the number and slot of this one, when the tool says so within `wait`.
    ///
    /// Cancel safe: asking changes nothing.
    pub async fn search(
        &self,
        order: &OrderRequest,
        wait: Duration,
    ) -> Result<Vec<Placed>, LookUpError> {
        let mut url = self.url(&["orders"])?;
        if let Some(request_no) = &order.request_no {
            url.query_pairs_mut().append_pair("request_no", request_no);
        }
        if let Some(slot) = order.slot {
            url.query_pairs_mut().append_pair("slot", &slot.to_string());
        }
        let (status, body) = self.get(url, wait).await.ok_or(LookUpError::NoReply)?;
        let found = serde_json::from_slice(&body).ok();
        let found = found.filter(|_| status == StatusCode::OK);
        let Orders { orders } = found.ok_or(LookUpError::NotAnAnswer(status.as_u16()))?;
        Ok(orders)
    }

    /// The base with these segments behind it, each escaped as a whole.
    fn url(&self, segments: &[&str]) -> Result<Url, LookUpError> {
        let mut url = Url::parse(self.base()).map_err(|_| LookUpError::NoReply)?;
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(segments);
        }
        Ok(url)
    }
}
