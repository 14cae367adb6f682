//! Makes a schedule as short as it can be while it still shows what it showed: first by leaving
//! faults out, in ever smaller parts, then by trying every few of them alone, then by making those
//! that are left smaller.

use std::time::{Duration, Instant};

use crate::fault::Fault;
use crate::schedule::Schedule;

/// How long is looked for a shorter one: ten seconds with the last try, where worlds spin.
const LOOKS_FOR: Duration = Duration::from_secs(8);
/// How many are tried at most.
const TRIES_MAX: u32 = 6_000;
/// So few faults a person can follow: where more are left, every few of all are tried.
const FEW: usize = 3;

/// The shortest schedule that was found for which `shows` still holds.
pub(crate) fn shrink(schedule: &Schedule, shows: impl Fn(&Schedule) -> bool) -> Schedule {
    let mut search = Search {
        shows,
        left: TRIES_MAX,
        until: Instant::now() + LOOKS_FOR,
    };
    let mut best = schedule.faults.clone();
    search.leave_out(&mut best);
    search.try_few(&schedule.faults, &mut best);
    search.make_smaller(&mut best);
    Schedule { faults: best }
}

struct Search<F> {
    shows: F,
    left: u32,
    until: Instant,
}

impl<F: Fn(&Schedule) -> bool> Search<F> {
    fn still_shows(&mut self, faults: &[Fault]) -> bool {
        if self.left == 0 || self.until < Instant::now() {
            return false;
        }
        self.left -= 1;
        (self.shows)(&Schedule {
            faults: faults.to_vec(),
        })
    }

    /// Leaves out halves, then quarters, down to single faults, as long as anything goes.
    fn leave_out(&mut self, best: &mut Vec<Fault>) {
        let mut part = best.len().div_ceil(2);
        while 0 < part && !best.is_empty() {
            let mut from = 0;
            let mut has_left_out = false;
            while from < best.len() {
                let to = (from + part).min(best.len());
                let mut rest = best[..from].to_vec();
                rest.extend_from_slice(&best[to..]);
                if self.still_shows(&rest) {
                    *best = rest;
                    has_left_out = true;
                } else {
                    from = to;
                }
            }
            part = match part {
                1 if has_left_out => 1,
                1 => 0,
                _ => part.div_ceil(2),
            };
        }
    }

    /// What cannot be left out one by one may still not be needed: without it the others strike
    /// something else. Tries one, two and three of `all` alone, in order, until some show it.
    fn try_few(&mut self, all: &[Fault], best: &mut Vec<Fault>) {
        if best.len() <= FEW {
            return;
        }
        for count in 1..=FEW {
            let mut places: Vec<usize> = (0..count).collect();
            loop {
                let few: Vec<Fault> = places.iter().map(|at| all[*at].clone()).collect();
                if self.still_shows(&few) {
                    *best = few;
                    return;
                }
                if self.left == 0 || !next(&mut places, all.len()) {
                    break;
                }
            }
        }
    }

    /// Makes numbers smaller, one at a time, as long as anything goes.
    fn make_smaller(&mut self, best: &mut Vec<Fault>) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for place in 0..best.len() {
                for smaller in smaller(&best[place]) {
                    let mut tried = best.clone();
                    tried[place] = smaller;
                    if self.still_shows(&tried) {
                        *best = tried;
                        has_changed = true;
                        break;
                    }
                }
            }
        }
    }
}

/// The next choice of so many places below `of`, in order; whether there is one.
fn next(places: &mut [usize], of: usize) -> bool {
    let count = places.len();
    let moves = (0..count).rev().find(|at| places[*at] < of - count + at);
    let Some(at) = moves else {
        return false;
    };
    let first = places[at] + 1;
    for (ahead, place) in places[at..].iter_mut().enumerate() {
        *place = first + ahead;
    }
    true
}

/// The same fault, smaller in one way.
fn smaller(fault: &Fault) -> Vec<Fault> {
    let mut found = Vec::new();
    if let Some(times) = fault.times {
        let times = Some(times / 2).filter(|times| 1 < *times);
        found.push(Fault {
            times,
            ..fault.clone()
        });
    }
    if let Some(ms) = fault.ms.filter(|ms| 1 < *ms) {
        found.push(Fault {
            ms: Some(ms / 2),
            ..fault.clone()
        });
    }
    if let Some(at) = fault.at_ms.filter(|at| 0 < *at) {
        found.push(Fault {
            at_ms: Some(at / 2),
            ..fault.clone()
        });
    }
    if let Some(nth) = fault.nth.filter(|nth| 1 < *nth) {
        found.push(Fault {
            nth: Some(nth / 2),
            ..fault.clone()
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Kind;

    fn slow(nth: u64) -> Fault {
        Fault {
            dependency: Some("d".to_owned()),
            nth: Some(nth),
            times: Some(3),
            ms: Some(8_000),
            ..Fault::of(Kind::Slow)
        }
    }

    #[test]
    fn what_does_not_matter_is_left_out_and_the_rest_made_small() {
        let schedule = Schedule {
            faults: (1..=24).map(slow).collect(),
        };
        let shows = |schedule: &Schedule| {
            let has = |nth| schedule.faults.iter().any(|fault| fault.nth == Some(nth));
            let is_long = schedule.faults.iter().all(|fault| fault.ms > Some(100));
            has(7) && has(19) && is_long
        };
        let shortest = shrink(&schedule, shows);
        let wanted = [7, 19].map(|nth| Fault {
            times: None,
            ms: Some(125),
            ..slow(nth)
        });
        assert_eq!(shortest.faults, wanted);
    }

    /// Any one of five that are there together is needed, and two others alone do it too.
    #[test]
    fn few_that_show_it_alone_are_found_behind_many_of_which_none_can_be_left_out() {
        let schedule = Schedule {
            faults: (1..=24).map(slow).collect(),
        };
        let many: Vec<u64> = (1..=18).step_by(2).collect();
        let shows = |schedule: &Schedule| {
            let has = |nth: &u64| schedule.faults.iter().any(|fault| fault.nth == Some(*nth));
            let alone = schedule.faults.len() == 2 && has(&20) && has(&23);
            many.iter().all(has) || alone
        };
        let shortest = shrink(&schedule, shows);
        let kept: Vec<Option<u64>> = shortest.faults.iter().map(|fault| fault.nth).collect();
        assert_eq!(kept, [Some(20), Some(23)]);
    }

    #[test]
    fn every_choice_of_places_comes_once() {
        for of in 1..=7 {
            for count in 1..=of.min(3) {
                let mut places: Vec<usize> = (0..count).collect();
                let mut all = vec![places.clone()];
                while next(&mut places, of) {
                    all.push(places.clone());
                }
                let choices = (0..count).fold(1, |so_far, n| so_far * (of - n) / (n + 1));
                assert_eq!(all.len(), choices, "{count} of {of}");
                assert!(all.is_sorted() && all.iter().flatten().all(|at| *at < of));
                all.dedup();
                assert_eq!(all.len(), choices);
            }
        }
    }

    #[test]
    fn what_shows_without_any_fault_needs_none() {
        let schedule = Schedule {
            faults: (1..=5).map(slow).collect(),
        };
        assert_eq!(shrink(&schedule, |_| true).faults, []);
    }

    #[test]
    fn what_needs_everything_keeps_everything() {
        let schedule = Schedule {
            faults: (1..=5).map(slow).collect(),
        };
        let shows = |smaller: &Schedule| *smaller == schedule;
        assert_eq!(shrink(&schedule, shows), schedule);
    }
}
