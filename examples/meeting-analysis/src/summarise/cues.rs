//! The cue rules: which clauses of running talk say that somebody is to do something.
//!
//! Rules are tried in the order of [`RULES`]; the first that fits wins. Precision comes first: a
//! question, a guess or an opinion must never become an action.

mod grammar;
mod promises;
mod requests;
#[cfg(test)]
mod tests;

use super::Cue;
use super::clause::Clause;
use super::people::{People, Person};
use promises::{
    addressed, assigned, coming, commitment, delegated, going_to, mention, offer, suggested, will,
};
use requests::{agreed, imperative, needed, please, reminder, take_back};

/// What a rule knows beside the clause.
pub(super) struct Talk<'a> {
    pub(super) people: &'a People,
    /// Who speaks, taken off the front of the text.
    pub(super) speaker: Option<Person>,
    /// Who speaks in the block above, when this one names nobody.
    pub(super) above: Option<Person>,
    /// Whom an earlier sentence named last.
    pub(super) named: Option<String>,
    /// Whether an instruction may open the clause; not so in titles of topics.
    pub(super) opens: bool,
}

impl Talk<'_> {
    /// The speaker as an owner: only somebody known can have promised something.
    fn me(&self) -> Option<String> {
        self.speaker
            .as_ref()
            .or(self.above.as_ref())
            .filter(|person| person.known)
            .map(|person| person.name.clone())
    }
}

/// An action found in a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) owner: Option<String>,
    pub(super) what: String,
    pub(super) cue: Cue,
}

impl Found {
    fn some(owner: Option<String>, what: &str, cue: Cue) -> Option<Self> {
        (!what.is_empty()).then(|| Self {
            owner,
            what: what.to_owned(),
            cue,
        })
    }
}

type Rule = fn(&Clause<'_>, &Talk<'_>) -> Option<Found>;

const RULES: [Rule; 16] = [
    mention, addressed, reminder, assigned, will, going_to, offer, commitment, agreed, suggested,
    delegated, take_back, please, needed, coming, imperative,
];

/// The action that a clause holds, if any.
pub(super) fn find(clause: &Clause<'_>, talk: &Talk<'_>) -> Option<Found> {
    if clause.question {
        // A question asks; only one that begs somebody by name is an action.
        return mention(clause, talk)
            .or_else(|| addressed(clause, talk))
            .or_else(|| please(clause, talk));
    }
    RULES.iter().find_map(|rule| rule(clause, talk))
}
