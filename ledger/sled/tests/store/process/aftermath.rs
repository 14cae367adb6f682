//! What a killed process leaves for the next one: whose code it executed, and all that stands
//! beside the events.

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{
    alert, effect, effect_key, entry, next_part, parked_until, run, start_part,
};
use mainstay_ledger::{InboxCommand, Ledger, Op, Part, Verdict};
use mainstay_machine::{Alert, EntryState};
use mainstay_types::{AlertSeq, RunId, Timestamp};

use super::*;

/// Commits of one piece of work of [`work_until_killed`].
const COMMITS: u32 = 3;
const ROUNDS: u32 = 8;
/// Pieces of work that no round reaches.
const PIECES_MAX: u32 = 10_000;

#[test]
#[ignore = "the child of the test below; does nothing by itself"]
fn execute_code_until_killed() {
    let Some(store) = store_of_the_child() else {
        return;
    };
    let marked: u32 = std::env::var(ROUND).unwrap().parse().unwrap();
    let ledger = open(&store).unwrap();
    for (run, count) in block_on(ledger.aborted()).unwrap() {
        say(&format!("aborted {run} {count}"));
    }
    let bits = (0..8).filter(|bit| marked & (1 << bit) != 0);
    let marks: Vec<_> = bits.map(|n| ledger.mark(run(n))).collect();
    assert!(marks.iter().all(mainstay_ledger::Mark::is_kept));
    drop(ledger.mark(run(9)));
    say("marked");
    let _ = std::io::stdin().read(&mut [0]);
    say("over");
}

/// What a child is told of aborts; it executes code of the runs in `marked` until it is killed, or
/// ends by itself.
fn aborted(store: &Path, marked: u32, kill: bool) -> Vec<(RunId, u32)> {
    let mut executes = child(store, "aftermath::execute_code_until_killed", marked);
    let mut out = BufReader::new(executes.stdout.take().unwrap());
    let mut told = Vec::new();
    for line in complete_lines(&mut out) {
        if let Some((run, count)) = line
            .strip_prefix("aborted ")
            .and_then(|l| l.split_once(' '))
        {
            told.push((run.parse().unwrap(), count.parse().unwrap()));
        }
        if line == "marked" {
            match kill {
                true => executes.kill().unwrap(),
                false => drop(executes.stdin.take()),
            }
        }
    }
    assert_eq!(executes.wait().unwrap().success(), !kill);
    told
}

#[test]
fn kills_in_a_row_are_counted_for_those_whose_code_was_executed() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let times = |n, count| (run(n), count);
    assert_eq!(aborted(store, 0b0110, true), []);
    assert_eq!(aborted(store, 0b0010, true), [times(1, 1), times(2, 1)]);
    assert_eq!(aborted(store, 0b0110, true), [times(1, 2)]);
    assert_eq!(aborted(store, 0b0010, false), [times(1, 3), times(2, 1)]);
    // That end was clean, whatever was being executed.
    assert_eq!(aborted(store, 0b0001, true), []);
    std::fs::write(store.join("MARKS"), "torn").unwrap();
    assert_eq!(aborted(store, 0b0001, true), []);
    assert_eq!(aborted(store, 0, true), [times(0, 1)]);
    assert_eq!(aborted(store, 0, true), []);
}

/// The owner of a piece's key, and the run that waits for it.
fn runs_of(round: u32, piece: u32) -> [u32; 2] {
    let first = 2 * (round * PIECES_MAX + piece);
    [first, first + 1]
}

/// One commit: a key is held, another run waits for it and parks, the key is settled. Each alerts.
fn part(round: u32, piece: u32, place: u32) -> Part {
    let [owner, waiter] = runs_of(round, piece);
    let key = effect_key("PR", round * PIECES_MAX + piece);
    let writes = |state| effect(entry(key.clone(), owner, 1, state));
    let made = match place {
        0 => start_part(owner).with(writes(EntryState::Open)),
        1 => start_part(waiter)
            .with(parked_until(u64::from(waiter)))
            .with(Op::Wait {
                key: key.clone(),
                version: 1,
            }),
        _ => next_part(owner, 1).with(writes(EntryState::NotApplied)),
    };
    made.with(Op::Alert(alert_of(round, piece, place)))
}

fn alert_of(round: u32, piece: u32, place: u32) -> Alert {
    Alert {
        reason: format!("{round} {piece} {place}"),
        ..alert(round)
    }
}

fn commit(ledger: &SledLedger, part: Part) -> Verdict {
    let verdicts = block_on(ledger.commit(vec![part.into()])).unwrap();
    verdicts.into_iter().next().unwrap()
}

#[test]
#[ignore = "the child of the test below; does nothing by itself"]
fn work_until_killed() {
    let Some(store) = store_of_the_child() else {
        return;
    };
    let round: u32 = std::env::var(ROUND).unwrap().parse().unwrap();
    let ledger = open(&store).unwrap();
    for n in 0..PIECES_MAX * COMMITS {
        let verdict = commit(&ledger, part(round, n / COMMITS, n % COMMITS));
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
        say(&format!("done {}", n + 1));
    }
}

/// Kills a child after it said that `until` commits are done; says how many it had done by then.
fn worked(store: &Path, round: u32, until: u32) -> u32 {
    let mut works = child(store, "aftermath::work_until_killed", round);
    let mut out = BufReader::new(works.stdout.take().unwrap());
    let mut done = 0;
    for line in complete_lines(&mut out) {
        if let Some(count) = line.strip_prefix("done ") {
            done = count.parse().unwrap();
            if done == until {
                works.kill().unwrap();
            }
        }
    }
    works.wait().unwrap();
    assert!(until <= done);
    done
}

#[test]
fn a_kill_keeps_who_waits_what_wakes_and_every_alert() {
    let seed = std::env::var("MAINSTAY_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("MAINSTAY_SEED={seed}");
    let mut draw = Draw(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut known = Known::default();
    for round in 0..ROUNDS {
        let until = 1 + u32::try_from(draw.below(60)).unwrap();
        let acknowledged = worked(folder.path(), round, until);
        let ledger = open(folder.path()).unwrap();
        let done = (0..).take_while(|n| has_alert(&ledger, known.alerts.len(), *n));
        let done = u32::try_from(done.count()).unwrap();
        assert!(
            (acknowledged..=acknowledged + 1).contains(&done),
            "{acknowledged} acknowledged, {done} there"
        );
        known
            .alerts
            .extend((0..done).map(|n| alert_of(round, n / COMMITS, n % COMMITS)));
        finish(&ledger, round, done, &mut known);
        check(&ledger, &known);
    }
}

/// What has to be there after all rounds so far.
#[derive(Default)]
struct Known {
    wakes: BTreeMap<RunId, Timestamp>,
    alerts: Vec<Alert>,
}

fn has_alert(ledger: &SledLedger, known: usize, n: u64) -> bool {
    let after = AlertSeq(known as u64 + n);
    !block_on(ledger.alerts(after)).unwrap().rows.is_empty()
}

/// Does what is left of the piece that the kill came into; everyone who waited is told once.
fn finish(ledger: &SledLedger, round: u32, done: u32, known: &mut Known) {
    for n in done..done.next_multiple_of(COMMITS) {
        let verdict = commit(ledger, part(round, n / COMMITS, n % COMMITS));
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
        known.alerts.push(alert_of(round, n / COMMITS, n % COMMITS));
    }
    for piece in 0..done.div_ceil(COMMITS) {
        let [owner, waiter] = runs_of(round, piece);
        let inbox = |n| block_on(ledger.load(run(n))).unwrap().unwrap().inbox;
        let key = effect_key("PR", round * PIECES_MAX + piece);
        let told: Vec<_> = inbox(waiter).into_iter().map(|m| m.command).collect();
        assert_eq!(told, [InboxCommand::KeySettled { key }], "piece {piece}");
        assert!(inbox(owner).is_empty());
        known
            .wakes
            .insert(run(waiter), mainstay_ledger::sample::at(u64::from(waiter)));
    }
}

fn check(ledger: &SledLedger, Known { wakes, alerts }: &Known) {
    let there = block_on(ledger.wakes(None)).unwrap().rows;
    let there: BTreeMap<_, _> = there.into_iter().map(|(at, run)| (run, at)).collect();
    assert_eq!(there, *wakes);
    let waiting = block_on(ledger.inboxes(None)).unwrap().rows;
    assert!(waiting.iter().eq(wakes.keys()));
    let page = block_on(ledger.alerts(AlertSeq(0))).unwrap();
    assert!(!page.more, "the rounds are that short");
    let there: Vec<_> = page.rows.into_iter().map(|stored| stored.alert).collect();
    assert_eq!(there, *alerts);
}
