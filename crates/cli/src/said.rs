//! Who asks and why, as a person says it on the command line: both stay in the store.
//!
//! What is refused is never shown raw: a control character would reach the terminal.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

/// Takes a text that says something, as it is: not blank, without control characters, of at most
/// so many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) bytes_max: usize,
}

impl TypedValueParser for Said {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, text: &OsStr) -> Result<String, Error> {
        let text = text.to_str();
        let is_said = |text: &&str| {
            let is_blank = text.trim().is_empty();
            !is_blank && text.len() <= self.bytes_max && !text.contains(char::is_control)
        };
        if let Some(text) = text.filter(is_said) {
            return Ok(text.to_owned());
        }
        let option = arg.map_or_else(|| "the text".to_owned(), ToString::to_string);
        let rule = format!(
            "{option} has to be a text of 1 to {} bytes in UTF-8 that is not blank and has no \
             control characters, such as a line feed\n",
            self.bytes_max
        );
        Err(Error::raw(ErrorKind::ValueValidation, rule).with_cmd(cmd))
    }
}
