//! What a disk does to a file while nobody looks, and what a store may say to that.
//!
//! One fault at a time: a bit is another one, a page is zeros, a file ends too early or is gone. It
//! must never call an answer right because the store gave it: right is what was acknowledged.

use std::fmt;
use std::sync::Arc;

use super::check::{Report, Told};
use mainstay_fault_disk::Dice;
use mainstay_fault_disk::{Image, Item};

const PAGE: usize = 4_096;

/// A fault in a file of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub name: String,
    /// What happens to it.
    pub what: What,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// This bit is another one.
    Bit {
        /// Of this byte.
        at: usize,
        /// Which.
        bit: u8,
    },
    /// This page is zeros.
    Page(usize),
    /// It ends after so many bytes.
    Cut(usize),
    /// It is gone.
    Gone,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.what)
    }
}

impl Fault {
    /// A flipped bit or a page of zeros in a file, mostly where something is written.
    ///
    /// # Panics
    /// There is no such file, or nothing in it.
    #[must_use]
    pub fn drawn(image: &Image, name: &str, dice: &Dice) -> Self {
        let Some(Item::File(content)) = image.0.get(name) else {
            panic!("no file {name}");
        };
        let pages: Vec<usize> = (0..content.len().div_ceil(PAGE)).collect();
        let is_written = |page: &usize| page_of(content, *page).iter().any(|byte| *byte != 0);
        let written: Vec<usize> = pages.iter().copied().filter(is_written).collect();
        let from = if dice.percent(90) { &written } else { &pages };
        let page = *dice.one(from);
        let what = if dice.percent(40) {
            What::Page(page)
        } else {
            let bytes = page_of(content, page);
            let mut places: Vec<usize> = (0..bytes.len()).collect();
            if dice.percent(80) {
                places.retain(|at| bytes[*at] != 0);
            }
            let within = if places.is_empty() {
                0
            } else {
                *dice.one(&places)
            };
            What::Bit {
                at: page * PAGE + within,
                bit: u8::try_from(dice.below(8)).expect("below eight"),
            }
        };
        let name = name.to_owned();
        Self { name, what }
    }

    /// The folder with this fault.
    ///
    /// # Panics
    /// The file is not in it.
    #[must_use]
    pub fn in_image(&self, image: &Image) -> Image {
        let mut image = image.clone();
        let Some(Item::File(content)) = image.0.get(&self.name) else {
            panic!("no file {}", self.name);
        };
        let mut content = content.to_vec();
        match self.what {
            What::Bit { at, bit } => content[at] ^= 1 << bit,
            What::Page(page) => {
                let end = content.len().min((page + 1) * PAGE);
                content[page * PAGE..end].fill(0);
            }
            What::Cut(length) => content.truncate(length),
            What::Gone => {
                image.0.remove(&self.name);
                return image;
            }
        }
        image
            .0
            .insert(self.name.clone(), Item::File(Arc::new(content)));
        image
    }
}

fn page_of(content: &[u8], page: usize) -> &[u8] {
    &content[page * PAGE..content.len().min((page + 1) * PAGE)]
}

/// How a damaged store ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Every answer is right.
    Right,
    /// Runs are named that cannot be read; every other answer is right.
    Quarantined,
    /// The store does not open, and says what to do.
    Refused,
}

/// Judges what a checker found in a damaged store.
///
/// # Errors
/// What no damage may lead to, in words.
pub fn judge(report: &Report, said: &str) -> Result<End, String> {
    if let Some(panic) = said.lines().find(|line| is_our_panic(line)) {
        return Err(format!("a panic: {panic}\n{said}"));
    }
    if !report.wrong.is_empty() {
        return Err(format!(
            "a wrong answer, and not a word: {}",
            report.complaints()
        ));
    }
    if let Some(protest) = report.protests.first() {
        return Err(format!("half there: {protest}"));
    }
    if let Some(told) = &report.refused {
        return match told.names_way_out {
            true => Ok(End::Refused),
            false => Err(format!("a refusal that does not help: {told:?}")),
        };
    }
    let is_bad = |told: &&Told| !(told.names_run || told.names_way_out);
    if let Some(told) = report.told.iter().find(is_bad) {
        return Err(format!("an error that does not help: {told:?}"));
    }
    Ok(match report.told.is_empty() {
        true => End::Right,
        false => End::Quarantined,
    })
}

/// Whether a line is of a panic, but for those in sled's own code: they are caught where they
/// happen, and the system's hook has shown them before anybody could.
fn is_our_panic(line: &str) -> bool {
    line.contains("panicked at ") && !line.contains("/sled-0.34")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names_run: bool, names_way_out: bool) -> Told {
        Told {
            of: "a read".to_owned(),
            names_run,
            names_way_out,
            ..Told::default()
        }
    }

    #[test]
    fn a_wrong_answer_a_panic_and_an_error_without_help_are_never_a_good_end() {
        let wrong = Report {
            wrong: vec!["Effect: expected one, found none".to_owned()],
            ..Report::default()
        };
        let lost = Report {
            told: vec![told(true, false), told(false, false)],
            ..Report::default()
        };
        let refused = Report {
            refused: Some(told(false, false)),
            ..Report::default()
        };
        for report in [wrong, lost, refused] {
            assert!(judge(&report, "").is_err(), "{report:?}");
        }
        let panic = "thread 'main' panicked at ledger/log/src/open.rs:1:1:";
        assert!(judge(&Report::default(), panic).is_err());
    }

    #[test]
    fn right_answers_named_runs_and_refusals_that_say_what_to_do_are_the_three_good_ends() {
        assert_eq!(judge(&Report::default(), ""), Ok(End::Right));
        let quarantined = Report {
            told: vec![told(true, false), told(false, true)],
            ..Report::default()
        };
        assert_eq!(judge(&quarantined, ""), Ok(End::Quarantined));
        let refused = Report {
            refused: Some(told(false, true)),
            ..Report::default()
        };
        assert_eq!(judge(&refused, ""), Ok(End::Refused));
    }

    #[test]
    fn a_fault_changes_its_file_and_no_other() {
        let file = |byte| Item::File(Arc::new(vec![byte; 9_000]));
        let files = [("a".to_owned(), file(1)), ("b".to_owned(), file(2))];
        let image = Image(files.into_iter().collect());
        for seed in 0..50 {
            let fault = Fault::drawn(&image, "b", &Dice::of(seed, "faults"));
            assert_eq!(fault.in_image(&image).differences(&image), ["b"], "{fault}");
        }
    }
}
