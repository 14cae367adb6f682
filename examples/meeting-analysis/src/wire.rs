//! What travels between the calls of the class: requests and replies of its dependencies.
//!
//! These shapes are part of the class's fingerprint. They hold no times and no ids of a run, so
//! that the same minutes make the same requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::minutes::Meeting;
use crate::policy::PolicyQuery;
use crate::summarise::{Sentence, Summary};
use crate::tickets::{NewTicket, RelatedTicket, TicketQuery};

/// What the minutes are about, worked out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outline {
    /// Which policies to look for.
    pub policy: PolicyQuery,
    /// Which tickets to look for.
    pub tickets: TicketQuery,
}

impl Outline {
    /// The outline of these minutes.
    #[must_use]
    pub fn of(meeting: &Meeting) -> Self {
        let minutes = meeting.minutes();
        Self {
            policy: PolicyQuery::about(&minutes),
            tickets: TicketQuery::about(&minutes),
        }
    }
}

/// A search for tickets about the same things, without those made from these very minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedQuery {
    /// What to look for.
    pub query: TicketQuery,
    /// The source whose tickets do not count.
    pub exclude_source: String,
}

/// What the specialist is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecialistRequest {
    /// The whole text.
    pub minutes: String,
    /// What to look at; `None`: everything.
    pub focus: Option<String>,
}

/// What the specialist answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecialistReply {
    /// Sentences, one a line.
    pub summary: String,
    /// How it was made.
    pub method: String,
}

impl SpecialistReply {
    /// As a summary for the draft.
    #[must_use]
    pub fn to_summary(&self) -> Summary {
        let lines = self
            .summary
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let sentence = |line: &str| Sentence {
            text: line.to_owned(),
            section: String::new(),
        };
        Summary {
            method: self.method.clone(),
            sentences: lines.map(sentence).collect(),
        }
    }

    /// A summary in the specialist's form.
    #[must_use]
    pub fn from_summary(summary: &Summary) -> Self {
        let lines: Vec<&str> = summary.sentences.iter().map(|s| s.text.as_str()).collect();
        Self {
            summary: lines.join("\n"),
            method: summary.method.clone(),
        }
    }
}

/// What the summariser is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftRequest {
    /// The minutes.
    pub meeting: Meeting,
    /// Related tickets; empty when there are none or they were not searched.
    pub related: Vec<RelatedTicket>,
    /// The specialist's summary, when there is one.
    pub specialist: Option<SpecialistReply>,
}

/// A ticket as the ticket service takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TicketRequest {
    /// Digest of the minutes.
    pub source: String,
    /// The action's place in the draft.
    pub position: u32,
    /// What is to be done.
    pub title: String,
    /// The rest.
    pub body: String,
    /// Who does it.
    pub owner: Option<String>,
    /// Policies, as `id title, version`.
    pub citations: Vec<String>,
}

impl From<NewTicket> for TicketRequest {
    fn from(ticket: NewTicket) -> Self {
        let cite = |citation: &crate::tickets::Citation| {
            format!(
                "{} {}, version {}",
                citation.doc_id, citation.title, citation.version
            )
        };
        Self {
            citations: ticket.citations.iter().map(cite).collect(),
            source: ticket.source,
            position: ticket.position,
            title: ticket.title,
            body: ticket.body,
            owner: ticket.owner,
        }
    }
}

/// A ticket as the ticket service answers it; what it says beyond these fields is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TicketReply {
    /// The service's id of it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who does it.
    pub owner: Option<String>,
}
