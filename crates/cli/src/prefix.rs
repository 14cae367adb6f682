//! A run's id as a person gives it: whole, or its first characters when they fit no other run.
//!
//! It never guesses: what fits several runs names them and chooses none.

use std::str::FromStr;

use mainstay_socket::{Ask, RunsAsk};
use mainstay_types::{Code, RunId};
use serde::Deserialize;

use crate::error::CliError;
use crate::operator::{Operator, read};
use crate::output::Output;

/// Characters of an id that are enough to ask for it.
const PREFIX_CHARS_MIN: usize = 8;

/// Hexadecimal digits of an id.
const ID_DIGITS: usize = 32;

/// Runs that are named when a prefix fits several.
const CANDIDATES_MAX: usize = 10;

/// A run's id, or how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPrefix {
    text: String,
    digits: String,
}

/// As much of a listing as is needed here.
#[derive(Deserialize)]
struct Listing {
    runs: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    run_id: String,
}

impl RunPrefix {
    /// The run it fits. A whole id is taken as it is: whether there is such a run, the question
    /// that follows tells.
    pub(crate) fn run(
        &self,
        operator: &mut dyn Operator,
        output: &Output,
    ) -> Result<RunId, CliError> {
        if let Some(id) = self.whole() {
            return Ok(id);
        }
        match self.fitting(operator)?.as_slice() {
            [] => Err(self.unknown(output)),
            [id] => Ok(*id),
            ids => Err(self.ambiguous(ids)),
        }
    }

    /// The run that is named, when one is.
    pub(crate) fn run_of(
        named: Option<&Self>,
        operator: &mut dyn Operator,
        output: &Output,
    ) -> Result<Option<RunId>, CliError> {
        named.map(|named| named.run(operator, output)).transpose()
    }

    /// There is no such run.
    pub(crate) fn unknown(&self, output: &Output) -> CliError {
        let message = format!("there is no such run [{}]", self.text);
        let list = output.call("runs");
        let hint = format!("`{list}` lists the runs of this store");
        CliError::new(Code::RunUnknown, message, hint)
    }

    /// Runs whose id begins so, at most one more than are named.
    fn fitting(&self, operator: &mut dyn Operator) -> Result<Vec<RunId>, CliError> {
        let ask = Ask::Runs(RunsAsk {
            cursor: self.above(),
            limit: CANDIDATES_MAX + 1,
            ..RunsAsk::default()
        });
        let listing: Listing = read(&operator.ask(&ask)?)?;
        let ids = listing
            .runs
            .iter()
            .filter_map(|row| row.run_id.parse().ok());
        Ok(ids.take_while(|&id| self.lowest() <= id).collect())
    }

    fn ambiguous(&self, ids: &[RunId]) -> CliError {
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
        let message = format!(
            "{} fits several runs:\n{}{more}",
            self.text,
            named.join("\n")
        );
        let hint = "give more characters of the id";
        CliError::new(Code::InvalidInput, message, hint)
    }

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
