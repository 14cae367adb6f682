//! Actions: walks the minutes, asks the rules, and hands what they find to one list.
//!
//! The same minutes give the same list, because an action's position is part of its identity
//! outside.

use std::collections::{BTreeMap, BTreeSet};

use super::assign;
use super::clause::{self, Clause};
use super::cues::{self, Found, Talk};
use super::labels::{is_done, is_item, label};
use super::list::{Collector, Hit};
use super::people::{self, People, Person};
use super::places::{self, Place};
use super::{Action, Bounded, Cue};
use crate::minutes::{Block, BlockKind, Column, Minutes, Section, SectionKind};
use crate::text::clip;

/// The actions of the minutes.
pub(super) fn find(minutes: &Minutes, people: &People) -> Bounded<Action> {
    let mut collector = Collector::default();
    let mut walk = Walk::default();
    for place in places::of(minutes) {
        if place.at == 0 {
            walk = Walk::default();
        }
        match place.kind {
            SectionKind::Attendance | SectionKind::Absence | SectionKind::Boilerplate => {}
            SectionKind::PastActions if is_done(&place.block.text) => {}
            SectionKind::Actions
            | SectionKind::PastActions
            | SectionKind::Decisions
            | SectionKind::Discussion => walk.block(&place, people, &mut collector),
        }
    }
    collector.list
}

/// What the blocks above mean for those below; reset with every section.
#[derive(Default)]
struct Walk {
    /// Blocks whose children are actions, with the owner that they name.
    lists: BTreeMap<usize, Option<String>>,
    /// Blocks whose children belong to an action that is already taken.
    taken: BTreeSet<usize>,
    /// Who speaks in a block that has others below it.
    speakers: BTreeMap<usize, Person>,
}

impl Walk {
    fn block(&mut self, place: &Place<'_>, people: &People, out: &mut Collector) {
        let block = place.block;
        if place
            .parent
            .is_some_and(|parent| self.taken.contains(&parent))
        {
            self.taken.insert(place.at);
            return;
        }
        if block.checked == Some(true) {
            return;
        }
        if block.cells.iter().any(|cell| cell.column == Column::Action) {
            return out.add(place, row(block, people).into_iter().collect());
        }
        let listed = self.listed(place);
        if let (true, Some(owner)) = (
            place.has_children(),
            list_head(place, people, listed.as_ref()),
        ) {
            self.lists.insert(place.at, owner);
            return;
        }
        let cue = if block.checked == Some(false) {
            Cue::Checkbox
        } else {
            Cue::ActionList
        };
        match listed {
            Some(owner) if is_item(&block.text) => {
                self.taken.insert(place.at);
                out.add(place, vec![item(people, block, owner, cue)]);
            }
            Some(_) => {}
            None if cue == Cue::Checkbox => {
                out.add(place, vec![item(people, block, None, cue)]);
            }
            None => {
                let above = place
                    .parent
                    .and_then(|parent| self.speakers.get(&parent))
                    .cloned();
                let texts = clause::texts(block).into_iter();
                let found = texts.flat_map(|text| talk(place, people, text, above.as_ref()));
                out.add(place, found.collect());
                let speaker = people.speaker(&block.text).0.filter(|person| person.known);
                if let Some(speaker) = speaker.or(above).filter(|_| place.has_children()) {
                    self.speakers.insert(place.at, speaker);
                }
            }
        }
    }

    /// Whether the block is an item of a list of actions, and whose list it is.
    fn listed(&self, place: &Place<'_>) -> Option<Option<String>> {
        if let Some(owner) = place.parent.and_then(|parent| self.lists.get(&parent)) {
            return Some(owner.clone());
        }
        let own = place.kind == SectionKind::Actions && place.parent.is_none();
        (own && place.block.kind == BlockKind::Bullet).then_some(None)
    }
}

/// The owner of the actions below this block, if it opens a list of them.
fn list_head(
    place: &Place<'_>,
    people: &People,
    listed: Option<&Option<String>>,
) -> Option<Option<String>> {
    let text = place.block.text.trim_end_matches([':', ' ']);
    if listed.is_some() {
        return people::only_names(people, text).map(Some);
    }
    let section = Section {
        path: vec![clip(text, 60)],
        blocks: Vec::new(),
    };
    if section.kind() == SectionKind::Actions {
        return Some(None);
    }
    // "Devon's plan is to", "Avery will:", "Kai to:".
    let clause = Clause::of(clause::sentences(text).last().copied().unwrap_or(""));
    let last = clause.words.len().checked_sub(1)?;
    let plan = clause
        .find(&["plan", "is"])
        .is_some_and(|at| last <= at + 2);
    let ends = matches!(clause.lower(last), Some("will" | "to"));
    (plan || ends)
        .then(|| people.first_known(&clause, last))
        .filter(|owner| plan || owner.is_some())
}

fn item(people: &People, block: &Block, owner: Option<String>, cue: Cue) -> Hit {
    let text = crate::minutes::head(&block.text, clause::SENTENCE_BYTES_MAX);
    let text = label(text).unwrap_or(text);
    let item = assign::item(people, text);
    let found = Found {
        owner: item.owner.or(owner),
        what: item.what,
        cue,
    };
    Hit::of(found, text)
}

/// The action of a row, if its table has a column of actions.
fn row(block: &Block, people: &People) -> Option<Hit> {
    let cell = |column| {
        let found = block.cells.iter().find(|cell| cell.column == column);
        found
            .map(|cell| cell.text.as_str())
            .filter(|text| text.chars().any(char::is_alphanumeric))
    };
    let text = cell(Column::Action)?;
    let closed = cell(Column::Status).is_some_and(|status| {
        let lower = status.to_lowercase();
        ["done", "closed", "complete", "cancel"]
            .iter()
            .any(|word| lower.contains(word))
    });
    if closed || !is_item(text) {
        return None;
    }
    let item = assign::item(people, text);
    let owner = cell(Column::Owner)
        .map(|owner| clip(owner, 60))
        .or(item.owner);
    let due = cell(Column::Due).map(|due| clip(due, 40));
    let found = Found {
        owner,
        what: item.what,
        cue: Cue::Table,
    };
    Some(Hit {
        due,
        ..Hit::of(found, text)
    })
}

/// The actions in running talk.
fn talk(place: &Place<'_>, people: &People, text: &str, above: Option<&Person>) -> Vec<Hit> {
    let (speaker, said) = people.speaker(text);
    // Cells and decisions name things; an instruction in them would be a title.
    let titles = place.block.kind == BlockKind::Row
        || place.kind == SectionKind::Decisions
        || place.is_topic();
    let above = above.cloned();
    let mut talk = Talk {
        people,
        speaker,
        above,
        named: None,
        opens: !titles,
    };
    let mut out: Vec<Hit> = Vec::new();
    for sentence in clause::sentences(said) {
        if let Some(what) = label(sentence) {
            if is_item(what) {
                let item = assign::item(people, what);
                let found = Found {
                    owner: item.owner,
                    what: item.what,
                    cue: Cue::Label,
                };
                out.push(Hit::of(found, sentence));
            }
            continue;
        }
        for part in clauses(people, sentence) {
            let clause = Clause::of(part);
            let clause = remark(&clause, &mut talk).map_or(clause, Clause::of);
            out.extend(cues::find(&clause, &talk).map(|found| Hit::of(found, sentence)));
            talk.named = people.last_named(&clause).or(talk.named);
        }
    }
    out
}

/// The remark in `Devon, likely to land`: takes the speaker off, unless Devon is told to do it.
fn remark<'a>(clause: &Clause<'a>, talk: &mut Talk<'_>) -> Option<&'a str> {
    let (person, next) = talk.people.list_at(clause, 0)?;
    let remark = person.known && clause.words[next - 1].mark == ',' && next < clause.words.len();
    if !remark || cues::find(clause, talk).is_some_and(|found| found.cue == Cue::Addressed) {
        return None;
    }
    talk.speaker = Some(person);
    Some(clause.from(next))
}

/// The parts of a sentence with a doer each: `Avery to draft it and Kai to review it`.
fn clauses<'a>(people: &People, sentence: &'a str) -> Vec<&'a str> {
    let mut out = Vec::new();
    for piece in sentence.split("; ") {
        let clause = Clause::of(piece);
        let mut start = 0;
        for at in 1..clause.words.len() {
            if let Some(end) = splits(people, &clause, start, at) {
                out.push(clause.span(start, end));
                start = at;
            }
        }
        out.push(clause.from(start));
    }
    out
}

/// The last word of the part that ends before word `at`, if a new doer starts there.
fn splits(people: &People, clause: &Clause<'_>, start: usize, at: usize) -> Option<usize> {
    let before = &clause.words[at - 1];
    let joined = matches!(before.lower.as_str(), "and" | "then" | "while" | "but");
    if !joined && before.mark != ',' {
        return None;
    }
    let person = people.at(clause, at).filter(|person| person.known)?;
    let verb = clause.lower(at + person.words)?;
    // "Ask Avery and Kai to review" has one doer for both; so has "Avery and Kai will".
    let own = verb == "will" || (verb == "to" && opens_with_doer(people, clause, start));
    let end = if joined { at.checked_sub(2)? } else { at - 1 };
    let list = people
        .ending_at(clause, end)
        .is_some_and(|person| person.known);
    (own && !list && start <= end).then_some(end)
}

fn opens_with_doer(people: &People, clause: &Clause<'_>, start: usize) -> bool {
    let next = people.list_at(clause, start).map(|(_, next)| next);
    next.is_some_and(|next| matches!(clause.lower(next), Some("to" | "will")))
}
