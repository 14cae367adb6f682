//! Prints the hash of the logs of the built-in class's first worlds: `log_hash SEEDS`.

use std::process::ExitCode;

use mainstay_chaos::{Wish, built_in};

fn main() -> ExitCode {
    let seeds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(seeds) = seeds else {
        eprintln!("usage: log_hash SEEDS");
        return ExitCode::from(2);
    };
    let wish = Wish {
        seeds: Some(seeds),
        ..Wish::default()
    };
    match built_in().run(&wish) {
        Ok(report) if report.is_good() => {
            println!("{}", report.log_hash);
            ExitCode::SUCCESS
        }
        Ok(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
        Err(misuse) => {
            eprintln!("{misuse}");
            ExitCode::from(2)
        }
    }
}
