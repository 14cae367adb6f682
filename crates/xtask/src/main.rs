//! `cargo xtask`: what this workspace checks about itself, in one place.
//!
//! `tidy` holds the rules a compiler does not know (arrows between crates, sizes, words, error
//! pages); `ci` runs every check in the order in which a failure is cheapest to find; `campaign`
//! runs the tests that have a larger size; `api` and `package` look at what users get. It must
//! never change a file but the list of the API, and that only when asked to; no product crate may
//! depend on it.

mod api;
mod campaign;
mod ci;
mod finding;
mod logs;
mod package;
mod rules;
mod source;
mod tidy;
mod tools;
mod tree;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
Usage: cargo xtask COMMAND

  tidy           check the rules of this workspace; every violation is printed
  tidy --quiet   the same without warnings
  tidy --list    name the rules and what each one protects
  ci             everything: fmt, tidy, clippy, deny, packages, features, docs, API, logs, tests
  api            hold the facade's public API against crates/mainstay/api
  api --write    renew the list there
  logs           1,000 simulated worlds give the same logs from every build
  package        put the product's crates together as packages, and check what is in them
  campaign       name the campaigns
  campaign NAME  run a campaign at full size, as long as it takes; the seed is printed, and
                 MAINSTAY_SEED draws the same cases again
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        ["tidy"] => tidy::run(&workspace_root()?, tidy::Show::Everything),
        ["tidy", "--quiet"] => tidy::run(&workspace_root()?, tidy::Show::ErrorsOnly),
        ["tidy", "--list"] => {
            tidy::list();
            Ok(ExitCode::SUCCESS)
        }
        ["ci"] => ci::run(&workspace_root()?),
        ["api"] => Ok(code(api::run(&workspace_root()?, api::Mode::Compare)?)),
        ["api", "--write"] => Ok(code(api::run(&workspace_root()?, api::Mode::Write)?)),
        ["logs"] => {
            let same = logs::run(&workspace_root()?, logs::SEEDS_FULL)?;
            Ok(code(ci::Ended::well(same)))
        }
        ["package"] => {
            let packed = package::run(&workspace_root()?)?;
            Ok(code(ci::Ended::well(packed)))
        }
        ["campaign"] => {
            campaign::list();
            Ok(ExitCode::SUCCESS)
        }
        ["campaign", name] => campaign::run(&workspace_root()?, name),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!(
            "unknown command `{}`\n\nhint: `cargo xtask help`",
            other.join(" ")
        ),
    }
}

fn code(ended: ci::Ended) -> ExitCode {
    match ended {
        ci::Ended::Well | ci::Ended::WithoutLooking => ExitCode::SUCCESS,
        ci::Ended::Badly => ExitCode::FAILURE,
    }
}

/// The folder that holds the workspace's manifest, found upwards from the current folder.
///
/// Asked at run time and never baked in: a binary kept in a shared target folder must serve
/// the clone it is called from.
fn workspace_root() -> Result<PathBuf> {
    let here = env::current_dir().context("the current folder cannot be read")?;
    here.ancestors()
        .find(|folder| is_workspace(folder))
        .map(Path::to_path_buf)
        .with_context(|| format!("no workspace manifest above {}", here.display()))
}

fn is_workspace(folder: &Path) -> bool {
    std::fs::read_to_string(folder.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}
