//! What is wrong with a campaign before any of its worlds begins, and what to write instead.

use crate::fault::{FaultProblem, Kind};

/// A campaign that cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// Nothing says what the runs are given.
    #[error("no workload: say .workload(|rng| ..), which makes a run's input")]
    NoWorkload,
    /// No world would be tried.
    #[error("zero seeds try nothing: say .seeds(1) or more")]
    NoSeeds,
    /// No run would be started.
    #[error("zero runs try nothing: say .runs(1) or more")]
    NoRuns,
    /// More runs in a world than it can look at.
    #[error("{runs} runs in one world are too many: at most {max}; more seeds try more")]
    TooManyRuns {
        /// What was said.
        runs: usize,
        /// The bound.
        max: usize,
    },
    /// A dependency that the class does not ask.
    #[error(
        "the class asks no dependency `{name}`: .dependency(..) takes one of {}", list(.known)
    )]
    UnknownDependency {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A dependency that was told to be two things.
    #[error("dependency `{name}` is told twice: leave one .dependency(\"{name}\", ..) out")]
    ToldTwice {
        /// The name.
        name: String,
    },
    /// A double that is read for a dependency that writes, or the other way round.
    #[error("dependency `{name}` {does}: its double is a {fits}, not a {told}")]
    WrongDouble {
        /// The name.
        name: String,
        /// What it does, in words.
        does: &'static str,
        /// The type that fits.
        fits: &'static str,
        /// The type that was given.
        told: &'static str,
    },
    /// A fault that was asked for and can befall nothing of this class.
    #[error("fault `{kind}` has no target in this class: it is for {whom}")]
    FaultWithoutTarget {
        /// The kind.
        kind: Kind,
        /// What it is for, in words.
        whom: &'static str,
    },
    /// A fault that somebody wrote and that cannot happen.
    #[error(transparent)]
    Fault(#[from] FaultProblem),
    /// Nothing is looked at.
    #[error("nothing is checked: say .check(Guarantees::all())")]
    NothingChecked,
    /// A share that is none.
    #[error("a share of {per_mille} of 1,000 runs is none: say 1 to 1,000")]
    NoShare {
        /// What was said.
        per_mille: u64,
    },
    /// `MAINSTAY_SEED` is no number.
    #[error("MAINSTAY_SEED is `{text}`: it takes one number, the seed of the world to try")]
    NoSeedNumber {
        /// What it says.
        text: String,
    },
    /// The class cannot be tried as it is: without any fault it does not do what it should.
    #[error("no steady state: without any fault, seed {seed}: {what}")]
    NoSteadyState {
        /// The seed.
        seed: u64,
        /// What was seen.
        what: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none: it has no dependency".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
