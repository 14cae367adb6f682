//! The binary `mainstay`: the command line without any class of its own.
//!
//! It must never hold anything that a user's binary with the same commands would lack.

use std::process::ExitCode;

fn main() -> ExitCode {
    mainstay_cli::main_with(Vec::new())
}
