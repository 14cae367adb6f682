//! Every check of the workspace, the cheapest first. It must never go on after a failed stage,
//! and never change a source file: what it says must be about the tree as it was.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::api;
use crate::logs;
use crate::package;
use crate::tidy::{self, Show};
use crate::tools::{self, DENY, HACK, NEXTEST, Tool};

/// One check: a name for the table, and what runs.
struct Stage {
    name: &'static str,
    run: Run,
}

enum Run {
    /// Our own rules, in this process.
    Tidy,
    /// The product's crates, put together as packages and checked.
    Package,
    /// The facade's public API, held against the one in the tree.
    Api,
    /// The simulator's logs: the same from every build.
    Logs,
    /// A cargo command line, with one more environment variable if need be.
    Cargo(
        &'static [&'static str],
        Option<(&'static str, &'static str)>,
    ),
    /// The same, of a tool that is installed first if it is missing.
    With(Tool, &'static [&'static str]),
}

const STAGES: &[Stage] = &[
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
        name: "package",
        run: Run::Package,
    },
    Stage {
        name: "features",
        // None of the facade's features, and each of them alone.
        run: Run::With(
            HACK,
            &[
                "hack",
                "check",
                "--package",
                "mainstay",
                "--feature-powerset",
                "--depth",
                "1",
                "--quiet",
            ],
        ),
    },
    Stage {
        name: "doc",
        run: Run::Cargo(
            &[
                "doc",
                "--workspace",
                "--no-deps",
                "--quiet",
                "--features",
                "mainstay/chaos,mainstay/cli,mainstay/model,mainstay/testing",
            ],
            Some(("RUSTDOCFLAGS", "-D warnings")),
        ),
    },
    Stage {
        name: "api",
        run: Run::Api,
    },
    Stage {
        name: "logs",
        run: Run::Logs,
    },
    Stage {
        name: "test",
        run: Run::With(NEXTEST, &["nextest", "run", "--workspace"]),
    },
    Stage {
        name: "doc test",
        run: Run::Cargo(
            &[
                "test",
                "--doc",
                "--workspace",
                "--quiet",
                "--features",
                "mainstay/chaos,mainstay/cli,mainstay/model,mainstay/testing",
            ],
            None,
        ),
    },
];

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed(Duration),
    /// It could not look; it has said why.
    Skipped,
    Failed(Duration),
    NotRun,
}

/// What a stage says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Badly,
    WithoutLooking,
}

impl Ended {
    pub(crate) fn well(passed: bool) -> Self {
        if passed { Self::Well } else { Self::Badly }
    }
}

/// Runs all stages in order until one fails; code 1 if one did.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let verdicts = run_until_failure(STAGES, |stage| {
        eprintln!("\n== {} ==", stage.name);
        perform(root, stage)
    })?;
    eprintln!();
    for (stage, verdict) in STAGES.iter().zip(&verdicts) {
        eprintln!("{}", line(stage.name, *verdict));
    }
    let passed = verdicts
        .iter()
        .all(|verdict| matches!(verdict, Verdict::Passed(_) | Verdict::Skipped));
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn run_until_failure(
    stages: &[Stage],
    mut perform: impl FnMut(&Stage) -> Result<Ended>,
) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    let mut failed = false;
    for stage in stages {
        if failed {
            verdicts.push(Verdict::NotRun);
            continue;
        }
        let start = Instant::now();
        let ended = perform(stage).with_context(|| format!("stage `{}`", stage.name))?;
        failed = ended == Ended::Badly;
        let time = start.elapsed();
        verdicts.push(match ended {
            Ended::Well => Verdict::Passed(time),
            Ended::Badly => Verdict::Failed(time),
            Ended::WithoutLooking => Verdict::Skipped,
        });
    }
    Ok(verdicts)
}

fn line(name: &str, verdict: Verdict) -> String {
    match verdict {
        Verdict::Passed(time) => format!("{name:<10} passed   {:>7.1} s", time.as_secs_f64()),
        Verdict::Failed(time) => format!("{name:<10} FAILED   {:>7.1} s", time.as_secs_f64()),
        Verdict::Skipped => format!("{name:<10} SKIPPED"),
        Verdict::NotRun => format!("{name:<10} not run"),
    }
}

fn perform(root: &Path, stage: &Stage) -> Result<Ended> {
    match &stage.run {
        Run::Tidy => {
            let code = tidy::run(root, Show::ErrorsOnly)?;
            Ok(Ended::well(code == ExitCode::SUCCESS))
        }
        Run::Package => package::run(root).map(Ended::well),
        Run::Api => api::run(root, api::Mode::Compare),
        Run::Logs => logs::run(root, logs::SEEDS_CI).map(Ended::well),
        Run::Cargo(arguments, variable) => call(root, arguments, *variable),
        Run::With(tool, arguments) => {
            tool.ensure()?;
            call(root, arguments, None)
        }
    }
}

fn call(root: &Path, arguments: &[&str], variable: Option<(&str, &str)>) -> Result<Ended> {
    eprintln!("cargo {}", arguments.join(" "));
    let mut command = Command::new(tools::cargo());
    let status = tools::in_own_name(&mut command)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .envs(variable)
        .status()
        .with_context(|| format!("cargo {} cannot be started", arguments[0]))?;
    Ok(Ended::well(status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stage_stops_the_run_a_skipped_one_does_not_and_the_rest_is_listed_as_not_run() {
        let mut seen = Vec::new();
        let verdicts = run_until_failure(STAGES, |stage| {
            seen.push(stage.name);
            Ok(match stage.name {
                "clippy" => Ended::Badly,
                "tidy" => Ended::WithoutLooking,
                _ => Ended::Well,
            })
        })
        .unwrap();
        assert_eq!(seen, ["fmt", "tidy", "clippy"]);
        assert_eq!(verdicts[1], Verdict::Skipped);
        assert!(matches!(verdicts[2], Verdict::Failed(_)));
        assert!(
            verdicts[3..]
                .iter()
                .all(|verdict| *verdict == Verdict::NotRun)
        );
        assert_eq!(verdicts.len(), STAGES.len());
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
