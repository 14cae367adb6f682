//! A store that is looked at: opened, read, closed again.
//!
//! It is opened only if it is there and nobody holds it. No method here writes.

use std::path::Path;
use std::str::FromStr;

use mainstay_ledger::{Ledger, LedgerError, Page, RunFilter, StoredClass};
use mainstay_ledger_sled::SledLedger;
use mainstay_machine::Summary;
use mainstay_runtime::view::{self, RunView};
use mainstay_types::{Code, RunId};

use crate::error::CliError;
use crate::output::Output;

/// Characters of an id that are enough to ask for it.
const PREFIX_CHARS_MIN: usize = 8;

/// Hexadecimal digits of an id.
const ID_DIGITS: usize = 32;

/// Runs that are named when a prefix fits several.
const CANDIDATES_MAX: usize = 10;

/// An open store.
pub(crate) struct Store {
    ledger: SledLedger,
    runtime: tokio::runtime::Runtime,
}

impl Store {
    /// Opens the store that is there.
    pub(crate) fn open(folder: &Path) -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(|error| {
                CliError::outside(
                    format!("cannot begin: {error}"),
                    "free some memory or files",
                )
            })?;
        let ledger = SledLedger::open_existing(folder).map_err(|error| locked_at(folder, error))?;
        Ok(Self { ledger, runtime })
    }

    /// Rows of runs, newest first, before `cursor`.
    pub(crate) fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> Result<Page<Summary>, CliError> {
        Ok(self.runtime.block_on(self.ledger.runs(filter, cursor))?)
    }

    /// All stored classes.
    pub(crate) fn classes(&self) -> Result<Vec<StoredClass>, CliError> {
        Ok(self.runtime.block_on(self.ledger.classes())?)
    }

    /// The run that `wanted` fits, with its timeline.
    pub(crate) fn show(&self, wanted: &RunPrefix, output: &Output) -> Result<RunView, CliError> {
        let unknown = || {
            let message = format!("there is no such run [{}]", wanted.text);
            let list = output.call("runs");
            CliError::new(
                Code::RunUnknown,
                message,
                format!("`{list}` lists the runs of this store"),
            )
        };
        let id = match self.find(wanted)?.as_slice() {
            [] => return Err(unknown()),
            [id] => *id,
            ids => return Err(ambiguous(wanted, ids)),
        };
        let view = self.runtime.block_on(view::stored(&self.ledger, id))?;
        view.ok_or_else(unknown)
    }

    /// Runs whose id begins so, at most one more than are named.
    fn find(&self, wanted: &RunPrefix) -> Result<Vec<RunId>, CliError> {
        if let Some(id) = wanted.whole() {
            return Ok(vec![id]);
        }
        let page = self.runs(RunFilter::default(), wanted.above())?;
        let fits = page
            .rows
            .iter()
            .map(|row| row.run)
            .take_while(|&id| wanted.lowest() <= id);
        Ok(fits.take(CANDIDATES_MAX + 1).collect())
    }
}

/// The holder alone does not say of what.
fn locked_at(folder: &Path, error: LedgerError) -> CliError {
    let mut told = CliError::from(error);
    if told.code == Some(Code::StoreLocked) {
        told.message = format!("{} [{}]", told.message, folder.display());
    }
    told
}

fn ambiguous(wanted: &RunPrefix, ids: &[RunId]) -> CliError {
    let named: Vec<String> = ids
        .iter()
        .take(CANDIDATES_MAX)
        .map(|id| format!("  {id}"))
        .collect();
    let more = if CANDIDATES_MAX < ids.len() {
        "\n  ..."
    } else {
        ""
    };
    CliError::new(
        Code::InvalidInput,
        format!(
            "{} fits several runs:\n{}{more}",
            wanted.text,
            named.join("\n")
        ),
        "give more characters of the id",
    )
}

/// A run's id, or how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPrefix {
    text: String,
    digits: String,
}

impl RunPrefix {
    /// The id, when it is whole.
    fn whole(&self) -> Option<RunId> {
        (self.digits.len() == ID_DIGITS).then(|| self.lowest())
    }

    /// The first id that begins so.
    fn lowest(&self) -> RunId {
        RunId::from_bytes(self.filled('0').to_be_bytes())
    }

    /// The first id after all that begin so; `None` when there is none.
    fn above(&self) -> Option<RunId> {
        self.filled('f')
            .checked_add(1)
            .map(|above| RunId::from_bytes(above.to_be_bytes()))
    }

    fn filled(&self, digit: char) -> u128 {
        let rest = ID_DIGITS.saturating_sub(self.digits.len());
        let whole: String = self
            .digits
            .chars()
            .chain(std::iter::repeat_n(digit, rest))
            .collect();
        u128::from_str_radix(&whole, 16).expect("32 hexadecimal digits, checked when read")
    }
}

impl FromStr for RunPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: String = text.chars().filter(|&c| c != '-').collect();
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) || ID_DIGITS < digits.len() {
            return Err("an id has 32 hexadecimal digits, as `runs` prints it".to_owned());
        }
        if digits.len() < PREFIX_CHARS_MIN {
            return Err(format!(
                "at least {PREFIX_CHARS_MIN} characters of the id are needed"
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            digits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_stands_for_all_ids_that_begin_with_it() {
        let prefix: RunPrefix = "01a22bd1-cE".parse().unwrap();
        assert_eq!(
            prefix.lowest().to_string(),
            "01a22bd1-ce00-0000-0000-000000000000"
        );
        let above = prefix.above().map(|id| id.to_string());
        assert_eq!(
            above.as_deref(),
            Some("01a22bd1-cf00-0000-0000-000000000000")
        );
        assert_eq!(prefix.whole(), None);
        let last: RunPrefix = "ffffffff".parse().unwrap();
        assert_eq!(last.above(), None);
    }

    #[test]
    fn a_whole_id_is_taken_with_and_without_hyphens() {
        let id: RunId = "01a22bd1-cee0-7000-8000-000000000001".parse().unwrap();
        for text in [id.to_string(), id.to_string().replace('-', "")] {
            assert_eq!(text.parse::<RunPrefix>().unwrap().whole(), Some(id));
        }
    }

    #[test]
    fn what_is_too_short_too_long_or_no_id_is_refused() {
        for text in ["", "01a22bd", "01a22bd1-zz", &"0".repeat(33)] {
            assert!(text.parse::<RunPrefix>().is_err(), "{text:?}");
        }
    }
}
