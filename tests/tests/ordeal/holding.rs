//! Who holds a store, and what somebody else, a crash or an accident left in its folder.

use std::process::{Command, Stdio};

use mainstay_fault_disk::{Image, Item};
use mainstay_tests::ordeal::damage::{Fault, What};
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::moment::Moment;
use mainstay_tests::ordeal::series::Series;
use mainstay_tests::ordeal::writer::Load;
use mainstay_tests::process::Ended;
use mainstay_tests::seed::Draw;

use crate::programs;

const LOAD: Load = Load {
    lanes: 6,
    deeds: 80,
    limit_per_mille: 1,
};

fn hold(series: &Series) -> Command {
    let mut command = programs().command([]);
    command.arg("hold").arg(series.store());
    command
}

#[test]
fn a_second_process_on_a_store_is_told_by_which_process_on_which_host_it_is_held() {
    let draw = Draw::new("two processes");
    let mut series = Series::new(&programs(), draw.seed());
    series.die(Moment::Never, LOAD);
    let mut holding = hold(&series)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = String::new();
    let stdout = holding.stdout.take().expect("it was asked for");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut first)
        .expect("it says when it is open");
    assert!(first.starts_with("{\"Open\""), "{first}");

    let ended = Ended::of(&mut hold(&series)).with_code(1);
    let said = Fact::all(&ended.stdout);
    let [Fact::Failed(why)] = said.as_slice() else {
        panic!("{ended}");
    };
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux has it");
    let pid = holding.id().to_string();
    for part in ["STORE_LOCKED", &pid, host.trim()] {
        assert!(why.contains(part), "{part}: {why}");
    }

    holding.kill().expect("it is there");
    holding.wait().expect("it has ended");
    // Nobody waits for a holder that is dead.
    let _ = Ended::of(&mut hold(&series)).with_code(0);
    series.check("after its holder was killed");
}

#[test]
fn a_snapshot_of_sled_that_was_never_finished_keeps_no_store_from_opening() {
    let draw = Draw::new("a torn snapshot");
    let mut series = Series::new(&programs(), draw.seed());
    for moment in [
        Moment::Answered(200, std::time::Duration::ZERO),
        Moment::Never,
    ] {
        series.die(moment, LOAD);
        let torn = sled_folder(&Image::read(&series.store())) + "/snap.00000000DEADBEEF.generating";
        let path = series.store().join(&torn);
        std::fs::write(&path, [7; 100]).expect("the test's folder has room");
        series.check("with a torn snapshot of sled");
        let _ = Ended::of(&mut hold(&series)).with_code(0);
        assert!(!path.exists(), "{torn} is still there");
    }
}

#[test]
fn a_sled_that_was_cut_short_or_deleted_is_made_anew_from_the_log() {
    let draw = Draw::new("no sled");
    let mut series = Series::new(&programs(), draw.seed());
    series.die(Moment::Answered(150, std::time::Duration::ZERO), LOAD);
    series.check("before");
    series.die(Moment::Never, LOAD);
    let (image, facts) = (Image::read(&series.store()), series.facts.clone());
    let sled = sled_folder(&image);
    let data = format!("{sled}/db");
    let length = match &image.0[&data] {
        Item::File(content) => content.len(),
        Item::Folder => panic!("{data} is a folder"),
    };
    let names: Vec<String> = image.files().map(|(name, _)| name.to_owned()).collect();
    let of_sled = names
        .iter()
        .filter(|name| name.starts_with(&format!("{sled}/")));
    let gone = of_sled.map(|name| (name.clone(), What::Gone));
    let cuts = [0, 1, 4_096, length / 2, length - 1];
    let cuts = cuts.map(|length| (data.clone(), What::Cut(length)));
    for (name, what) in cuts.into_iter().chain(gone) {
        let fault = Fault { name, what };
        let told = fault.to_string();
        let _ = series.must_be_clean(&fault.in_image(&image), &facts, &told);
    }
    let mut without = image.clone();
    without
        .0
        .retain(|name, _| *name != sled && !name.starts_with(&format!("{sled}/")));
    let _ = series.must_be_clean(&without, &facts, "without sled's folder");
}

/// The folder that holds sled's files.
fn sled_folder(image: &Image) -> String {
    let folders: Vec<&str> = image
        .files()
        .filter_map(|(name, _)| name.strip_suffix("/db"))
        .filter(|folder| image.0.contains_key(&format!("{folder}/conf")))
        .collect();
    let [folder] = folders.as_slice() else {
        panic!("sled's files are in {folders:?}");
    };
    (*folder).to_owned()
}
