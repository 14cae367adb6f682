//! `chaos campaign`, `chaos run` and `chaos selftest`: worlds in virtual time, on this program's
//! own classes or on the built-in model of one.
//!
//! Nothing here touches a store, a socket or a clock.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mainstay_chaos::{Bug, FaultPlan, Misuse, Offered, Report, Wish, built_in, selftest};

use super::args::{CampaignArgs, RunPlanArgs, SelfTestArgs};
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::progress::Progress;

/// The longest plan that is read, in bytes; a longer file is none.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// Worlds of a campaign when it is not said.
const SEEDS: u64 = 1_000;

/// Tries many worlds of one class.
pub(crate) fn campaign(
    args: &CampaignArgs,
    offered: &[Offered],
    output: &Output,
) -> Result<(), CliError> {
    let wish = Wish {
        seeds: Some(args.seeds.unwrap_or(SEEDS)),
        from: args.from,
        ..Wish::default()
    };
    let chosen = chosen(offered, args.class.as_deref())?;
    told(
        &chosen.run(&wish).map_err(misused)?,
        args.html.as_deref(),
        output,
    )
}

/// Tries the faults of a plan.
pub(crate) fn run(
    args: &RunPlanArgs,
    offered: &[Offered],
    output: &Output,
) -> Result<(), CliError> {
    let plan = FaultPlan::read(&text_of(&args.plan)?).map_err(|error| {
        let path = args.plan.display();
        usage(
            format!("{path} is no fault plan: {error}"),
            "see --help for an example",
        )
    })?;
    if plan.seeds == Some(0) {
        let message = "a plan with `seeds = 0` tries nothing".to_owned();
        return Err(usage(message, "say how many worlds: 1 or more"));
    }
    let chosen = chosen(offered, plan.class.as_deref())?;
    let report = chosen.run(&plan.wish()).map_err(misused)?;
    told(&report, args.html.as_deref(), output)
}

/// Puts bugs in on purpose and looks whether the campaign sees them.
pub(crate) fn try_itself(args: &SelfTestArgs, output: &Output) -> Result<(), CliError> {
    let progress = Progress::new(output);
    let tested = selftest(args.seeds, |bug| progress.say(&line(bug)));
    progress.clear();
    match output.json {
        true => output.print_json(&tested)?,
        false => {
            let lines: Vec<String> = tested.bugs.iter().map(line).collect();
            output.print(&lines.join("\n"))?;
        }
    }
    if tested.is_good() {
        return Ok(());
    }
    let missed = tested.bugs.iter().filter(|bug| !bug.caught);
    let missed: Vec<&str> = missed.map(|bug| bug.name).collect();
    Err(found(
        format!(
            "not caught within {} seeds: {}",
            args.seeds,
            missed.join(", ")
        ),
        "try more --seeds",
    ))
}

fn line(bug: &Bug) -> String {
    let Bug {
        name, schedules, ..
    } = bug;
    let Some(seed) = bug.seed.filter(|_| bug.caught) else {
        return format!("MISSED  {name}: not seen in {schedules} schedules");
    };
    let property = bug.property.as_deref().unwrap_or("-");
    let short = match (bug.faults, bug.shortest) {
        (Some(faults), Some(shortest)) => format!(", {faults} faults shrink to {shortest}"),
        _ => String::new(),
    };
    format!("caught  {name} by {property} at seed {seed} after {schedules} schedules{short}")
}

/// The campaign of this name; the only one where none is named.
pub(super) fn chosen(offered: &[Offered], name: Option<&str>) -> Result<Offered, CliError> {
    let mut all = offered.to_vec();
    all.push(built_in());
    let names: Vec<String> = all.iter().map(|offer| offer.name().to_owned()).collect();
    match name {
        // A program's own come first.
        None => Ok(all.swap_remove(0)),
        Some(name) => all
            .into_iter()
            .find(|offer| offer.name() == name)
            .ok_or_else(|| {
                usage(
                    format!("no campaign is offered for a class `{name}`"),
                    &format!("there are: {}", names.join(", ")),
                )
            }),
    }
}

/// Says what came out; a failure when something did not hold.
fn told(report: &Report, html: Option<&Path>, output: &Output) -> Result<(), CliError> {
    match output.json {
        true => output.print_json(report)?,
        false => output.print(&report.to_string())?,
    }
    // The figures are out before a file can fail.
    if let Some(file) = html {
        std::fs::write(file, report.html()).map_err(|error| {
            let path = file.display();
            CliError::outside(
                format!("{path} cannot be written: {error}"),
                "choose another file",
            )
        })?;
    }
    if report.is_good() {
        return Ok(());
    }
    let violations = report.violations.len();
    let never = report.never_hit.len();
    Err(found(
        format!("{violations} schedules violate something; {never} faults never hit"),
        "the report says which seed, and the shortest schedule for it",
    ))
}

fn text_of(path: &Path) -> Result<String, CliError> {
    let cannot = |error: std::io::Error| {
        let path = path.display();
        usage(
            format!("{path} cannot be read: {error}"),
            "name a fault plan, a TOML file",
        )
    };
    let mut text = String::new();
    let file = File::open(path).map_err(cannot)?;
    let mut bounded = file.take(PLAN_BYTES_MAX + 1);
    bounded.read_to_string(&mut text).map_err(cannot)?;
    if PLAN_BYTES_MAX < text.len() as u64 {
        let path = path.display();
        let message = format!("{path} is longer than {PLAN_BYTES_MAX} bytes");
        return Err(usage(message, "name a fault plan, a TOML file"));
    }
    Ok(text)
}

pub(super) fn misused(misuse: Misuse) -> CliError {
    usage(misuse.to_string(), "see --help")
}

fn usage(message: String, hint: &str) -> CliError {
    CliError {
        hint: hint.to_owned(),
        ..CliError::usage(&message)
    }
}

/// What was looked for was found: the answer is no.
pub(super) fn found(message: String, hint: &str) -> CliError {
    CliError {
        exit: Exit::Refused,
        ..CliError::outside(message, hint)
    }
}
