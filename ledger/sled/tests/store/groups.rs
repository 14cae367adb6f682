//! Many committers share the syncs of few groups.

use std::sync::Barrier;
use std::thread;

use mainstay_ledger::Ledger;
use mainstay_ledger_sled::{OpenOptions, SledLedger};

use crate::script::{advance, verify};

const THREADS: u32 = 32;
const COMMITS: u64 = 12;

#[test]
fn many_threads_need_far_fewer_syncs_than_commits() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SledLedger::open(folder.path(), OpenOptions::creating()).unwrap();
    let begin = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for pair in 0..THREADS {
            let (ledger, begin) = (&ledger, &begin);
            scope.spawn(move || {
                begin.wait();
                for seq in 1..=COMMITS {
                    assert!(advance(ledger, pair, seq));
                }
            });
        }
    });
    let commits = u64::from(THREADS) * COMMITS;
    assert_eq!(ledger.appends(), 2 * commits);
    assert!(
        ledger.syncs() * 2 < commits,
        "{} syncs for {commits} commits",
        ledger.syncs()
    );
    for pair in 0..THREADS {
        verify(&ledger, pair, COMMITS);
    }
}
