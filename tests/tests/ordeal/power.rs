//! The power goes: of what a process wrote the disk has what was synced and any part of the rest.
//! What was acknowledged is there, and the store opens.
//!
//! A process runs under a shim that tells what it does to its files, and is killed; what may be
//! left of its store is made up from that, for the moment of its death and for others before.

use std::sync::Mutex;

use mainstay_fault_disk::Image;
use mainstay_fault_disk::Shim;
use mainstay_fault_disk::Volume;
use mainstay_fault_disk::{Entry, Journal};
use mainstay_tests::campaign::{Campaign, name_of};
use mainstay_tests::ordeal::case::Seeded;
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::house::SEGMENT_BYTES_SMALL;
use mainstay_tests::ordeal::moment::Moment;
use mainstay_tests::ordeal::series::{Series, Tally};
use mainstay_tests::ordeal::writer::{Load, Programs};
use mainstay_tests::seed::Draw;

use crate::{count, programs};

/// Losses of power of one store; it goes on with what each left.
const ROUNDS: u64 = 4;
/// Further moments of each round at which the power might have gone.
const EARLIER: u64 = 1;

/// Files that an acknowledgement is about, by what is in their names.
const LOG: &[&str] = &["log/"];

#[test]
fn after_each_loss_of_power_what_was_acknowledged_is_there_and_the_store_opens() {
    let test = after_each_loss_of_power_what_was_acknowledged_is_there_and_the_store_opens;
    let draw = Draw::new("power");
    let cases = Seeded::many(&draw, count(40, 304) / ROUNDS / (1 + EARLIER));
    let all = Mutex::new(Tally::default());
    let campaign = Campaign::of(name_of(test)).drawn_from(draw.seed());
    campaign.run(cases, |case, told| {
        let tally = one_store(case.0, told);
        all.lock().expect("nobody panics with it").add(&tally);
    });
    println!("{:?}", all.into_inner().expect("nobody panics with it"));
}

/// Without this the test above might pass because it never takes anything away.
#[test]
fn without_its_syncs_a_store_is_seen_to_lose_what_it_acknowledged() {
    let draw = Draw::new("power without syncs");
    let seeds = Seeded::many(&draw, count(6, 20));
    let losses = seeds.iter().filter(|seed| loses_without_syncs(seed.0));
    let (losses, of) = (losses.count(), seeds.len());
    println!("{losses} of {of} losses of power were seen");
    assert!(of < 2 * losses, "{losses} of {of} were seen");
}

/// Without this the model might leave out what it is not told.
#[test]
fn what_the_shim_tells_of_a_process_is_all_that_it_did_to_its_files() {
    let draw = Draw::new("the shim");
    let mut series = Series::new(&small_segments(draw.seed()), draw.seed());
    let shim = Shim::build(&series.path("")).expect("a compiler for the shim");
    for _ in 0..3 {
        let base = Image::read(&series.store());
        let journal = written(&mut series, &shim, Moment::Never, |_| {});
        let volume = Volume::after(&base, &journal, journal.entries().len());
        let real = Image::read(&series.store());
        let differences = volume.now().differences(&real);
        assert!(differences.is_empty(), "{differences:?}");
        let told = Fact::all(&journal.told(journal.entries().len()));
        assert!(matches!(told.last(), Some(Fact::Closed(_))), "{told:?}");
    }
}

fn small_segments(seed: u64) -> Programs {
    Programs {
        segment_bytes: (!seed.is_multiple_of(4)).then_some(SEGMENT_BYTES_SMALL),
        ..programs()
    }
}

fn load(series: &Series) -> Load {
    let lanes = *series.dice.one(&[1, 6]);
    Load {
        lanes,
        deeds: 600 / lanes,
        // Values at the limit are cut, span pages, sectors and segments.
        limit_per_mille: *series.dice.one(&[0, 4]),
    }
}

/// A writer runs under the shim until its moment; what it did.
fn written(
    series: &mut Series,
    shim: &Shim,
    moment: Moment,
    more: impl FnOnce(&mut std::process::Command),
) -> Journal {
    let (store, journal) = (series.store(), series.path("journal"));
    // It is not there before the first round.
    let _ = std::fs::remove_file(&journal);
    let load = load(series);
    // What it told comes from the journal, where it stands between what it did.
    let _ = series.write(&store, moment, load, |command| {
        command.envs(shim.environment(&store, &journal));
        more(command);
    });
    Journal::read(&journal)
}

fn one_store(seed: u64, told: &str) -> Tally {
    let mut series = Series::new(&small_segments(seed), seed);
    let shim = Shim::build(&series.path("")).expect("a compiler for the shim");
    let mut base = Image::default();
    for _ in 0..ROUNDS {
        let moment = series.moment();
        let journal = written(&mut series, &shim, moment, |_| {});
        for _ in 0..EARLIER {
            let cut = earlier(&series, &journal);
            let (image, facts) = lost(&series, &base, &journal, cut);
            let _ = series.must_be_clean(&image, &facts, &format!("{told}\nafter {cut} entries"));
        }
        let (image, facts) = lost(&series, &base, &journal, journal.entries().len());
        let found = series.must_be_clean(&image, &facts, told);
        series.facts = [facts, found].concat();
        image.write(&series.store());
        base = image;
    }
    series.tally
}

/// What is left when the power goes after so many entries, and what had been told by then.
fn lost(series: &Series, base: &Image, journal: &Journal, cut: usize) -> (Image, Vec<Fact>) {
    let image = Volume::after(base, journal, cut).lost_power(&series.dice);
    let told = Fact::all(&journal.told(cut));
    (image, [series.facts.clone(), told].concat())
}

/// A moment before the end: often right before or after a sync or a change of names.
pub(crate) fn earlier(series: &Series, journal: &Journal) -> usize {
    let entries = journal.entries();
    let turns: Vec<usize> = (0..entries.len())
        .filter(|index| match &entries[*index] {
            Entry::Synced { .. }
            | Entry::Renamed(..)
            | Entry::Unlinked(_)
            | Entry::Folder(_)
            | Entry::NoFolder(_) => true,
            Entry::Opened { .. }
            | Entry::Written { .. }
            | Entry::Zeroed { .. }
            | Entry::Cut { .. }
            | Entry::Told(_) => false,
        })
        .collect();
    if turns.is_empty() || series.dice.percent(50) {
        return series.dice.index(entries.len() + 1);
    }
    series.dice.one(&turns) + series.dice.index(2)
}

/// Whether the harness sees what a store loses whose log is never synced.
fn loses_without_syncs(seed: u64) -> bool {
    let mut series = Series::new(&programs(), seed);
    let shim = Shim::build(&series.path("")).expect("a compiler for the shim");
    let moment = Moment::Answered(300, std::time::Duration::ZERO);
    let journal = written(&mut series, &shim, moment, |command| {
        Shim::lie(command, LOG);
    });
    let (image, facts) = lost(
        &series,
        &Image::default(),
        &journal,
        journal.entries().len(),
    );
    !series.check_image(&image, &facts).is_clean()
}
