//! Every check of the workspace, the cheapest first. It must never go on after a failed stage,
//! and never change a source file: what it says must be about the tree as it was.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::tidy::{self, Show};
use crate::tools::{self, DENY, NEXTEST, Tool};

/// One check: a name for the table, and what runs.
struct Stage {
    name: &'static str,
    run: Run,
}

enum Run {
    /// Our own rules, in this process.
    Tidy,
    /// A cargo command line, with one more environment variable if need be.
    Cargo(
        &'static [&'static str],
        Option<(&'static str, &'static str)>,
    ),
    /// The same, of a tool that is installed first if it is missing.
    With(Tool, &'static [&'static str]),
}

const STAGES: [Stage; 7] = [
    Stage {
        name: "fmt",
        run: Run::Cargo(&["fmt", "--all", "--check"], None),
    },
    Stage {
        name: "tidy",
        run: Run::Tidy,
    },
    Stage {
        name: "clippy",
        run: Run::Cargo(
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
            None,
        ),
    },
    Stage {
        name: "deny",
        run: Run::With(DENY, &["deny", "check", "bans", "licenses", "sources"]),
    },
    Stage {
        name: "doc",
        run: Run::Cargo(
            &["doc", "--workspace", "--no-deps", "--quiet"],
            Some(("RUSTDOCFLAGS", "-D warnings")),
        ),
    },
    Stage {
        name: "test",
        run: Run::With(NEXTEST, &["nextest", "run", "--workspace"]),
    },
    Stage {
        name: "doc test",
        run: Run::Cargo(&["test", "--doc", "--workspace", "--quiet"], None),
    },
];

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Runs all stages in order until one fails; code 1 if one did.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let verdicts = run_until_failure(&STAGES, |stage| {
        eprintln!("\n== {} ==", stage.name);
        perform(root, stage)
    })?;
    eprintln!();
    for (stage, verdict) in STAGES.iter().zip(&verdicts) {
        eprintln!("{}", line(stage.name, *verdict));
    }
    let passed = verdicts
        .iter()
        .all(|verdict| matches!(verdict, Verdict::Passed(_)));
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn run_until_failure(
    stages: &[Stage],
    mut perform: impl FnMut(&Stage) -> Result<bool>,
) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    let mut failed = false;
    for stage in stages {
        if failed {
            verdicts.push(Verdict::NotRun);
            continue;
        }
        let start = Instant::now();
        let passed = perform(stage).with_context(|| format!("stage `{}`", stage.name))?;
        failed = !passed;
        let time = start.elapsed();
        verdicts.push(if passed {
            Verdict::Passed(time)
        } else {
            Verdict::Failed(time)
        });
    }
    Ok(verdicts)
}

fn line(name: &str, verdict: Verdict) -> String {
    match verdict {
        Verdict::Passed(time) => format!("{name:<10} passed   {:>7.1} s", time.as_secs_f64()),
        Verdict::Failed(time) => format!("{name:<10} FAILED   {:>7.1} s", time.as_secs_f64()),
        Verdict::NotRun => format!("{name:<10} not run"),
    }
}

fn perform(root: &Path, stage: &Stage) -> Result<bool> {
    match &stage.run {
        Run::Tidy => Ok(tidy::run(root, Show::ErrorsOnly)? == ExitCode::SUCCESS),
        Run::Cargo(arguments, variable) => call(root, arguments, *variable),
        Run::With(tool, arguments) => {
            tool.ensure()?;
            call(root, arguments, None)
        }
    }
}

fn call(root: &Path, arguments: &[&str], variable: Option<(&str, &str)>) -> Result<bool> {
    eprintln!("cargo {}", arguments.join(" "));
    let mut command = Command::new(tools::cargo());
    command
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null());
    // What cargo told *us* about our package would make other packages build again.
    for (name, _) in env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if ours {
            command.env_remove(name);
        }
    }
    command.envs(variable);
    let status = command
        .status()
        .with_context(|| format!("cargo {} cannot be started", arguments[0]))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stage_stops_the_run_and_the_rest_is_listed_as_not_run() {
        let mut seen = Vec::new();
        let verdicts = run_until_failure(&STAGES, |stage| {
            seen.push(stage.name);
            Ok(stage.name != "clippy")
        })
        .unwrap();
        assert_eq!(seen, ["fmt", "tidy", "clippy"]);
        assert!(matches!(verdicts[2], Verdict::Failed(_)));
        assert_eq!(verdicts[3..], [Verdict::NotRun; 4]);
    }

    #[test]
    fn every_stage_has_its_line_in_the_summary() {
        let time = Duration::from_millis(1_250);
        assert_eq!(
            line("fmt", Verdict::Passed(time)),
            "fmt        passed       1.2 s"
        );
        assert_eq!(line("doc test", Verdict::NotRun), "doc test   not run");
    }
}
