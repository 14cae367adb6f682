//! Marks over many openings: what is counted, what starts anew, and which files are believed.
//!
//! An abort is played by dropping marks without unmarking; real ones are in `tests/store`.

use std::mem::forget;

use mainstay_ledger::sample::run;

use super::*;

const STORE: StoreId = StoreId::from_bytes([7; 16]);

fn open(folder: &Path) -> Arc<Marks> {
    Arc::new(Marks::open(folder, STORE))
}

/// A process that opens the store, executes code of these runs and aborts.
fn abort_in(folder: &Path, runs: &[u32]) -> Vec<(RunId, u32)> {
    let marks = open(folder);
    drop(marks.mark(run(99)));
    for &n in runs {
        let mark = marks.mark(run(n));
        assert!(mark.is_kept());
        forget(mark);
    }
    marks.aborted()
}

#[test]
fn aborts_in_a_row_are_counted_per_run_and_start_anew_for_those_not_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert_eq!(abort_in(path, &[1, 2]), []);
    assert_eq!(abort_in(path, &[2, 1, 1]), [(run(1), 1), (run(2), 1)]);
    assert_eq!(abort_in(path, &[1, 3]), [(run(1), 2), (run(2), 2)]);
    assert_eq!(abort_in(path, &[1]), [(run(1), 3), (run(3), 1)]);
    // An abort in nobody's code.
    assert_eq!(abort_in(path, &[]), [(run(1), 4)]);
    assert_eq!(abort_in(path, &[1]), []);
    assert_eq!(open(path).aborted(), [(run(1), 1)]);
}

#[test]
fn a_clean_end_starts_all_anew_whatever_is_marked_then() {
    let folder = tempfile::tempdir().unwrap();
    abort_in(folder.path(), &[1]);
    abort_in(folder.path(), &[1]);
    let marks = open(folder.path());
    let mark = marks.mark(run(1));
    marks.clean();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(open(folder.path()).aborted(), []);
    open(folder.path()).clean();
    // A guard that outlives its store changes nothing of the next one's.
    let next = open(folder.path());
    forget(next.mark(run(2)));
    drop(mark);
    assert_eq!(open(folder.path()).aborted(), [(run(2), 1)]);
}

#[test]
fn whoever_only_looks_between_two_aborts_changes_no_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    abort_in(path, &[1]);
    for _ in 0..3 {
        let looks = open(path);
        assert_eq!(looks.aborted(), [(run(1), 1)]);
        looks.clean();
    }
    assert_eq!(abort_in(path, &[1]), [(run(1), 1)]);
    assert_eq!(open(path).aborted(), [(run(1), 2)]);
}

#[test]
fn a_crash_while_opening_counts_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    abort_in(path, &[1]);
    let before = fs::read(path.join(MARKS)).unwrap();
    assert_eq!(open(path).aborted(), [(run(1), 1)]);
    // As it is between the two files: counted, and the marks still there.
    fs::write(path.join(MARKS), &before).unwrap();
    assert_eq!(open(path).aborted(), [(run(1), 1)]);
    assert_eq!(open(path).aborted(), []);
}

#[test]
fn slots_are_used_again_and_beyond_them_nothing_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let marks = open(folder.path());
    for _ in 0..3 {
        let mut held: Vec<Mark> = (0..300).map(|n| marks.mark(run(n))).collect();
        let kept = held.iter().filter(|mark| mark.is_kept()).count();
        assert_eq!(kept, limits::MARKS_MAX);
        assert!(held[..kept].iter().all(Mark::is_kept), "first come");
        held.truncate(200);
        assert!(marks.mark(run(1)).is_kept());
    }
    forget(marks.mark(run(5)));
    assert_eq!(open(folder.path()).aborted(), [(run(5), 1)]);
}

#[test]
fn marks_of_another_store_or_opening_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let other = Arc::new(Marks::open(path, StoreId::from_bytes([8; 16])));
    forget(other.mark(run(1)));
    assert_eq!(open(path).aborted(), []);
    // A slot that an earlier opening wrote, in a file of a later one.
    abort_in(path, &[1]);
    let earlier = fs::read(path.join(MARKS)).unwrap();
    drop(open(path));
    let mut later = fs::read(path.join(MARKS)).unwrap();
    assert_ne!(later[..SLOT_BYTES], earlier[..SLOT_BYTES]);
    later[SLOT_BYTES..].copy_from_slice(&earlier[SLOT_BYTES..]);
    fs::write(path.join(MARKS), later).unwrap();
    assert_eq!(open(path).aborted(), []);
    // And one in another's place.
    abort_in(path, &[2]);
    let mut moved = fs::read(path.join(MARKS)).unwrap();
    moved.copy_within(SLOT_BYTES..2 * SLOT_BYTES, 3 * SLOT_BYTES);
    moved[SLOT_BYTES..2 * SLOT_BYTES].fill(0);
    fs::write(path.join(MARKS), moved).unwrap();
    assert_eq!(open(path).aborted(), []);
}

#[test]
fn a_torn_or_foreign_file_is_ignored_and_replaced_and_never_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    abort_in(path, &[1]);
    abort_in(path, &[1]);
    let whole = [MARKS, ABORTS].map(|name| fs::read(path.join(name)).unwrap());
    let put = |name: &str, bytes: &[u8]| fs::write(path.join(name), bytes).unwrap();
    // Both whole but for one, which holds this.
    let with = |name: &str, bytes: &[u8]| {
        for (each, whole) in [MARKS, ABORTS].iter().zip(&whole) {
            put(each, whole);
        }
        put(name, bytes);
    };
    for (at, name) in [MARKS, ABORTS].into_iter().enumerate() {
        let bytes = &whole[at];
        for length in [0, 1, 7, 31, 33, 47, bytes.len() - 1] {
            with(name, &bytes[..length.min(bytes.len() - 1)]);
            goes_on(path, &format!("{name} cut to {length}"));
        }
        for bit in (0..8 * 80).step_by(5) {
            let mut bytes = bytes.clone();
            let byte = bit / 8 % bytes.len();
            bytes[byte] ^= 1 << (bit % 8);
            with(name, &bytes);
            goes_on(path, &format!("{name} with bit {bit} flipped"));
        }
        with(
            name,
            b"something else entirely, and longer than a header is",
        );
        goes_on(path, &format!("{name} of somebody else"));
        fs::remove_file(path.join(name)).unwrap();
        fs::create_dir(path.join(name)).unwrap();
        drop(open(path));
        fs::remove_dir(path.join(name)).unwrap();
    }
}

/// Whatever the files say, nothing is blamed that never was, and the next abort is counted.
fn goes_on(path: &Path, what: &str) {
    let aborted = open(path).aborted();
    let possible = [vec![], vec![(run(1), 1)], vec![(run(1), 2)]];
    assert!(possible.contains(&aborted), "{what}: {aborted:?}");
    abort_in(path, &[4]);
    assert_eq!(open(path).aborted(), [(run(4), 1)], "{what}");
}

#[test]
fn where_nothing_can_be_written_nothing_is_marked() {
    let marks = open(Path::new("/nonexistent/store"));
    assert!(!marks.mark(run(1)).is_kept());
    assert_eq!(marks.aborted(), []);
    marks.clean();
}
