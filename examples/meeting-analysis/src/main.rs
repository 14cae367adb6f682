//! The program `meeting-analysis`, and the two services it starts as processes of their own.
//!
//! It must never hold anything that another binary of the same program would lack.

use std::process::ExitCode;

use meeting_analysis::app::{self, seams::NoSeams};

fn main() -> ExitCode {
    app::main_with(&NoSeams)
}
