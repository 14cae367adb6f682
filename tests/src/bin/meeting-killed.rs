//! The program `meeting-analysis` with failpoints: the same arguments, and a death by SIGKILL at
//! the append that `MAINSTAY_FAILPOINT` names.
//!
//! It must never do anything else than the program it is made of.

use std::process::ExitCode;

use mainstay_tests::failpoints::Failpoints;

fn main() -> ExitCode {
    match Failpoints::from_env() {
        Ok(failpoints) => meeting_analysis::app::main_with(&failpoints),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
