//! The trees that are walked whole, and how many branches each has at least.
//!
//! A number that falls says that moves are not taken any more; it may only be lowered with the
//! reason.

use super::bends::Bend;
use super::every::Move::{
    Absent, Answer, Continue, Dear, Die, DieForLong, Found, Invalid, Late, LateNotSent, Lost,
    NotSent, Overloaded, Pass, Raise, Refused,
};
use super::every::{Tree, walk};

/// Walks a tree and compares what was walked.
#[track_caller]
fn check(tree: &Tree, branches: u64) {
    let walked = walk(tree, None);
    assert!(
        branches <= walked.branches,
        "fewer branches than there were: {walked:?}"
    );
    assert!(
        0 < walked.died && walked.died < walked.branches,
        "{walked:?}"
    );
}

const READ: Tree = Tree {
    class: "
        read   a attempts=4 cost=2 fallback=provider
        start  retry=3 cost=9 answer_by=12s
    ",
    moves: &[
        Answer, Dear, Overloaded, Refused, Lost, Late, Continue, Pass, Die,
    ],
};

#[test]
fn a_read_with_retries_and_a_fallback() {
    check(&READ, 141_000);
}

#[test]
fn a_soft_read_beside_hard_ones() {
    let tree = Tree {
        class: "
            soft   related attempts=3 cost=2
            read   policy attempts=3 cost=2
            read   draft needs=policy,related cost=2
            start  retry=3 cost=11 concurrency=2 answer_by=12s
        ",
        moves: &[Answer, Dear, Overloaded, Lost, Late, Pass, Die],
    };
    check(&tree, 102_000);
}

#[test]
fn a_write_in_doubt() {
    let tree = Tree {
        class: "
            write  order attempts=3 cost=2 timeout=2s bound=500ms
            start  retry=2 cost=7 answer_by=30s doubt_wait=1h
        ",
        moves: &[
            Answer,
            Overloaded,
            Lost,
            Found,
            Absent,
            Late,
            LateNotSent,
            Pass,
            Die,
        ],
    };
    check(&tree, 18_000);
}

#[test]
fn two_items_in_doubt() {
    let tree = Tree {
        class: "
            read   a cost=1
            each   order needs=a attempts=2 cost=2 timeout=2s bound=500ms max=2
            list   order 2
            start  retry=2 cost=8 answer_by=30s doubt_wait=1h
        ",
        moves: &[Answer, NotSent, Lost, Found, Absent, Pass, Die],
    };
    check(&tree, 69_000);
}

#[test]
fn a_reply_that_is_repaired() {
    let tree = Tree {
        class: "
            read   a attempts=3 cost=2 repair=yes fallback=cache
            start  retry=3 cost=9 answer_by=12s
        ",
        moves: &[Dear, Overloaded, Invalid, NotSent, Late, Pass, Die],
    };
    check(&tree, 56_000);
}

#[test]
fn a_soft_read_that_is_stopped_for_a_hard_one() {
    let tree = Tree {
        class: "
            soft   a attempts=2 cost=1
            read   c attempts=2 cost=1
            read   d needs=c cost=1
            read   e needs=c cost=1
            result a d e
            start  concurrency=2 retry=2 cost=7 answer_by=12s
        ",
        moves: &[Answer, Dear, Overloaded, Late, Pass, Die],
    };
    check(&tree, 34_000);
}

#[test]
fn caps_with_a_pause_and_a_raise() {
    let tree = Tree {
        class: "
            read   a attempts=5 cost=2
            read   b attempts=5 cost=1
            result a b
            cap    a retries=2 at_once=1 cost=7
            start  retry=3 cost=9 on_limit=pause at_once=3 attempts_max=7 answer_by=12s
        ",
        moves: &[Answer, Dear, Overloaded, Raise, Pass, Die],
    };
    check(&tree, 27_000);
}

#[test]
fn a_run_that_nobody_drives_for_a_while() {
    let tree = Tree {
        class: "
            read   a timeout=700ms attempts=3 cost=2 fallback=local
            write  b needs=a cost=1 timeout=700ms
            start  concurrency=1 retry=3 cost=9 answer_by=4s downtime=extend:1s doubt_wait=1h
        ",
        moves: &[Answer, Dear, Lost, Absent, Pass, Die, DieForLong],
    };
    check(&tree, 49_000);
}

#[test]
fn a_bent_core_is_seen_in_a_tree() {
    for bend in [
        Bend::Retries,
        Bend::FreeRetries,
        Bend::RefundsTwice,
        Bend::ForgetsHeld,
    ] {
        let walked = walk(&READ, Some(bend));
        assert!(0 < walked.broken, "{bend:?}: {walked:?}");
    }
}
