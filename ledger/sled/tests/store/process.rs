//! Other processes: one that holds the store, and one that is killed while it commits.
//!
//! The child is this test binary itself, started for one ignored test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_types::Millis;

use crate::script::{Draw, advance, verify};

mod aftermath;

const STORE: &str = "MAINSTAY_TEST_STORE";
const ROUND: &str = "MAINSTAY_TEST_ROUND";
const KILLS: u32 = 20;
/// Pairs of runs that one child writes at once.
const WRITERS: u32 = 6;

fn child(store: &Path, role: &str, round: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("process::{role}"),
            "--ignored",
            "--nocapture",
        ])
        .env(STORE, store)
        .env(ROUND, round.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn store_of_the_child() -> Option<std::path::PathBuf> {
    std::env::var_os(STORE).map(Into::into)
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone already, or about to kill this process.
    let _ = writeln!(out, "\n{line}").and_then(|()| out.flush());
}

fn wait_for(out: &mut BufReader<ChildStdout>, word: &str) {
    let found = out.lines().map_while(Result::ok).any(|line| line == word);
    assert!(found, "the child ended without saying {word}");
}

fn open(store: &Path) -> Result<SledLedger, LedgerError> {
    SledLedger::open(store, OpenOptions::creating())
}

#[test]
#[ignore = "the child of the tests below; does nothing by itself"]
fn hold_the_store() {
    let Some(store) = store_of_the_child() else {
        return;
    };
    let ledger = open(&store).unwrap();
    assert!(advance(&ledger, 0, 1));
    say("held");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_second_process_is_told_who_holds_the_store_until_that_one_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = child(folder.path(), "hold_the_store", 0);
    wait_for(&mut BufReader::new(holder.stdout.take().unwrap()), "held");
    for refused in [
        open(folder.path()),
        SledLedger::open_existing(folder.path()),
    ] {
        let told = refused.expect_err("the store is held");
        assert!(matches!(told, LedgerError::Locked { .. }), "{told}");
        let told = told.to_string();
        assert!(told.contains("STORE_LOCKED"), "{told}");
        assert!(
            told.contains(&format!("pid {}, program store-", holder.id())),
            "{told}"
        );
        for part in [", host ", ", since 2"] {
            assert!(told.contains(part), "{told}");
        }
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    let left = std::fs::read_to_string(folder.path().join("LOCK")).unwrap();
    assert!(
        left.contains(&holder.id().to_string()),
        "a killed process leaves its name: {left}"
    );
    let ledger = SledLedger::open_existing(folder.path()).unwrap();
    verify(&ledger, 0, 1);
}

#[test]
fn one_that_waits_for_a_held_store_gets_it_when_its_holder_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = child(folder.path(), "hold_the_store", 0);
    wait_for(&mut BufReader::new(holder.stdout.take().unwrap()), "held");
    let waiting = |wait| {
        let options = OpenOptions::creating().wait(Millis::new(wait));
        SledLedger::open(folder.path(), options)
    };
    let begun = Instant::now();
    let told = waiting(120).expect_err("the store is held");
    assert!(matches!(told, LedgerError::Locked { .. }), "{told}");
    assert!(told.to_string().contains(&format!("pid {}", holder.id())));
    assert!(Duration::from_millis(120) <= begun.elapsed());
    let begin = Barrier::new(2);
    let opened = thread::scope(|scope| {
        let waits = scope.spawn(|| {
            begin.wait();
            waiting(60_000)
        });
        begin.wait();
        holder.kill().unwrap();
        holder.wait().unwrap();
        waits.join().unwrap()
    });
    verify(&opened.unwrap(), 0, 1);
}

#[test]
#[ignore = "the child of the test below; does nothing by itself"]
fn commit_until_killed() {
    let Some(store) = store_of_the_child() else {
        return;
    };
    let round: u32 = std::env::var(ROUND).unwrap().parse().unwrap();
    say("opening");
    let ledger = open(&store).unwrap();
    say("open");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (ledger, pair) = (&ledger, round * WRITERS + writer);
            scope.spawn(move || {
                for seq in 1..100_000 {
                    assert!(advance(ledger, pair, seq));
                    say(&format!("ack {pair} {seq}"));
                }
            });
        }
    });
}

/// When a child is killed.
#[derive(Clone, Copy)]
enum When {
    Opening,
    Open,
    Acknowledged(u64),
}

/// Starts a child, kills it then, and adds what it acknowledged.
fn killed(store: &Path, round: u32, when: When, acknowledged: &mut BTreeMap<u32, u64>) {
    let mut writer = child(store, "commit_until_killed", round);
    let mut out = BufReader::new(writer.stdout.take().unwrap());
    let mut until = match when {
        When::Opening => {
            wait_for(&mut out, "opening");
            0
        }
        When::Open => {
            wait_for(&mut out, "open");
            0
        }
        When::Acknowledged(count) => count,
    };
    if until == 0 {
        writer.kill().unwrap();
    }
    // What was acknowledged before the kill is in the pipe after it, too.
    for (pair, seq) in complete_lines(&mut out).filter_map(|line| acknowledgement(&line)) {
        acknowledged.insert(pair, seq);
        if until == 1 {
            writer.kill().unwrap();
        }
        until = until.saturating_sub(1);
    }
    writer.wait().unwrap();
}

/// The pair and number in a line that acknowledges a commit.
fn acknowledgement(line: &str) -> Option<(u32, u64)> {
    let (pair, seq) = line.strip_prefix("ack ")?.split_once(' ').unwrap();
    Some((pair.parse().unwrap(), seq.parse().unwrap()))
}

/// Lines that end; the kill may cut the last one inside its number.
fn complete_lines(out: &mut BufReader<ChildStdout>) -> impl Iterator<Item = String> {
    std::iter::from_fn(|| {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        line.strip_suffix('\n').map(str::to_owned)
    })
}

#[test]
fn kill_dash_nine_at_any_moment_loses_nothing_acknowledged_and_leaves_nothing_half_done() {
    let seed = std::env::var("MAINSTAY_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("MAINSTAY_SEED={seed}");
    let mut draw = Draw(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeMap::new();
    for round in 0..KILLS {
        let when = match draw.below(8) {
            0 => When::Opening,
            1 => When::Open,
            _ => When::Acknowledged(1 + draw.below(150)),
        };
        killed(folder.path(), round, when, &mut acknowledged);
        let ledger = open(folder.path()).unwrap();
        for pair in round * WRITERS..(round + 1) * WRITERS {
            verify(&ledger, pair, acknowledged.get(&pair).copied().unwrap_or(0));
        }
    }
    let ledger = open(folder.path()).unwrap();
    for pair in 0..KILLS * WRITERS {
        verify(&ledger, pair, acknowledged.get(&pair).copied().unwrap_or(0));
    }
    let total: u64 = acknowledged.values().sum();
    println!("MAINSTAY_SEED={seed}: {KILLS} kills, {total} acknowledged commits are there");
    assert!(100 < total, "{total} acknowledged commits show nothing");
}
