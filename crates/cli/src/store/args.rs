//! What can be asked of a store as a whole.

use std::path::PathBuf;

use clap::Args;
use mainstay_types::{Millis, limits};

use crate::prefix::RunPrefix;
use crate::said::Said;

/// What is exported, and where to.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// Only this run, with its class and keys: its id, or how it begins; all without it
    #[arg(value_name = "RUN")]
    pub run: Option<RunPrefix>,

    /// The file to write; without it the lines go to stdout
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

/// What is imported.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// A file that `export` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// What is taken out of the store.
#[derive(Args, Clone, Debug)]
pub struct PruneArgs {
    /// Closed runs that ended longer ago than this, for example 7d, 12h or 0s; without it, what
    /// has expired by the settings that the store was written with
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub keep: Option<Millis>,
}

/// Whose traces are taken out.
#[derive(Args, Clone, Debug)]
pub struct EraseArgs {
    /// The run: its whole id, or how it begins
    #[arg(value_name = "RUN")]
    pub run: RunPrefix,

    /// Who asks
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = Said { bytes_max: limits::TEXT_BYTES_MAX })]
    pub by: String,

    /// For what reason; stays in the store
    #[arg(long, value_name = "TEXT")]
    #[arg(value_parser = Said { bytes_max: limits::TEXT_BYTES_MAX })]
    pub why: String,
}

/// Whether something is changed.
#[derive(Args, Clone, Debug)]
pub struct RepairArgs {
    /// Only say what would be done and what would be lost (the default)
    #[arg(long, conflicts_with = "apply")]
    pub dry_run: bool,

    /// Do it; what is replaced is kept beside it
    #[arg(long)]
    pub apply: bool,
}

/// A time as a person writes it: a whole number and `s`, `m`, `h` or `d`.
pub(crate) fn duration(text: &str) -> Result<Millis, String> {
    let wrong = || format!("{text:?} is no time: a whole number and s, m, h or d, like 7d");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let ms = number.checked_mul(seconds * 1_000).ok_or_else(wrong)?;
    // Beyond that no moment is left to compare with.
    match i64::try_from(ms) {
        Ok(_) => Ok(Millis::new(ms)),
        Err(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit_and_nothing_else() {
        assert_eq!(duration("7d"), Ok(Millis::new(7 * 86_400_000)));
        assert_eq!(duration("90m"), Ok(Millis::new(90 * 60_000)));
        assert_eq!(duration("0s"), Ok(Millis::ZERO));
        for text in [
            "",
            "7",
            "d",
            "-1d",
            "1.5h",
            "7 d",
            "7w",
            "99999999999999999999d",
            "9999999999999d",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
