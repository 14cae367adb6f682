//! The power goes while runs expire and segments of the log are freed and used again: what is
//! remembered is there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mainstay_fault_disk::Image;
use mainstay_fault_disk::Shim;
use mainstay_fault_disk::Volume;
use mainstay_fault_disk::{Entry, Journal};
use mainstay_tests::campaign::{Campaign, name_of};
use mainstay_tests::ordeal::case::Seeded;
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::house::SEGMENT_BYTES_SMALL;
use mainstay_tests::ordeal::moment::Moment;
use mainstay_tests::ordeal::series::Series;
use mainstay_tests::ordeal::writer::{Programs, run};
use mainstay_tests::seed::Draw;

use crate::power::earlier;
use crate::{count, programs};

/// Crashes of a store whose runs expire.
const FLOW_ROUNDS: u32 = 5;

/// A segment that is used again has old frames behind its end, some of which look whole.
#[test]
fn after_a_loss_of_power_while_segments_are_freed_and_used_again_nothing_remembered_is_missing() {
    let test =
        after_a_loss_of_power_while_segments_are_freed_and_used_again_nothing_remembered_is_missing;
    let draw = Draw::new("flow");
    let cases = Seeded::many(&draw, count(2, 20));
    let freed = AtomicUsize::new(0);
    let campaign = Campaign::of(name_of(test)).drawn_from(draw.seed());
    campaign.run(cases, |case, told| {
        let segments = flowing(case.0, told);
        freed.fetch_add(segments, Ordering::SeqCst);
    });
    let freed = freed.into_inner();
    println!("{freed} segments were freed");
    assert!(0 < freed, "no segment was freed, so none was used again");
}

/// How many segments were freed.
fn flowing(seed: u64, told: &str) -> usize {
    let programs = Programs {
        segment_bytes: Some(SEGMENT_BYTES_SMALL / 4),
        ..programs()
    };
    let series = Series::new(&programs, seed);
    let shim = Shim::build(&series.path("")).expect("a compiler for the shim");
    let (store, path) = (series.store(), series.path("journal"));
    let (mut base, mut facts) = (Image::default(), Vec::new());
    let mut freed = 0;
    for round in 0..FLOW_ROUNDS {
        let _ = std::fs::remove_file(&path);
        let mut command = programs.command([]);
        let (first, runs) = (round * 10_000, 5_000);
        command
            .arg("flow")
            .arg(&store)
            .args([first.to_string(), runs.to_string()]);
        command.envs(shim.environment(&store, &path));
        let moment = Moment::Answered(1_000 + series.dice.below(7_000), Duration::ZERO);
        let _ = run(&mut command, moment);
        let journal = Journal::read(&path);
        freed += journal
            .entries()
            .iter()
            .filter(|entry| frees(entry))
            .count();
        for cut in [earlier(&series, &journal), journal.entries().len()] {
            let image = Volume::after(&base, &journal, cut).lost_power(&series.dice);
            let all = [facts.clone(), Fact::all(&journal.told(cut))].concat();
            must_remember(&series, (&image, &all), &format!("{told}\nround {round}"));
            if cut == journal.entries().len() {
                image.write(&store);
                (base, facts) = (image, all);
            }
        }
    }
    freed
}

fn must_remember(series: &Series, (image, facts): (&Image, &[Fact]), told: &str) {
    let copy = series.path("copy");
    image.write(&copy);
    let checked = series.programs.check_flow(&copy, facts);
    let (report, _) = checked.unwrap_or_else(|fell| panic!("{told}\n{fell}"));
    let complaints = || series.complaints(&report, (image, facts));
    assert!(report.is_clean(), "{told}\n{}", complaints());
}

/// Whether a segment of the log loses its name, or has another one from now on.
fn frees(entry: &Entry) -> bool {
    let is_segment = |name: &str| name.starts_with("log/") && name.ends_with(".log");
    match entry {
        Entry::Unlinked(name) => is_segment(name),
        Entry::Renamed(from, _) => is_segment(from),
        Entry::Opened { .. }
        | Entry::Written { .. }
        | Entry::Zeroed { .. }
        | Entry::Cut { .. }
        | Entry::Synced { .. }
        | Entry::NoFolder(_)
        | Entry::Folder(_)
        | Entry::Told(_) => false,
    }
}
