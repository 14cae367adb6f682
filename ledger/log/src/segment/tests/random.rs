//! Anything in any order, with the log opened again in between: always what the truth says.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Deed {
    Say(Vec<Said>),
    Roll,
    Reopen,
    /// As after a kill: the note of what was acknowledged is all there is beside the segments.
    Kill,
}

fn said() -> impl Strategy<Value = Said> {
    let n = 0_u8..6;
    prop_oneof![
        4 => (n.clone(), 1_u64..4).prop_map(|(n, count)| records(n, 0, count)),
        1 => (n.clone(), 1_u64..4).prop_map(|(n, count)| carried(n, 0, count)),
        3 => (n.clone(), "x{0,900}").prop_map(|(n, value)| row(&n.to_string(), &value)),
        1 => n.clone().prop_map(|n| Said::Gone(vec![n])),
        2 => (n.clone(), ".{0,20}").prop_map(|(n, row)| closed(n, &row)),
        1 => n.prop_map(|n| Said::Pruned(run(n))),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        12 => prop::collection::vec(said(), 0..5).prop_map(Deed::Say),
        1 => Just(Deed::Roll),
        1 => Just(Deed::Reopen),
        1 => Just(Deed::Kill),
    ]
}

/// Gives records the seqs that they can have: new ones follow the newest, copies are of some that
/// are there.
fn seqs(truth: &Truth, all: Vec<Said>) -> Vec<Said> {
    let mut frame = truth.clone();
    frame.frames.push((SegmentNo(0), Vec::new()));
    for said in all {
        let said = match said {
            Said::Records {
                run: of,
                records: new,
                carried: copy,
                ..
            } => {
                let known = frame.records(of);
                let n = of.as_bytes()[0];
                let count = new.len() as u64;
                let (first, newest) = (known.keys().next(), known.keys().next_back());
                match (copy, first.zip(newest)) {
                    (false, ends) => records(n, ends.map_or(1, |(_, newest)| newest + 1), count),
                    (true, Some((first, newest))) => {
                        let from = first + (newest - first) / 2;
                        carried(n, from, count.min(newest - from + 1))
                    }
                    (true, None) => Said::Gone(vec![n]),
                }
            }
            other @ (Said::Row(..) | Said::Gone(_) | Said::Closed(..) | Said::Pruned(_)) => other,
        };
        frame.frames.last_mut().expect("it was pushed").1.push(said);
    }
    frame.frames.pop().expect("it was pushed").1
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_log_says_what_was_said_however_often_it_is_opened(
        deeds in prop::collection::vec(deed(), 1..60),
    ) {
        let mut disk = MemoryDisk::new();
        let mut told = Told::new(&disk);
        for deed in deeds {
            match deed {
                Deed::Say(said) => {
                    let said = seqs(&told.truth, said);
                    told.say(&said);
                }
                Deed::Roll => {
                    told.log.roll().unwrap();
                }
                Deed::Reopen => {
                    let truth = told.truth.clone();
                    drop(told);
                    told = Told::with(&disk, small(), truth);
                }
                Deed::Kill => {
                    disk = disk.after_kill();
                    told = Told::with(&disk, small(), told.truth.clone());
                }
            }
        }
        told.check();
        let truth = told.truth.clone();
        drop(told);
        Told::with(&disk, small(), truth).check();
    }
}
