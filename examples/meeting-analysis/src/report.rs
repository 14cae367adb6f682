//! The report: what the reader of the run gets, as data and as text for a terminal.
//!
//! It must never claim more than the draft and the evidence hold: what is missing is said in
//! [`Report::missing`], the grade and the time of evidence always stand beside it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::{AllowedUse, Grade, PolicyEvidence};
use crate::summarise::{Decision, Draft, Sentence};
use crate::text::{printable, utc};
use crate::tickets::RelatedTicket;

/// Longest line of the text, in characters, where words allow it.
const WIDTH: usize = 96;

/// The outcome of a run over minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The minutes' title.
    pub title: String,
    /// The day of the meeting, `YYYY-MM-DD`, if known.
    pub date: Option<String>,
    /// Whoever made the summary.
    pub summary_by: String,
    /// The summary.
    pub summary: Vec<Sentence>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// How many more decisions the minutes hold.
    pub decisions_left_out: u32,
    /// One ticket per action, in the order of the draft.
    pub tickets: Vec<TicketRef>,
    /// How many more actions the minutes hold, for which no ticket was written.
    pub actions_left_out: u32,
    /// The policies that bear on the minutes.
    pub policy: Vec<PolicyNote>,
    /// Tickets that may be about the same things.
    pub related: Vec<RelatedTicket>,
    /// How decisions and actions were found.
    pub method: String,
    /// What the report lacks, in words.
    pub missing: Vec<String>,
}

/// A ticket that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TicketRef {
    /// The service's id of it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who does it, if the minutes say so.
    pub owner: Option<String>,
}

/// A policy as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyNote {
    /// The document's id.
    pub doc_id: String,
    /// The document's title.
    pub title: String,
    /// The document's version.
    pub version: String,
    /// What it may be used for.
    pub allowed_use: AllowedUse,
    /// The passage; only of a document that may be quoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// How good the evidence is.
    pub grade: Grade,
    /// When it was retrieved, milliseconds since 1970.
    pub retrieved_at_ms: u64,
    /// Digest of all documents that were searched.
    pub source_digest: String,
}

/// What a report is made of beside the draft.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The policy evidence.
    pub policy: &'a PolicyEvidence,
    /// The tickets, in the order of the draft's actions.
    pub tickets: &'a [TicketRef],
    /// Related tickets; empty if none or not searched.
    pub related: &'a [RelatedTicket],
    /// What is missing, in words.
    pub missing: &'a [String],
}

impl Report {
    /// Puts the parts together.
    #[must_use]
    pub fn new(draft: &Draft, parts: Parts<'_>) -> Self {
        Self {
            title: draft.title.clone(),
            date: draft.date.clone(),
            summary_by: draft.summary_by.clone(),
            summary: draft.summary.clone(),
            decisions: draft.decisions.clone(),
            decisions_left_out: draft.decisions_left_out,
            tickets: parts.tickets.to_vec(),
            actions_left_out: draft.actions_left_out,
            policy: notes(parts.policy),
            related: parts.related.to_vec(),
            method: draft.method.clone(),
            missing: parts.missing.to_vec(),
        }
    }
}

fn notes(policy: &PolicyEvidence) -> Vec<PolicyNote> {
    let note = |passage: &crate::policy::Passage| PolicyNote {
        doc_id: passage.doc_id.clone(),
        title: passage.title.clone(),
        version: passage.version.clone(),
        allowed_use: passage.allowed_use,
        quote: match passage.allowed_use {
            AllowedUse::Quote => Some(passage.snippet.clone()),
            AllowedUse::Cite | AllowedUse::Internal => None,
        },
        grade: policy.grade,
        retrieved_at_ms: policy.retrieved_at_ms,
        source_digest: policy.source_digest.clone(),
    };
    policy.passages.iter().map(note).collect()
}

/// The report for a terminal: plain text, readable without colour, safe to print.
#[must_use]
pub fn to_text(report: &Report) -> String {
    let mut page = Page::default();
    page.line(0, &report.title);
    if let Some(date) = &report.date {
        page.line(0, &format!("Meeting of {date}"));
    }
    page.heading(&format!("Summary (by {})", report.summary_by));
    for sentence in &report.summary {
        page.item(&sentence.text, &sentence.section);
    }
    page.none_if(report.summary.is_empty());
    page.heading(&format!("Decisions (by {})", report.method));
    for decision in &report.decisions {
        page.item(
            &decision.text,
            &format!("line {}, {}", decision.evidence.line, decision.section),
        );
    }
    page.none_if(report.decisions.is_empty());
    page.more(report.decisions_left_out, "decisions");
    page.heading("Tickets");
    for ticket in &report.tickets {
        let owner = ticket.owner.as_deref().unwrap_or("no owner named");
        page.line(2, &format!("{}  {} [{owner}]", ticket.id, ticket.title));
    }
    page.none_if(report.tickets.is_empty());
    page.more(report.actions_left_out, "actions, without tickets");
    policies(&mut page, report);
    page.heading("Related tickets");
    for ticket in &report.related {
        page.line(2, &format!("{}  {}", ticket.id, ticket.title));
    }
    page.none_if(report.related.is_empty());
    if !report.missing.is_empty() {
        page.heading("Missing");
        for missing in &report.missing {
            page.line(2, &format!("- {missing}"));
        }
    }
    page.out
}

fn policies(page: &mut Page, report: &Report) {
    page.heading("Policies");
    for note in &report.policy {
        let PolicyNote {
            doc_id,
            title,
            version,
            ..
        } = note;
        page.line(2, &format!("{doc_id}  {title}, version {version}"));
        let use_of = note.allowed_use.as_str();
        let at = utc(note.retrieved_at_ms);
        page.line(
            6,
            &format!(
                "evidence: {}, retrieved {at}, use: {use_of}",
                note.grade.as_str()
            ),
        );
        if let Some(quote) = &note.quote {
            page.line(6, &format!("\"{quote}\""));
        }
    }
    page.none_if(report.policy.is_empty());
}

#[derive(Default)]
struct Page {
    out: String,
}

impl Page {
    fn heading(&mut self, text: &str) {
        self.out.push('\n');
        self.line(0, text);
    }

    fn item(&mut self, text: &str, place: &str) {
        self.line(2, &format!("- {text}"));
        if !place.is_empty() {
            self.line(6, &format!("({place})"));
        }
    }

    fn none_if(&mut self, empty: bool) {
        if empty {
            self.line(2, "none");
        }
    }

    fn more(&mut self, count: u32, what: &str) {
        if 0 < count {
            self.line(2, &format!("and {count} more {what}"));
        }
    }

    /// One paragraph, wrapped, with an indent that its further lines deepen by two.
    fn line(&mut self, indent: usize, text: &str) {
        let text = printable(text);
        let mut left = 0;
        for (n, word) in text.split(' ').enumerate() {
            let length = word.chars().count();
            let wraps = n != 0 && WIDTH < left + 1 + length;
            let lead = match (n, wraps) {
                (0, _) => " ".repeat(indent),
                (_, true) => format!("\n{}", " ".repeat(indent + 2)),
                (_, false) => " ".to_owned(),
            };
            left = if wraps { indent + 2 } else { left + lead.len() } + length;
            write!(self.out, "{lead}{word}").expect("writing to a String cannot fail");
        }
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Passage;
    use crate::summarise::{Evidence, METHOD};

    fn report() -> Report {
        let passage = |id: &str, allowed_use| Passage {
            doc_id: id.to_owned(),
            title: "Voting".to_owned(),
            version: "2".to_owned(),
            score: 1.0,
            snippet: "A vote needs a quorum.".to_owned(),
            allowed_use,
        };
        let policy = PolicyEvidence {
            passages: vec![
                passage("POL-1", AllowedUse::Quote),
                passage("POL-2", AllowedUse::Cite),
            ],
            retrieved_at_ms: 60_000,
            source_digest: "d".to_owned(),
            grade: Grade::ApprovedSnapshot,
        };
        let decision = Decision {
            text: "Agreed.".to_owned(),
            section: "Budget".to_owned(),
            evidence: Evidence {
                line: 3,
                text: "* agreed".to_owned(),
            },
        };
        let draft = Draft {
            title: "Board\u{1b}[31m call".to_owned(),
            date: Some("2026-03-04".to_owned()),
            summary_by: METHOD.to_owned(),
            summary: Vec::new(),
            decisions: vec![decision],
            decisions_left_out: 2,
            actions: Vec::new(),
            actions_left_out: 1,
            method: METHOD.to_owned(),
        };
        let ticket = TicketRef {
            id: "T-1".to_owned(),
            title: "Call Kai".to_owned(),
            owner: None,
        };
        let missing = ["related tickets not searched".to_owned()];
        let parts = Parts {
            policy: &policy,
            tickets: &[ticket],
            related: &[],
            missing: &missing,
        };
        Report::new(&draft, parts)
    }

    #[test]
    fn the_text_shows_grade_time_and_what_is_missing_and_nothing_that_moves_a_terminal() {
        assert_eq!(
            to_text(&report()),
            "Board[31m call\nMeeting of 2026-03-04\n\nSummary (by extractive-local)\n  none\n\n\
             Decisions (by extractive-local)\n  - Agreed.\n      (line 3, Budget)\n  \
             and 2 more decisions\n\nTickets\n  T-1  Call Kai [no owner named]\n  \
             and 1 more actions, without tickets\n\nPolicies\n  POL-1  Voting, version 2\n      \
             evidence: approved_snapshot, retrieved 1970-01-01T00:01:00Z, use: quote\n      \
             \"A vote needs a quorum.\"\n  POL-2  Voting, version 2\n      \
             evidence: approved_snapshot, retrieved 1970-01-01T00:01:00Z, use: cite\n\n\
             Related tickets\n  none\n\nMissing\n  - related tickets not searched\n"
        );
    }

    #[test]
    fn long_lines_wrap_at_words() {
        let mut page = Page::default();
        page.line(2, &"word ".repeat(60));
        assert!(
            page.out
                .lines()
                .all(|line| line.chars().count() <= WIDTH + 1),
            "{}",
            page.out
        );
        assert_eq!(page.out.split_whitespace().count(), 60);
    }

    #[test]
    fn a_report_survives_json() {
        let report = report();
        let json = serde_json::to_string(&report).expect("plain data");
        assert_eq!(
            serde_json::from_str::<Report>(&json).expect("same shape"),
            report
        );
    }
}
