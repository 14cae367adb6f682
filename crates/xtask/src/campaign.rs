//! `cargo xtask campaign NAME`: a campaign of the tests at its full size.
//!
//! CI runs the same tests at the size it has time for. It must never hold a case of its own: what
//! a campaign asks is in its tests, and what it says there is all there is.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::tools::{self, NEXTEST};

/// Tests that grow with the size that is asked for.
struct Campaign {
    name: &'static str,
    about: &'static str,
    /// Which tests, in nextest's filter language.
    filter: &'static str,
    /// Whether it measures, and so runs what is released.
    measures: bool,
    /// Whether its cases are drawn from one seed. The others have their seeds in order.
    draws: bool,
}

const CAMPAIGNS: [Campaign; 15] = [
    Campaign {
        name: "crashes",
        about: "the meeting run, killed at each append, at three points, and at its recovery's",
        filter: "binary_id(mainstay-tests::main) & test(/^crashes::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "ways",
        about: "every scenario four ways, killed at all three points of each append",
        filter: "binary_id(mainstay-tests::main) & test(/^(degraded|doubt|tickets_away)::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "kills",
        about: "500 kills of a process that writes a store, 40 % of them while it opens it",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^kills::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "power",
        about: "300 losses of power, and that a store without its syncs is seen to lose",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^(flow|power)::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "damage",
        about: "500 flipped bits and pages of zeros over every kind of file of a store",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^damage::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "room",
        about: "full disks under the log, the table, both, and an opening sled; mounts volumes",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^room::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "holding",
        about: "two processes on a store, a torn snapshot of sled, sled cut short and deleted",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^holding::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "growth",
        about: "a million calls in runs that end and expire: what the store comes to",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^growth::/)",
        measures: true,
        draws: true,
    },
    Campaign {
        name: "opening",
        about: "a store with a million closed runs, opened after it was closed and after a kill",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^opening::/)",
        measures: true,
        draws: true,
    },
    Campaign {
        name: "lateness",
        about: "512 runs that the clock answers, with both cores and the applier at their limits",
        filter: "binary_id(mainstay-tests::ordeal) & test(/^lateness::/)",
        measures: true,
        draws: true,
    },
    Campaign {
        name: "effects",
        about: "three writes, every fate of each, six resolutions, crashed at every append",
        filter: "binary_id(mainstay-runtime::engine) & test(/^exhaustive::/)",
        measures: false,
        draws: true,
    },
    Campaign {
        name: "idempotency",
        about: "20 seeds of the experiment on keys of writes, held against its source's figures",
        filter: "binary_id(mainstay-chaos::idempotency) & test(/^figures::/)",
        measures: true,
        draws: true,
    },
    Campaign {
        name: "real",
        about: "1,000 kills of an engine under load, with every other trouble; mounts volumes",
        filter: "binary_id(mainstay-cli::cli) & test(/^real::/)",
        measures: true,
        draws: true,
    },
    Campaign {
        name: "schedules",
        about: "10,000 fault schedules of the example's own class, in virtual time",
        filter: "binary_id(meeting-analysis::chaos)",
        measures: true,
        draws: false,
    },
    Campaign {
        name: "mutants",
        about: "bugs in the ports, each to be caught within 1,000 schedules; 10,000 without any",
        filter: "binary_id(mainstay-chaos::kit)",
        measures: true,
        draws: false,
    },
];

impl Campaign {
    /// The package that its filter names first: only that one is built.
    fn package(&self) -> &'static str {
        let named = self.filter.strip_prefix("binary_id(");
        let package = named.and_then(|rest| rest.split_once("::"));
        package.expect("a filter begins with its binary").0
    }
}

/// The variable that the tests draw their cases from.
const SEED: &str = "MAINSTAY_SEED";
/// The variable that asks the tests for every case.
const SIZE: &str = "MAINSTAY_CAMPAIGN";

/// Names the campaigns.
pub(crate) fn list() {
    for Campaign { name, about, .. } in &CAMPAIGNS {
        println!("{name:<11} {about}");
    }
}

/// Runs the campaign of this name; code 1 when one of its tests fails.
pub(crate) fn run(root: &Path, name: &str) -> Result<ExitCode> {
    let Some(campaign) = find(name) else {
        bail!("no campaign `{name}`\n\nhint: `cargo xtask campaign` lists them");
    };
    NEXTEST.ensure()?;
    let seed = seed()?;
    // First and last: the tests' own output is long.
    let told = match campaign.draws {
        true => format!("{SEED}={seed} "),
        false => String::new(),
    };
    eprintln!("{told}({name})");
    let passed = command(root, campaign, seed)
        .status()
        .context("cargo nextest cannot be started")?
        .success();
    let end = if passed { "passed" } else { "FAILED" };
    eprintln!("campaign {name} {end}; the same cases again: {told}cargo xtask campaign {name}");
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn find(name: &str) -> Option<&'static Campaign> {
    CAMPAIGNS.iter().find(|campaign| campaign.name == name)
}

fn command(root: &Path, campaign: &Campaign, seed: u64) -> Command {
    let mut command = Command::new(tools::cargo());
    command
        .args(["nextest", "run", "--profile", "campaign"])
        .args(["--package", campaign.package()])
        .args(["--filterset", campaign.filter])
        .current_dir(root)
        .env(SIZE, "full")
        .stdin(Stdio::null());
    match campaign.draws {
        true => command.env(SEED, seed.to_string()),
        false => command.env_remove(SEED),
    };
    if campaign.measures {
        command.arg("--release");
    }
    command
}

/// The seed that was given; else a new one.
fn seed() -> Result<u64> {
    match env::var(SEED) {
        Ok(given) => given.parse().with_context(|| format!("{SEED}={given}")),
        Err(_) => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let since = since.context("the clock is before 1970")?;
            Ok(since.as_secs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_runs_its_own_tests_at_full_size_from_one_seed() {
        let crashes = find("crashes").expect("it is listed");
        let command = command(Path::new("."), crashes, 7);
        let words: Vec<_> = command
            .get_args()
            .filter_map(|word| word.to_str())
            .collect();
        assert!(words.contains(&crashes.filter), "{words:?}");
        let set = |name: &str| {
            let mut pairs = command.get_envs();
            let found = pairs.find(|(key, _)| *key == name);
            found.and_then(|(_, value)| value?.to_str().map(str::to_owned))
        };
        assert_eq!(set(SEED).as_deref(), Some("7"));
        assert_eq!(set(SIZE).as_deref(), Some("full"));
    }

    #[test]
    fn a_campaign_that_draws_nothing_is_given_no_seed() {
        let schedules = find("schedules").expect("it is listed");
        let command = command(Path::new("."), schedules, 7);
        let given = command.get_envs().find(|(key, _)| *key == SEED);
        assert_eq!(given.and_then(|(_, value)| value), None);
    }

    #[test]
    fn a_campaign_builds_the_package_of_its_tests() {
        let package = |name| find(name).expect("it is listed").package();
        assert_eq!(package("crashes"), "mainstay-tests");
        assert_eq!(package("idempotency"), "mainstay-chaos");
    }

    #[test]
    fn a_campaign_that_measures_runs_what_is_released() {
        for campaign in &CAMPAIGNS {
            let command = command(Path::new("."), campaign, 7);
            let is_released = command.get_args().any(|word| word == "--release");
            assert_eq!(is_released, campaign.measures, "{}", campaign.name);
        }
    }

    #[test]
    fn a_campaign_that_is_not_listed_is_refused_before_anything_runs() {
        let refused = run(Path::new("/nowhere"), "earthquakes").expect_err("there is none");
        assert!(refused.to_string().contains("earthquakes"), "{refused}");
    }
}
