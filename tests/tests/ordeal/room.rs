//! The disk gets full, under the log, under the table, or under both: new runs are refused, what is
//! in flight settles, and with room again all goes on without a restart (F32).

use std::path::Path;
use std::process::Command;

use mainstay_fault_disk::{Filler, Image, Mounted};
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::moment::Moment;
use mainstay_tests::ordeal::room::Seen;
use mainstay_tests::ordeal::series::Series;
use mainstay_tests::ordeal::writer::Load;
use mainstay_tests::process::Ended;
use mainstay_tests::seed::Draw;

use crate::programs;

/// Above the room that a store wants before it begins a run.
const VOLUME_BYTES: u64 = 320 << 20;

const LOAD: Load = Load {
    lanes: 6,
    deeds: 100,
    limit_per_mille: 0,
};

#[test]
fn f32_on_a_full_disk_new_runs_are_refused_what_is_in_flight_settles_and_it_goes_on() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let volume = place.path().join("volume");
    let _mounted = mounted(&volume);
    must_go_on(&volume.join("store"), &volume, &[]);
}

#[test]
fn f32_with_a_full_disk_under_the_log_alone_it_goes_on() {
    with_a_volume_for("log");
}

#[test]
fn f32_with_a_full_disk_under_the_table_alone_it_goes_on() {
    with_a_volume_for("table");
}

/// Sled writes when it is opened, and keeps an error of that for good.
#[test]
fn f32_a_store_whose_sled_has_no_room_to_open_loses_nothing_and_opens_with_room_again() {
    let draw = Draw::new("no room to open");
    let mut series = Series::new(&programs(), draw.seed());
    series.die(Moment::Never, LOAD);
    let store = series.store();
    let table = store.join("table");
    let mounted = moved_to_a_volume(&table);
    series.die(Moment::Answered(400, std::time::Duration::ZERO), LOAD);
    let filler = Filler::of(&table);
    let command = &mut command(&["hold"], &[&store]);
    let ended = Ended::of(command);
    let said = Fact::all(&ended.stdout);
    // It may open: what is acknowledged is in the log and in memory.
    match said.first() {
        Some(Fact::Open(_)) => {}
        Some(Fact::Failed(why)) => {
            assert!(
                why.starts_with("STORE_FULL") || why.starts_with("STORE_IO"),
                "{ended}"
            );
        }
        other => panic!("{other:?}\n{ended}"),
    }
    drop(filler);
    series.check("after there was no room to open");
    drop(mounted);
}

#[test]
fn f32_a_store_whose_volume_has_no_byte_left_opens_with_the_room_that_it_held_back() {
    let draw = Draw::new("no byte left");
    let mut series = Series::new(&programs(), draw.seed());
    let volume = series.path("volume");
    let _mounted = mounted(&volume);
    let inside = volume.join("store");
    std::fs::create_dir(&inside).expect("a folder on the volume");
    std::os::unix::fs::symlink(inside, series.store()).expect("a link to it");
    series.die(Moment::Answered(400, std::time::Duration::ZERO), LOAD);
    for round in 0..3 {
        if round == 1 {
            // All of the log is brought into a new table then.
            std::fs::remove_dir_all(series.store().join("table")).expect("a table");
        }
        let filler = Filler::of(&volume);
        let ended = Ended::of(&mut command(&["hold"], &[&series.store()]));
        let said = Fact::all(&ended.stdout);
        assert!(matches!(said.first(), Some(Fact::Open(_))), "{ended}");
        series.check("on a volume without room");
        drop(filler);
        // With room again it holds some back for the next time.
        series.die(Moment::Answered(400, std::time::Duration::ZERO), LOAD);
    }
}

/// The programs' command of these words and paths.
fn command(words: &[&str], paths: &[&Path]) -> Command {
    let mut command = programs().command([]);
    command.args(words).args(paths);
    command
}

/// A volume of its own at this folder; where none can be mounted the test is red and says why.
fn mounted(folder: &Path) -> Mounted {
    Mounted::at(folder, VOLUME_BYTES).unwrap_or_else(|error| panic!("{error}"))
}

/// Gives a folder that is there a volume of its own.
fn moved_to_a_volume(folder: &Path) -> Mounted {
    let image = Image::read(folder);
    let mounted = mounted(folder);
    image.add_to(folder);
    mounted
}

fn with_a_volume_for(part: &str) {
    let draw = Draw::new(part);
    let mut series = Series::new(&programs(), draw.seed());
    // Its folders are there then, and there is something in them.
    series.die(Moment::Never, LOAD);
    let folder = series.store().join(part);
    let _mounted = moved_to_a_volume(&folder);
    must_go_on(&series.store(), &folder, &series.facts);
}

fn must_go_on(store: &Path, volume: &Path, before: &[Fact]) {
    let ended = Ended::of(&mut command(&["fill"], &[store, volume]));
    let facts = [before, &Fact::all(&ended.stdout)].concat();
    assert_eq!(ended.code, Some(0), "{:?}\n{}", facts.last(), ended.stderr);
    let seen: Seen = serde_json::from_str(ended.stderr.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    println!("{seen:?}");
    let checked = programs().check(store, &facts, true);
    let (report, _) = checked.unwrap_or_else(|fell| panic!("{fell}"));
    assert!(report.is_clean(), "{}", report.complaints());
    assert!(0 < report.full, "nothing was refused");
}
