//! An export as it is read: line by line, each proven, in its order.
//!
//! Nothing of a line is believed before its checksum, nothing of the whole before its end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use mainstay_types::limits;

use super::ExchangeError;
use super::form::{Body, EndLine, FORM, Tally, read_line};

/// The lines of an export.
pub(crate) struct Lines {
    input: BufReader<File>,
    tally: Tally,
    text: String,
    stage: Stage,
    /// Bytes read so far, and of the file.
    pub(crate) read: u64,
    pub(crate) bytes: u64,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Head,
    Classes,
    Runs,
    Ended,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, ExchangeError> {
        let file = File::open(path).map_err(ExchangeError::Output)?;
        let bytes = file.metadata().map_err(ExchangeError::Output)?.len();
        Ok(Self {
            input: BufReader::new(file),
            tally: Tally::default(),
            text: String::new(),
            stage: Stage::Head,
            read: 0,
            bytes,
        })
    }

    /// The number of the line that was read last.
    pub(crate) fn number(&self) -> u64 {
        self.tally.lines + u64::from(self.stage == Stage::Ended)
    }

    /// Something is wrong with the line that was read last.
    pub(crate) fn wrong(&self, detail: impl Into<String>) -> ExchangeError {
        ExchangeError::Line {
            line: self.number().max(1),
            detail: detail.into(),
        }
    }

    /// What the next line says; `None` after the end.
    pub(crate) fn next(&mut self) -> Result<Option<Body>, ExchangeError> {
        self.text.clear();
        let most = limits::EXPORT_LINE_BYTES_MAX as u64;
        let read = (&mut self.input).take(most).read_line(&mut self.text);
        let here = self.number() + 1;
        let wrong = |detail: String| ExchangeError::Line { line: here, detail };
        let read = read.map_err(
            |error| match error.kind() == std::io::ErrorKind::InvalidData {
                true => wrong("it is no text".to_owned()),
                false => ExchangeError::Output(error),
            },
        )?;
        self.read += read as u64;
        if self.stage == Stage::Ended {
            return match read {
                0 => Ok(None),
                _ => Err(wrong("there is more after the end".to_owned())),
            };
        }
        if !self.text.ends_with('\n') {
            let cut = match read {
                0 => "the file ends before its last line".to_owned(),
                _ => format!("it is cut short, or longer than {most} bytes"),
            };
            return Err(wrong(cut));
        }
        let body = read_line(&mut self.tally, self.text.trim_end_matches('\n')).map_err(wrong)?;
        self.order(&body).map_err(wrong)?;
        Ok(Some(body))
    }

    /// Each kind of line in its place.
    fn order(&mut self, body: &Body) -> Result<(), String> {
        let (from, to) = match body {
            Body::Head(head) if head.mainstay_export != FORM => {
                return Err(format!(
                    "the export has form {}, this version reads {FORM}",
                    head.mainstay_export
                ));
            }
            Body::Head(_) => (Stage::Head, Stage::Classes),
            Body::Class(_) => (Stage::Classes, Stage::Classes),
            Body::Run(_) => (Stage::Classes, Stage::Runs),
            Body::Records(_) => (Stage::Runs, Stage::Runs),
            Body::Row(_) => (Stage::Classes, self.stage.max(Stage::Runs)),
            Body::End(end) => {
                self.end(end)?;
                (Stage::Classes, Stage::Ended)
            }
        };
        let fits = match body {
            Body::Head(_) | Body::Class(_) => self.stage == from,
            Body::Run(_) | Body::Records(_) | Body::Row(_) | Body::End(_) => from <= self.stage,
        };
        if !fits {
            return Err("it does not belong at this place of an export".to_owned());
        }
        self.stage = to;
        Ok(())
    }

    fn end(&self, end: &EndLine) -> Result<(), String> {
        if (end.lines, end.digest.as_str()) != (self.tally.lines, self.tally.digest().as_str()) {
            return Err(format!(
                "the end is of another export: it counts {} lines before it, there are {}, or \
                 their digest differs",
                end.lines, self.tally.lines
            ));
        }
        Ok(())
    }
}
