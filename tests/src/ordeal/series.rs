//! A store through many rounds: written until its process dies, checked on a copy, gone on with.
//!
//! What was asked and not answered is settled by the first check, once and for all: a later one
//! that finds it otherwise is a failure.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::check::Report;
use super::fact::Fact;
use super::moment::{Death, Moment, OPENING_PERCENT, opening};
use super::writer::{Load, Programs, run};
use mainstay_fault_disk::Dice;
use mainstay_fault_disk::Image;

/// How many of a hundred checks open the copy twice.
const TWICE_PERCENT: u64 = 20;

/// A folder for stores that are not as they must be, with what was told of them; without it they
/// are gone when a test ends.
pub const KEEP: &str = "MAINSTAY_KEEP";

/// What came of a campaign, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Writers that died.
    pub deaths: usize,
    /// Of these while opening.
    pub opening: usize,
    /// While closing.
    pub closing: usize,
    /// Checks.
    pub checks: usize,
    /// What was acknowledged, over all rounds.
    pub acknowledged: usize,
    /// Deeds that were asked and not answered.
    pub unanswered: usize,
    /// Of these, what was found there.
    pub found: usize,
    /// Questions that were asked.
    pub readings: usize,
}

impl Tally {
    /// With what another part came to.
    pub fn add(&mut self, other: &Self) {
        self.deaths += other.deaths;
        self.opening += other.opening;
        self.closing += other.closing;
        self.checks += other.checks;
        self.acknowledged += other.acknowledged;
        self.unanswered += other.unanswered;
        self.found += other.found;
        self.readings += other.readings;
    }
}

/// One store and its rounds.
pub struct Series {
    /// What writes and checks it.
    pub programs: Programs,
    place: TempDir,
    seed: u64,
    /// Draws everything of it.
    pub dice: Dice,
    /// What was told so far.
    pub facts: Vec<Fact>,
    round: u32,
    opened: Vec<u64>,
    /// What it came to.
    pub tally: Tally,
}

impl Series {
    /// A series without a store.
    ///
    /// # Panics
    /// There is no room for it.
    #[must_use]
    pub fn new(programs: &Programs, seed: u64) -> Self {
        Self {
            programs: programs.clone(),
            place: tempfile::tempdir().expect("a folder for the test"),
            seed,
            dice: Dice::of(seed, "series"),
            facts: Vec::new(),
            round: 0,
            opened: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// The folder of the store.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.path("store")
    }

    /// A path beside it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Draws when the next writer dies.
    pub fn moment(&mut self) -> Moment {
        let so_far = (self.tally.deaths, self.tally.opening);
        Moment::drawn(&self.dice, opening(&mut self.opened), so_far)
    }

    /// Whether there were so many deaths, and enough of them while the store was opened.
    #[must_use]
    pub const fn is_over(&self, deaths: usize) -> bool {
        deaths <= self.tally.deaths
            && OPENING_PERCENT * self.tally.deaths <= 100 * self.tally.opening
    }

    /// A writer on the store dies at its moment.
    ///
    /// # Panics
    /// It ends otherwise.
    pub fn die(&mut self, moment: Moment, load: Load) {
        let store = self.store();
        let told = self.write(&store, moment, load, |_| {});
        self.facts.extend(told);
    }

    /// Lets a writer run until its moment, and returns what it told; `before` it is started, its
    /// command is offered.
    ///
    /// # Panics
    /// It ends otherwise.
    pub fn write(
        &mut self,
        store: &Path,
        moment: Moment,
        load: Load,
        before: impl FnOnce(&mut std::process::Command),
    ) -> Vec<Fact> {
        self.round += 1;
        let mut command = self.programs.writer(store, self.seed, self.round, load);
        before(&mut command);
        let told = run(&mut command, moment);
        let death = Death::of(&told);
        self.tally.deaths += usize::from(death != Death::None);
        self.tally.opening += usize::from(death == Death::Opening);
        self.tally.closing += usize::from(death == Death::Closing);
        self.opened
            .extend(told.iter().filter_map(|fact| match fact {
                Fact::Open(micros) => Some(*micros),
                Fact::Opening
                | Fact::Try(..)
                | Fact::Done(..)
                | Fact::Closing
                | Fact::Closed(_)
                | Fact::Found(..)
                | Fact::Failed(_) => None,
            }));
        told
    }

    /// Checks a copy of the store against all that was told, and settles what was not answered.
    ///
    /// # Panics
    /// Anything is not as it must be.
    pub fn check(&mut self, told: &str) {
        let image = Image::read(&self.store());
        let found = self.must_be_clean(&image, &self.facts.clone(), told);
        self.facts.extend(found);
    }

    /// Checks a store like this; what was found there of what was not answered.
    ///
    /// # Panics
    /// Anything is not as it must be, if this is what was told of it.
    #[must_use]
    pub fn must_be_clean(&mut self, image: &Image, facts: &[Fact], told: &str) -> Vec<Fact> {
        let report = self.check_image(image, facts);
        let complaints = || self.complaints(&report, (image, facts));
        assert!(report.is_clean(), "{told}\n{}", complaints());
        report.found
    }

    /// What a checker says of a store like this, if this is what was told of it.
    #[must_use]
    pub fn check_image(&mut self, image: &Image, facts: &[Fact]) -> Report {
        let (report, _) = self.try_check(image, facts).unwrap_or_else(|fell| {
            panic!("seed {}, round {}: {fell}", self.seed, self.round);
        });
        self.tally.checks += 1;
        self.tally.acknowledged += report.acknowledged;
        self.tally.readings += report.readings;
        for fact in &report.found {
            if let Fact::Found(_, found) = fact {
                self.tally.unanswered += found.len();
                self.tally.found += found.iter().filter(|found| **found).count();
            }
        }
        report
    }

    /// The same, when nothing is expected; also what the checker said beside its report.
    ///
    /// # Errors
    /// The checker does not end well.
    pub fn try_check(&mut self, image: &Image, facts: &[Fact]) -> Result<(Report, String), String> {
        let copy = self.path("copy");
        image.write(&copy);
        let twice = self.dice.percent(TWICE_PERCENT);
        self.programs.check(&copy, facts, twice)
    }

    /// What is not as it must be, and where it was; the store and what was told of it are kept in
    /// the folder that [`KEEP`] names.
    #[must_use]
    pub fn complaints(&self, report: &Report, (image, facts): (&Image, &[Fact])) -> String {
        let (round, seed) = (self.round, self.seed);
        let kept = keep(&format!("{seed}-{round}"), image, facts);
        format!("seed {seed}, round {round}{kept}\n{}", report.complaints())
    }
}

/// Keeps a store if it is asked for, and says where.
#[must_use]
pub fn keep(name: &str, image: &Image, facts: &[Fact]) -> String {
    let Some(folder) = std::env::var_os(KEEP) else {
        return format!(" (with {KEEP}=FOLDER the store is kept)");
    };
    let place = PathBuf::from(folder).join(name);
    image.write(&place.join("store"));
    let told: String = facts.iter().map(Fact::line).collect();
    std::fs::write(place.join("facts"), told).expect("there is room to keep a store");
    format!(" (kept in {})", place.display())
}
