//! `completion`: what a shell has to know to complete the commands, made from their definition.

use std::io::Cursor;

use clap::CommandFactory;

use crate::args::{Cli, CompletionArgs};
use crate::error::CliError;
use crate::output::Output;

/// Prints the script for a shell, for this program under the name it was called by.
pub(crate) fn print(args: &CompletionArgs, output: &Output) -> Result<(), CliError> {
    let mut script = Cursor::new(Vec::new());
    let mut command = Cli::command();
    clap_complete::generate(args.shell, &mut command, &output.program, &mut script);
    output.print(&String::from_utf8_lossy(script.get_ref()))
}
