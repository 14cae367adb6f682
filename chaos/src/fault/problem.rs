//! What is wrong with a fault that somebody wrote, and what to write instead.

use super::{Fault, Kind};

/// A fault that cannot befall anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultProblem {
    /// Its kind befalls a dependency, and it names none.
    #[error(
        "fault `{kind}` names no target: say `dependency = \"..\"`; it can befall {}", list(.known)
    )]
    NoTarget {
        /// The kind.
        kind: Kind,
        /// The dependencies that it can befall.
        known: Vec<String>,
    },
    /// It names a dependency that the class does not ask.
    #[error(
        "fault `{kind}`: the class asks no dependency `{dependency}`; there are {}", list(.known)
    )]
    UnknownDependency {
        /// The kind.
        kind: Kind,
        /// The name.
        dependency: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// It names a dependency that its kind cannot befall.
    #[error(
        "fault `{kind}` cannot befall `{dependency}`, it is for {whom}; it can befall {}",
        list(.known)
    )]
    WrongDependency {
        /// The kind.
        kind: Kind,
        /// The name.
        dependency: String,
        /// What it is for, in words.
        whom: &'static str,
        /// The names there are of that sort.
        known: Vec<String>,
    },
    /// A field that its kind needs is not there.
    #[error("fault `{kind}` has no `{field}`; its fields are: {fields}")]
    MissingField {
        /// The kind.
        kind: Kind,
        /// The field.
        field: &'static str,
        /// All fields of the kind.
        fields: &'static str,
    },
    /// A field that has no meaning for its kind is there.
    #[error("fault `{kind}` has `{field}`, which means nothing there; its fields are: {fields}")]
    StrayField {
        /// The kind.
        kind: Kind,
        /// The field.
        field: &'static str,
        /// All fields of the kind.
        fields: &'static str,
    },
    /// It counts from 0.
    #[error("fault `{kind}`: `{field}` counts from 1")]
    CountsFromOne {
        /// The kind.
        kind: Kind,
        /// The field.
        field: &'static str,
    },
    /// It lasts longer than anything may.
    #[error("fault `{kind}`: `{field}` is {ms} ms, at most {max} ms are possible")]
    TooLong {
        /// The kind.
        kind: Kind,
        /// The field.
        field: &'static str,
        /// What was said.
        ms: u64,
        /// The bound.
        max: u64,
    },
}

/// Beyond a year of virtual time nothing of a fault matters, and sums stay far from their end.
const MS_MAX: u64 = 366 * 24 * 60 * 60 * 1_000;

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none here".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Which fields a kind needs and may have.
struct Fields {
    dependency: bool,
    nth: bool,
    times: bool,
    at_ms: bool,
    ms: Ms,
    moment: bool,
}

#[derive(PartialEq)]
enum Ms {
    None,
    May,
    Must,
}

impl Fields {
    fn of(kind: Kind) -> Self {
        use super::Where;
        let named = kind.named();
        let long = match named.ms {
            Some(_) => Ms::Must,
            None => Ms::None,
        };
        let (dependency, nth, times, at_ms, ms, moment) = match named.place {
            Where::Request(_) | Where::LookUp => (true, true, true, false, long, false),
            Where::RequestsDuring(_) => (true, false, false, true, Ms::Must, false),
            Where::Commit => (false, true, false, false, Ms::May, true),
            Where::Moment => (false, false, false, true, long, false),
            Where::During => (false, false, false, true, Ms::Must, false),
        };
        Self {
            dependency,
            nth,
            times,
            at_ms,
            ms,
            moment,
        }
    }
}

impl Fault {
    /// Whether its fields are those of its kind. The dependency's name is not looked up.
    pub(crate) fn check_fields(&self) -> Result<(), FaultProblem> {
        let (kind, fields) = (self.kind, Fields::of(self.kind));
        let told = kind.named().place();
        let has = [
            (
                "dependency",
                self.dependency.is_some(),
                fields.dependency,
                false,
            ),
            ("nth", self.nth.is_some(), fields.nth, fields.nth),
            ("times", self.times.is_some(), fields.times, false),
            ("at_ms", self.at_ms.is_some(), fields.at_ms, fields.at_ms),
            (
                "ms",
                self.ms.is_some(),
                fields.ms != Ms::None,
                fields.ms == Ms::Must,
            ),
            (
                "moment",
                self.moment.is_some(),
                fields.moment,
                fields.moment,
            ),
        ];
        let fields = told;
        let mut stray = has.iter().filter(|(_, is_there, may, _)| *is_there && !may);
        if let Some((field, ..)) = stray.next() {
            return Err(FaultProblem::StrayField {
                kind,
                field,
                fields,
            });
        }
        let mut missing = has
            .iter()
            .filter(|(_, is_there, _, must)| *must && !is_there);
        if let Some((field, ..)) = missing.next() {
            return Err(FaultProblem::MissingField {
                kind,
                field,
                fields,
            });
        }
        for (field, count) in [("nth", self.nth), ("times", self.times)] {
            if count == Some(0) {
                return Err(FaultProblem::CountsFromOne { kind, field });
            }
        }
        for (field, ms) in [("at_ms", self.at_ms), ("ms", self.ms)] {
            if let Some(ms) = ms.filter(|ms| MS_MAX < *ms) {
                return Err(FaultProblem::TooLong {
                    kind,
                    field,
                    ms,
                    max: MS_MAX,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Stage;

    #[test]
    fn what_is_missing_stray_or_counted_from_zero_is_said_with_the_fields_there_are() {
        let told = |fault: Fault| fault.check_fields().expect_err("it is wrong").to_string();
        let missing = told(Fault::of(Kind::Killed));
        assert_eq!(
            missing,
            "fault `killed` has no `nth`; its fields are: nth, moment, perhaps ms"
        );
        let stray = told(Fault {
            moment: Some(Stage::Synced),
            ..Fault::of(Kind::Refused)
        });
        assert!(
            stray.contains("has `moment`, which means nothing there"),
            "{stray}"
        );
        let zero = told(Fault {
            nth: Some(0),
            ..Fault::of(Kind::Refused)
        });
        assert_eq!(zero, "fault `refused`: `nth` counts from 1");
        let long = told(Fault {
            at_ms: Some(u64::MAX),
            ms: Some(1),
            ..Fault::of(Kind::DiskFull)
        });
        assert!(long.contains("at most"), "{long}");
    }
}
