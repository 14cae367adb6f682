//! Tickets: what is written for an action, what is searched for, what comes back.
//!
//! The same action gives the same ticket, byte for byte. A ticket must never carry text of a
//! policy that may not be quoted, nor name one that is internal: tickets are read outside.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::minutes::Minutes;
use crate::policy::{AllowedUse, Grade, Passage, PolicyEvidence, distinctive_terms};
use crate::summarise::Action;
use crate::text::{content_words, stem, utc};

/// Most policies that one ticket cites.
pub const CITATIONS_MAX: usize = 2;
/// Most terms of a [`TicketQuery`].
pub const QUERY_TERMS_MAX: usize = 12;
/// Tickets asked for by [`TicketQuery::about`].
const TOP: u32 = 5;

/// A ticket to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewTicket {
    /// Digest of the minutes: with `position` the ticket's identity in the business.
    pub source: String,
    /// The action's place in the draft.
    pub position: u32,
    /// The action's title.
    pub title: String,
    /// What was said, where, and by which policies to handle it. Plain text, a few lines.
    pub body: String,
    /// Who does it, if the minutes say so.
    pub owner: Option<String>,
    /// The policies named in the body, at most [`CITATIONS_MAX`].
    pub citations: Vec<Citation>,
}

/// A policy that a ticket names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// The document's id.
    pub doc_id: String,
    /// The document's title.
    pub title: String,
    /// The document's version.
    pub version: String,
    /// How good the evidence is.
    pub grade: Grade,
}

impl NewTicket {
    /// The ticket for one action of the minutes with digest `source_digest`.
    #[must_use]
    pub fn from_action(
        source_digest: &str,
        position: u32,
        action: &Action,
        policy: &PolicyEvidence,
    ) -> Self {
        let cited = cited(action, policy);
        Self {
            source: source_digest.to_owned(),
            position,
            title: action.title.clone(),
            body: body(action, &cited, policy),
            owner: action.owner.clone(),
            citations: cited
                .iter()
                .map(|passage| citation(passage, policy.grade))
                .collect(),
        }
    }
}

fn citation(passage: &Passage, grade: Grade) -> Citation {
    Citation {
        doc_id: passage.doc_id.clone(),
        title: passage.title.clone(),
        version: passage.version.clone(),
        grade,
    }
}

/// The passages that share most words with the action; none if they share too few: a citation
/// that has nothing to do with its ticket is worse than none.
fn cited<'a>(action: &Action, policy: &'a PolicyEvidence) -> Vec<&'a Passage> {
    const SHARED_MIN: usize = 2;
    // Nearly everything stands below a heading "Agenda"; that is not what the action is about.
    let headings = action
        .section
        .split(" > ")
        .filter(|heading| *heading != "Agenda");
    let words = stems(&format!(
        "{} {}",
        action.detail,
        headings.collect::<Vec<_>>().join(" ")
    ));
    let shared = |passage: &Passage| {
        let title = stems(&passage.title);
        let snippet = stems(&passage.snippet);
        // A word of the title says what the whole document is about, so it counts twice.
        title.intersection(&words).count() * 2 + snippet.intersection(&words).count()
    };
    let open = policy
        .passages
        .iter()
        .filter(|passage| passage.allowed_use != AllowedUse::Internal);
    let mut ranked: Vec<(usize, &Passage)> =
        open.map(|passage| (shared(passage), passage)).collect();
    // The sort is stable: equal ones stay in the order of their scores.
    ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let fitting = ranked
        .into_iter()
        .filter(|(shared, _)| SHARED_MIN <= *shared);
    fitting
        .take(CITATIONS_MAX)
        .map(|(_, passage)| passage)
        .collect()
}

fn stems(text: &str) -> BTreeSet<String> {
    content_words(text)
        .map(|word| stem(&word).to_owned())
        .collect()
}

fn body(action: &Action, cited: &[&Passage], policy: &PolicyEvidence) -> String {
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        writeln!(out, "{text}").expect("writing to a String cannot fail");
    };
    line(format_args!("{}", action.detail));
    line(format_args!(""));
    line(format_args!(
        "Owner: {}",
        action
            .owner
            .as_deref()
            .unwrap_or("not named in the minutes")
    ));
    if let Some(due) = &action.due {
        line(format_args!("Due: {due}"));
    }
    line(format_args!("Topic: {}", action.section));
    line(format_args!(
        "Minutes, line {}: {}",
        action.evidence.line, action.evidence.text
    ));
    if !action.related.is_empty() {
        line(format_args!(
            "May be related: {}",
            action.related.join(", ")
        ));
    }
    for passage in cited {
        let Passage {
            doc_id,
            title,
            version,
            ..
        } = passage;
        let at = utc(policy.retrieved_at_ms);
        let grade = policy.grade.as_str();
        line(format_args!(
            "Policy: {doc_id} {title}, version {version} ({grade}, {at})"
        ));
        if passage.allowed_use == AllowedUse::Quote {
            line(format_args!("  \"{}\"", passage.snippet));
        }
    }
    out
}

/// A search for tickets that may be about the same things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TicketQuery {
    /// Words in lower case, sorted; at most [`QUERY_TERMS_MAX`].
    pub terms: Vec<String>,
    /// How many tickets at most.
    pub top: u32,
}

impl TicketQuery {
    /// The query for tickets related to these minutes.
    #[must_use]
    pub fn about(minutes: &Minutes) -> Self {
        Self {
            terms: distinctive_terms(minutes, QUERY_TERMS_MAX),
            top: TOP,
        }
    }
}

/// A ticket that is already there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedTicket {
    /// The service's id of it.
    pub id: String,
    /// Its title.
    pub title: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise::{Cue, Evidence};

    fn passage(id: &str, title: &str, allowed_use: AllowedUse) -> Passage {
        Passage {
            doc_id: id.to_owned(),
            title: title.to_owned(),
            version: "1.0".to_owned(),
            score: 2.0,
            snippet: format!("The text of {title}."),
            allowed_use,
        }
    }

    fn evidence(passages: Vec<Passage>) -> PolicyEvidence {
        let source_digest = "s".to_owned();
        PolicyEvidence {
            passages,
            retrieved_at_ms: 0,
            source_digest,
            grade: Grade::Live,
        }
    }

    fn action() -> Action {
        Action {
            title: "Rotate the signing keys".to_owned(),
            detail: "Kai to rotate the signing keys.".to_owned(),
            owner: Some("Kai".to_owned()),
            due: None,
            section: "Security".to_owned(),
            evidence: Evidence {
                line: 7,
                text: "* Kai to rotate the signing keys.".to_owned(),
            },
            cue: Cue::Assigned,
            related: vec!["T-3".to_owned()],
        }
    }

    #[test]
    fn a_ticket_cites_what_is_about_its_action_with_grade_and_time() {
        let policy = evidence(vec![
            passage("POL-1", "Travel", AllowedUse::Quote),
            passage("POL-2", "Rotation of signing keys", AllowedUse::Quote),
        ]);
        let ticket = NewTicket::from_action("abc", 0, &action(), &policy);
        let ids: Vec<&str> = ticket.citations.iter().map(|c| c.doc_id.as_str()).collect();
        assert_eq!(ids, ["POL-2"]);
        assert_eq!(
            ticket.body,
            "Kai to rotate the signing keys.\n\nOwner: Kai\nTopic: Security\n\
             Minutes, line 7: * Kai to rotate the signing keys.\nMay be related: T-3\n\
             Policy: POL-2 Rotation of signing keys, version 1.0 (live, 1970-01-01T00:00:00Z)\n  \
             \"The text of Rotation of signing keys.\"\n"
        );
    }

    #[test]
    fn what_may_not_be_quoted_is_not_and_what_is_internal_is_not_named() {
        let policy = evidence(vec![
            passage("POL-1", "Signing keys", AllowedUse::Internal),
            passage("POL-2", "Key ceremony", AllowedUse::Cite),
        ]);
        let ticket = NewTicket::from_action("abc", 0, &action(), &policy);
        assert!(!ticket.body.contains("POL-1"), "{}", ticket.body);
        assert!(
            ticket.body.contains("POL-2 Key ceremony"),
            "{}",
            ticket.body
        );
        assert!(!ticket.body.contains("The text of"), "{}", ticket.body);
    }

    #[test]
    fn without_evidence_a_ticket_cites_nothing() {
        let ticket = NewTicket::from_action("abc", 4, &action(), &evidence(Vec::new()));
        assert!(ticket.citations.is_empty() && !ticket.body.contains("Policy"));
        assert_eq!((ticket.source.as_str(), ticket.position), ("abc", 4));
    }
}
