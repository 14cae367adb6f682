//! The checker: opens a store and compares every read with the truth.
//!
//! It reports and never judges: what is allowed after a kill is less than after damage. It may
//! write to the store it is given, so it is given a copy.

use std::path::Path;

use mainstay::ledger::{Ledger, LedgerError, SledLedger};
use mainstay_ledger::Enqueued;
use serde::{Deserialize, Serialize};

use super::author::ask;
use super::content::{Happened, Key, command, message_id, run_id};
use super::deed::{Beside, Deed, Writing};
use super::fact::{Fact, Said};
use super::house;
use super::reading::{LoadSeen, Reading, Seen, look};
use super::truth::Truth;

/// The number of runs that a checker begins, beyond all others.
const CHECKER: u32 = 3_000_000_000;
/// Messages that are put into their inboxes again, to see that they are known.
const MESSAGES_MAX: usize = 60;
/// Differences that are told.
const WRONG_MAX: usize = 20;

/// What was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Why the store does not open.
    pub refused: Option<Told>,
    /// What became of deeds that nobody was answered.
    pub found: Vec<Fact>,
    /// Reads that were answered, and not as they must be.
    pub wrong: Vec<String>,
    /// Reads and writes that ended in an error.
    pub told: Vec<Told>,
    /// Questions asked.
    pub readings: usize,
    /// What writers were acknowledged.
    pub acknowledged: usize,
    /// What writers were told of no room.
    pub full: usize,
    /// What the writers said that cannot be.
    pub protests: Vec<String>,
}

/// An error, and whether it helps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// Of what.
    pub of: String,
    /// Its stable code.
    pub code: String,
    /// Its words.
    pub text: String,
    /// Whether it names the run that was asked for.
    pub names_run: bool,
    /// Whether it says what to do.
    pub names_way_out: bool,
}

impl Told {
    pub(super) fn new(of: impl ToString, run: Option<u32>, error: &LedgerError) -> Self {
        let text = error.to_string();
        let way_out = matches!(
            error,
            LedgerError::Damaged { way_out, .. } if !way_out.trim().is_empty()
        );
        // These always say whose; which run that is matters only to whoever asked for one.
        let is_of_run = matches!(
            error,
            LedgerError::CorruptRecord { .. } | LedgerError::CorruptChain { .. }
        );
        Self {
            of: of.to_string(),
            code: error.code().as_str().to_owned(),
            names_run: run.map_or(is_of_run, |n| text.contains(&run_id(n).to_string())),
            names_way_out: way_out,
            text,
        }
    }
}

impl Report {
    /// Whether all is as it must be and nothing was refused.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.refused.is_none()
            && self.wrong.is_empty()
            && self.told.is_empty()
            && self.protests.is_empty()
    }

    /// What is not as it must be, for people.
    #[must_use]
    pub fn complaints(&self) -> String {
        let refused = self.refused.iter().map(|told| format!("refused: {told:?}"));
        let wrong = self.wrong.iter().map(|wrong| format!("wrong: {wrong}"));
        let told = self.told.iter().map(|told| format!("error: {told:?}"));
        let protests = self.protests.iter().map(|text| format!("protest: {text}"));
        let all = refused.chain(wrong).chain(told).chain(protests);
        all.take(WRONG_MAX).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn error(&mut self, of: impl ToString, run: Option<u32>, error: &LedgerError) {
        self.told.push(Told::new(of, run, error));
    }

    pub(super) fn wrong(&mut self, of: impl ToString, told: &str) {
        if self.wrong.len() < WRONG_MAX {
            self.wrong.push(format!("{}: {told}", of.to_string()));
        }
    }
}

/// How much is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Every read, and writing something new.
    Once,
    /// And everything again after it was closed and opened.
    Twice,
}

/// Checks the store in `folder` against what was told of it.
pub async fn check(folder: &Path, facts: &[Fact], depth: Depth) -> Report {
    let mut truth = Truth::of(facts);
    let mut report = Report {
        acknowledged: truth.acknowledged,
        full: truth.full,
        ..Report::default()
    };
    let store = match SledLedger::open(folder, house::options()) {
        Ok(store) => store,
        Err(error) => {
            report.refused = Some(Told::new("opening", None, &error));
            return report;
        }
    };
    match truth.settle(&store).await {
        Ok(found) => report.found = found,
        // What is there of it is not known then, and nothing can be compared.
        Err(error) => {
            report.error("settling", None, &error);
            return report;
        }
    }
    compare(&store, &truth, &mut report).await;
    known(&store, &truth, &mut report).await;
    alive(&store, &truth, &mut report).await;
    report.protests = std::mem::take(&mut truth.protests);
    if let Err(error) = store.close() {
        report.error("closing", None, &error);
    }
    if depth == Depth::Twice && report.is_clean() {
        match SledLedger::open(folder, house::options()) {
            Ok(store) => compare(&store, &truth, &mut report).await,
            Err(error) => report.error("opening again", None, &error),
        }
    }
    report
}

async fn compare(store: &dyn Ledger, truth: &Truth, report: &mut Report) {
    for reading in truth.names.readings() {
        report.readings += 1;
        let expected = look(&truth.ledger, reading).await;
        let expected = expected.expect("a ledger in memory reads what it wrote");
        match look(store, reading).await {
            Err(error) => report.error(reading, reading.run(), &error),
            Ok(seen) => match difference(reading, &seen, &expected, truth) {
                None => {}
                Some(told) => report.wrong(reading, &told),
            },
        }
    }
}

fn difference(reading: Reading, seen: &Seen, expected: &Seen, truth: &Truth) -> Option<String> {
    if seen == expected {
        return None;
    }
    if let (Reading::Load(n), Seen::Load(Some(seen)), Seen::Load(Some(expected))) =
        (reading, seen, expected)
    {
        return loaded_differently(n, seen, expected, truth);
    }
    Some(format!(
        "expected {}, found {}",
        expected.short(),
        seen.short()
    ))
}

/// A kept state may be there or not; with it, only what came after it is.
fn loaded_differently(
    n: u32,
    seen: &LoadSeen,
    expected: &LoadSeen,
    truth: &Truth,
) -> Option<String> {
    let after = seen.snapshot.as_ref().map_or(0, |kept| kept.seq.get());
    let known = seen
        .snapshot
        .as_ref()
        .is_none_or(|kept| truth.names.was_kept(n, kept));
    let skipped = usize::try_from(after).unwrap_or(usize::MAX);
    let rest = expected.events.get(skipped..);
    let same = rest.is_some_and(|rest| rest == seen.events) && seen.inbox == expected.inbox;
    (!known || !same).then(|| {
        format!(
            "loaded otherwise: a state at {after} that was offered: {known}, {} events of {}, {} \
             messages of {}",
            seen.events.len(),
            expected.events.len(),
            seen.inbox.len(),
            expected.inbox.len()
        )
    })
}

/// A message that arrived once is known for ever.
async fn known(store: &dyn Ledger, truth: &Truth, report: &mut Report) {
    let messages = truth.names.messages();
    let stride = messages.len() / MESSAGES_MAX + 1;
    for (run, message) in messages.iter().copied().step_by(stride) {
        report.readings += 1;
        let asked = command(run, message, 0);
        let id = message_id(run, message);
        match store.enqueue(run_id(run), id, asked).await {
            Ok(Enqueued::Known) => {}
            Ok(Enqueued::New) => report.wrong(format!("message {message} of {run}"), "forgotten"),
            Err(error) => report.error("a known message", Some(run), &error),
        }
    }
}

/// The store takes what is new, and refuses what is taken.
async fn alive(store: &dyn Ledger, truth: &Truth, report: &mut Report) {
    let starts = |n, key| Writing {
        run: n,
        after: 0,
        epoch: 1,
        events: vec![Happened::Started(300), Happened::Settled(2_000)],
        beside: vec![Beside::Row(false), Beside::Driven, Beside::Start(key)],
    };
    let own = Key {
        owner: CHECKER,
        item: 0,
    };
    let new = Deed::Commit(vec![
        vec![starts(CHECKER, own)],
        vec![starts(CHECKER + 1, own)],
    ]);
    let said = ask(store, &new).await;
    if said != [Said::Yes, Said::Held(CHECKER)] {
        let error = said.iter().find_map(|said| match said {
            Said::Error(text) => Some(text.clone()),
            Said::Yes | Said::Held(_) | Said::Known | Said::Full | Said::Stale => None,
        });
        match error {
            None => report.wrong("writing", &format!("it says {said:?}")),
            Some(text) => report.told.push(Told {
                of: "writing".to_owned(),
                code: text.split(':').next().unwrap_or_default().to_owned(),
                names_way_out: text.contains("hint: "),
                text,
                ..Told::default()
            }),
        }
        return;
    }
    let answers = mainstay_ledger::conformance::block_on(ask(&truth.ledger, &new));
    assert_eq!(answers, said, "the ledger in memory is the measure");
    let reading = Reading::Load(CHECKER);
    let expected = look(&truth.ledger, reading).await;
    match look(store, reading).await {
        Ok(seen) if Ok(&seen) == expected.as_ref() => {}
        Ok(seen) => report.wrong("what was just written", &seen.short()),
        Err(error) => report.error("what was just written", Some(CHECKER), &error),
    }
}
