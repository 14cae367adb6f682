//! A local extractive summariser: picks sentences, decisions and actions out of minutes by rules.
//!
//! No model, no network, no chance: the same minutes give the same draft, byte for byte. It must
//! never write a sentence of its own; all it says stands in the minutes, and each decision and
//! action carries the line that it came from.

mod actions;
mod assign;
mod clause;
mod cues;
mod decisions;
mod digest;
mod labels;
mod lexicon;
mod lines;
mod list;
mod people;
mod places;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::minutes::Minutes;
use crate::tickets::RelatedTicket;

pub(crate) use lines::{Line, lines};

/// The name of this method, in every draft that it makes.
pub const METHOD: &str = "extractive-local";
/// Most actions in a draft; those beyond it are counted.
pub const ACTIONS_MAX: usize = 50;
/// Most decisions in a draft; those beyond it are counted.
pub const DECISIONS_MAX: usize = 50;
/// Most sentences in a summary.
pub const SENTENCES_MAX: usize = 5;
/// Longest title of an action, in characters.
pub const TITLE_CHARS_MAX: usize = 90;
/// Longest detail, decision or sentence, in characters.
pub const DETAIL_CHARS_MAX: usize = 600;
/// Longest evidence line, in characters.
pub const EVIDENCE_CHARS_MAX: usize = 400;
/// Longest section, in characters.
pub const SECTION_CHARS_MAX: usize = 200;

/// What the minutes boil down to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    /// The minutes' title.
    pub title: String,
    /// The day of the meeting, `YYYY-MM-DD`, if known.
    pub date: Option<String>,
    /// Whoever made [`Draft::summary`]: [`METHOD`] or the specialist's name.
    pub summary_by: String,
    /// At most [`SENTENCES_MAX`] sentences, in the order of the minutes.
    pub summary: Vec<Sentence>,
    /// What was decided, in the order of the minutes; at most [`DECISIONS_MAX`].
    pub decisions: Vec<Decision>,
    /// How many more decisions were found.
    pub decisions_left_out: u32,
    /// What is to be done, in the order of the minutes; at most [`ACTIONS_MAX`].
    pub actions: Vec<Action>,
    /// How many more actions were found.
    pub actions_left_out: u32,
    /// How decisions and actions were found: [`METHOD`].
    pub method: String,
}

/// A sentence and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sentence {
    /// The sentence as written, without markup.
    pub text: String,
    /// Headings and topic above it, joined by ` > `; empty for a specialist's sentence.
    pub section: String,
}

/// A summary by anyone: the specialist, or this module when the specialist is away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Whoever made it, for example [`METHOD`].
    pub method: String,
    /// Its sentences.
    pub sentences: Vec<Sentence>,
}

/// Something that was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// The sentence that says so.
    pub text: String,
    /// Headings and topic above it, joined by ` > `.
    pub section: String,
    /// Where it stands.
    pub evidence: Evidence,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// What to do, short, without its owner.
    pub title: String,
    /// The sentence, and what directly follows on from it.
    pub detail: String,
    /// Who does it, if the minutes say so.
    pub owner: Option<String>,
    /// By when, as written in a table's due column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// Headings and topic above it, joined by ` > `.
    pub section: String,
    /// Where it stands.
    pub evidence: Evidence,
    /// Which rule found it.
    pub cue: Cue,
    /// Ids of tickets whose titles share words with it, at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
}

/// The place in the minutes that a statement rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Line number, from 1.
    pub line: u32,
    /// The line as it stands in the file, wrapped lines joined.
    pub text: String,
}

/// The rule that found an action.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cue {
    /// `Action: ..`, `AI: ..`, `TODO ..`.
    Label,
    /// An item below a heading such as "Action items", or below "Avery will:".
    ActionList,
    /// An open checkbox.
    Checkbox,
    /// A row of a table with a column of actions.
    Table,
    /// `@avery ..`.
    Mention,
    /// `Avery, invite ..`.
    Addressed,
    /// `Avery to draft ..`.
    Assigned,
    /// `Avery will ..`, `I'll ..`, `will ..`.
    Will,
    /// `going to ask ..`.
    GoingTo,
    /// `I can PR ..`.
    Offer,
    /// `planning to ..`, `volunteered to ..`, `was asked to ..`.
    Commitment,
    /// `agreed to remove ..`.
    Agreed,
    /// `take back to GitHub`.
    TakeBack,
    /// `Let the async hooks team address ..`.
    Delegated,
    /// `suggestion is that he opens ..`.
    Suggested,
    /// `please review ..`.
    Please,
    /// `remember to ..`.
    Reminder,
    /// `we need to ..`, `needs reviews`, `Avery should ..`.
    Needed,
    /// `summary coming next week`.
    Coming,
    /// `Invite Toby to the next meeting`.
    Imperative,
}

impl Cue {
    /// The word for it in JSON and reports, for example `action-list`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::ActionList => "action-list",
            Self::Checkbox => "checkbox",
            Self::Table => "table",
            Self::Mention => "mention",
            Self::Addressed => "addressed",
            Self::Assigned => "assigned",
            Self::Will => "will",
            Self::GoingTo => "going-to",
            Self::Offer => "offer",
            Self::Commitment => "commitment",
            Self::Agreed => "agreed",
            Self::TakeBack => "take-back",
            Self::Delegated => "delegated",
            Self::Suggested => "suggested",
            Self::Please => "please",
            Self::Reminder => "reminder",
            Self::Needed => "needed",
            Self::Coming => "coming",
            Self::Imperative => "imperative",
        }
    }
}

/// What may enrich a draft; all of it can be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// Tickets that may be about the same things.
    pub related: &'a [RelatedTicket],
    /// A summary that replaces the local one, unless it has no sentence.
    pub specialist: Option<&'a Summary>,
}

/// Makes a draft. Linear in the size of the minutes; never fails.
#[must_use]
pub fn summarise(minutes: &Minutes, extras: Extras<'_>) -> Draft {
    let people = people::People::of(minutes);
    let mut actions = actions::find(minutes, &people);
    for action in &mut actions.kept {
        action.related = related_to(action, extras.related);
    }
    let decisions = decisions::find(minutes, &people);
    let summary = match extras.specialist {
        Some(summary) if !summary.sentences.is_empty() => digest::bounded(summary),
        Some(_) | None => digest::local(minutes, &people),
    };
    Draft {
        title: minutes.title.clone(),
        date: minutes.date.clone(),
        summary_by: summary.method,
        summary: summary.sentences,
        decisions: decisions.kept,
        decisions_left_out: decisions.left_out,
        actions: actions.kept,
        actions_left_out: actions.left_out,
        method: METHOD.to_owned(),
    }
}

/// The summary that stands in when the specialist is away.
#[must_use]
pub fn local_summary(minutes: &Minutes) -> Summary {
    digest::local(minutes, &people::People::of(minutes))
}

/// The first items of a list that may be long, and how many more there were.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    pub(crate) kept: Vec<T>,
    pub(crate) left_out: u32,
}

/// Two shared words are a hint, one is chance.
fn related_to(action: &Action, related: &[RelatedTicket]) -> Vec<String> {
    const SHARED_MIN: usize = 2;
    const HINTS_MAX: usize = 3;
    let place = format!("{} {}", action.title, action.section);
    let words: std::collections::BTreeSet<String> = crate::text::content_words(&place).collect();
    let shares = |ticket: &&RelatedTicket| {
        let title: std::collections::BTreeSet<String> =
            crate::text::content_words(&ticket.title).collect();
        SHARED_MIN <= title.intersection(&words).count()
    };
    related
        .iter()
        .filter(shares)
        .take(HINTS_MAX)
        .map(|ticket| ticket.id.clone())
        .collect()
}
