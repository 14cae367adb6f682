//! The class under fault schedules: what the program runs, with doubles behind its dependencies.
//!
//! `MAINSTAY_SEED=n` tries one world alone; with `MAINSTAY_CAMPAIGN` set 10,000 are tried.

mod campaign;

use campaign::campaign;
use mainstay::OutcomeKind;
use mainstay::chaos::{Faults, Guarantees, World};
use meeting_analysis::report::Report;

/// Seeds in CI: some seconds of a debug build.
const SEEDS: u64 = 120;

/// How many worlds are tried.
fn seeds() -> u64 {
    match std::env::var_os("MAINSTAY_CAMPAIGN") {
        Some(_) => 10_000,
        None => SEEDS,
    }
}

/// A complete report lacks nothing.
fn a_complete_report_lacks_nothing(world: &World<'_>) -> Result<(), String> {
    for run in world.runs() {
        let (Some(kind), Some(result)) = (run.outcome, &run.result) else {
            continue;
        };
        let report: Report =
            serde_json::from_slice(result.as_bytes()).map_err(|e| e.to_string())?;
        if kind == OutcomeKind::Completed && !report.missing.is_empty() {
            return Err(format!(
                "complete, and these are missing: {:?}",
                report.missing
            ));
        }
    }
    Ok(())
}

#[test]
fn the_class_keeps_every_guarantee_under_every_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = campaign(folder.path())
        .faults(Faults::all())
        .seeds(seeds())
        .check(Guarantees::all())
        .check(|world: &World<'_>| world.receiver("ticket_service").applied_per_key_at_most(1))
        .check(a_complete_report_lacks_nothing)
        .run();
    println!("{report}");
}

#[test]
fn it_recovers_at_once_when_its_services_do() {
    let folder = tempfile::tempdir().expect("a folder");
    campaign(folder.path())
        .faults(Faults::all())
        .from(10_000)
        .seeds(SEEDS / 4)
        .check(Guarantees::all())
        .recovers_within(12_000)
        .run();
}
