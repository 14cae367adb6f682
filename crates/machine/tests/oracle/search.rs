//! Whether a schedule exists, for somebody who knows every draw.
//!
//! It places the courses of the wanted calls (see course.rs) within concurrency tokens and times,
//! each after all it needs; retry tokens and cost do not depend on the order and are summed up.
//! What it finds is a schedule, and [`Schedule::check`] looks at it again. What it does not find
//! may exist all the same: it tries a bounded number of orders, counts every failed attempt at
//! what was reserved for it, and never lets a call fall back sooner than it would when nothing is
//! scarce. So "found" is a lower bound of what is feasible.
//!
//! It need not keep the downstream reserves and `min_useful` that bind the core, which does not
//! know how long what follows will take: only synthesis, reconcile and delivery are kept.

use std::collections::BTreeSet;

use mainstay_graph::{Criticality, Node, TaskClass, path};
use mainstay_types::{CostUnits, Millis, NodeId, Rung, Tokens};

use super::course::Course;
use super::draw::Draw;

/// Orders it tries before it gives up.
const TRIES_MAX: u32 = 3_000;

/// For which calls a schedule is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// For all that a completed outcome needs, each answered by its own provider.
    Completed,
    /// For the hard path, by whichever rung; soft calls are left out.
    HardPath,
}

/// What the oracle came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Found,
    None,
    /// It tried enough orders and knows nothing.
    GaveUp,
}

/// What it looks for a schedule of. Milliseconds since the start of the run.
pub(crate) struct Schedule<'a> {
    courses: &'a [Course],
    wanted: BTreeSet<usize>,
    needs: Vec<Vec<usize>>,
    /// Of each call, until when each of its attempts has to end.
    ends_by: Vec<Vec<i64>>,
    tokens: usize,
    /// What is placed, in the order in which it was placed.
    placed: Vec<Placed>,
    tries: u32,
}

/// An attempt at its time.
#[derive(Clone, Copy, Debug)]
struct Placed {
    call: usize,
    start: i64,
    end: i64,
}

/// Looks for a schedule of a draw whose calls have these courses.
pub(crate) fn verdict(draw: &Draw, courses: &[Course], wants: Wants) -> Verdict {
    let wanted = wanted(&draw.class, wants);
    if !has_values(courses, &wanted, wants) || !has_budget(draw, courses, &wanted) {
        return Verdict::None;
    }
    let mut schedule = Schedule::of(draw, courses, wanted);
    if schedule.place_all() {
        schedule.check(draw.seed);
        return Verdict::Found;
    }
    match schedule.tries {
        0 => Verdict::GaveUp,
        _ => Verdict::None,
    }
}

/// The calls, by node.
fn wanted(class: &TaskClass, wants: Wants) -> BTreeSet<usize> {
    let hard = path::hard_path(class);
    let mut open: Vec<NodeId> = hard.iter().copied().collect();
    if wants == Wants::Completed {
        let soft = |node: &Node| matches!(node.criticality, Criticality::Soft { .. });
        open.extend(class.ids().filter(|(_, node)| soft(node)).map(|(id, _)| id));
    }
    let mut wanted = BTreeSet::new();
    while let Some(id) = open.pop() {
        let is_noted = matches!(class.node(id).criticality, Criticality::Advisory { .. });
        let is_wanted = match wants {
            Wants::Completed => !is_noted,
            Wants::HardPath => hard.contains(&id),
        };
        if is_wanted && wanted.insert(index(id)) {
            open.extend(class.node(id).needs());
        }
    }
    wanted
}

fn has_values(courses: &[Course], wanted: &BTreeSet<usize>, wants: Wants) -> bool {
    let values = wanted.iter().map(|&call| courses[call].value);
    let is_good = |value: Option<Rung>| match wants {
        Wants::Completed => value == Some(Rung(0)),
        Wants::HardPath => value.is_some(),
    };
    values.into_iter().all(is_good)
}

fn has_budget(draw: &Draw, courses: &[Course], wanted: &BTreeSet<usize>) -> bool {
    let made = || wanted.iter().flat_map(|&call| &courses[call].attempts);
    let tokens = made().fold(Tokens::ZERO, |sum, made| sum + made.tokens);
    let cost: CostUnits = made().map(|made| made.cost).sum();
    let budget = &draw.class.budget;
    tokens <= budget.retry_tokens && cost <= budget.cost_units
}

impl<'a> Schedule<'a> {
    fn of(draw: &Draw, courses: &'a [Course], wanted: BTreeSet<usize>) -> Self {
        let class = &draw.class;
        let needs = class.nodes.iter().map(|node| {
            let needs = node.needs().map(index);
            needs.filter(|need| wanted.contains(need)).collect()
        });
        let needs: Vec<Vec<usize>> = needs.collect();
        let ends_by = ends_by(class, courses, &wanted, &needs);
        let tokens = class.budget.concurrency_tokens.get();
        Self {
            courses,
            wanted,
            needs,
            ends_by,
            tokens: usize::try_from(tokens).expect("few tokens"),
            placed: Vec::new(),
            tries: TRIES_MAX,
        }
    }

    /// Places what is not placed yet, the most urgent first, and goes back where that fails.
    fn place_all(&mut self) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        let Some(mut next) = self.next() else {
            return false;
        };
        if next.is_empty() {
            return true;
        }
        next.sort_by_key(|(slack, placed)| (*slack, placed.call));
        for (_, placed) in next {
            self.placed.push(placed);
            if self.place_all() {
                return true;
            }
            self.placed.pop();
        }
        false
    }

    /// The next attempt of every call that could go on, with the time it has to spare; `None` when
    /// one of them has none: whatever is placed before it makes it no earlier.
    fn next(&self) -> Option<Vec<(i64, Placed)>> {
        let mut next = Vec::new();
        for &call in &self.wanted {
            let made = self.placed.iter().filter(|placed| placed.call == call);
            let Some(attempt) = self.courses[call].attempts.get(made.count()) else {
                continue;
            };
            let Some(from) = self.free_at(call) else {
                continue;
            };
            let placed = self.earliest(call, from + ms(attempt.wait), ms(attempt.takes));
            let made = self.placed.iter().filter(|placed| placed.call == call);
            let slack = self.ends_by[call][made.count()] - placed.end;
            if slack < 0 {
                return None;
            }
            next.push((slack, placed));
        }
        Some(next)
    }

    /// From when the call may go on; `None` while something it needs is not all placed.
    fn free_at(&self, call: usize) -> Option<i64> {
        let last = self.placed.iter().rev().find(|placed| placed.call == call);
        match last {
            Some(last) => Some(last.end),
            None => self.ready_at(call),
        }
    }

    fn ready_at(&self, call: usize) -> Option<i64> {
        let mut ready = 0;
        for &need in &self.needs[call] {
            ready = ready.max(self.value_at(need)?);
        }
        Some(ready)
    }

    fn value_at(&self, call: usize) -> Option<i64> {
        let Course {
            attempts, after, ..
        } = &self.courses[call];
        let made: Vec<&Placed> = self.placed.iter().filter(|p| p.call == call).collect();
        match made.last() {
            Some(last) if made.len() == attempts.len() => Some(last.end + ms(*after)),
            None if attempts.is_empty() => self.ready_at(call),
            Some(_) | None => None,
        }
    }

    /// The first moment from `from` at which a token is free for so long.
    fn earliest(&self, call: usize, from: i64, takes: i64) -> Placed {
        let mut starts: Vec<i64> = self.placed.iter().map(|placed| placed.end).collect();
        starts.retain(|&end| from < end);
        starts.push(from);
        starts.sort_unstable();
        let fits = |&start: &i64| self.most_out(start, start + takes) < self.tokens;
        let start = starts.into_iter().find(fits);
        let start = start.expect("after the last end nothing is out");
        let end = start + takes;
        Placed { call, start, end }
    }

    /// The most attempts that are out at once between two moments.
    fn most_out(&self, start: i64, end: i64) -> usize {
        let begin = self.placed.iter().map(|placed| placed.start);
        let within = begin.filter(|begin| (start..end).contains(begin));
        let out_at = |at: i64| {
            let out = self.placed.iter();
            out.filter(|placed| (placed.start..placed.end).contains(&at))
                .count()
        };
        within.chain([start]).map(out_at).max().unwrap_or(0)
    }

    /// Looks at a whole schedule again, by its rules alone.
    fn check(&self, seed: u64) {
        for placed in &self.placed {
            let out = self.most_out(placed.start, placed.end);
            assert!(out <= self.tokens, "seed {seed}: {out} attempts at once");
            let ready = self.ready_at(placed.call).expect("all is placed");
            assert!(
                ready <= placed.start,
                "seed {seed}: an attempt before what it needs"
            );
        }
        for &call in &self.wanted {
            let course = &self.courses[call];
            let made: Vec<&Placed> = self.placed.iter().filter(|p| p.call == call).collect();
            assert_eq!(made.len(), course.attempts.len(), "seed {seed}");
            for (made, by) in made.iter().zip(&self.ends_by[call]) {
                assert!(made.end <= *by, "seed {seed}: an attempt ends too late");
            }
            for (pair, attempt) in made.windows(2).zip(course.attempts.iter().skip(1)) {
                let waited = pair[1].start - pair[0].end;
                assert!(
                    ms(attempt.wait) <= waited,
                    "seed {seed}: an attempt does not wait"
                );
            }
        }
    }
}

/// Of each call, until when each attempt has to end: what follows it must still fit when nothing
/// but time is scarce.
fn ends_by(
    class: &TaskClass,
    courses: &[Course],
    wanted: &BTreeSet<usize>,
    needs: &[Vec<usize>],
) -> Vec<Vec<i64>> {
    let work_by = ms(class.work_by()) - ms(class.reserve.synthesis);
    let mut value_by = vec![work_by; courses.len()];
    let mut ends_by = vec![Vec::new(); courses.len()];
    for &call in wanted.iter().rev() {
        let writes = class.nodes[call].effect().is_some();
        let reconcile = if writes {
            ms(class.reserve.reconcile)
        } else {
            0
        };
        let mut by = value_by[call];
        if !courses[call].attempts.is_empty() {
            by -= ms(courses[call].after);
        }
        for attempt in courses[call].attempts.iter().rev() {
            let end = by.min(work_by - reconcile);
            ends_by[call].insert(0, end);
            by = end - ms(attempt.takes) - ms(attempt.wait);
        }
        for &need in &needs[call] {
            value_by[need] = value_by[need].min(by);
        }
    }
    ends_by
}

fn ms(millis: Millis) -> i64 {
    i64::try_from(millis.get()).expect("a time of a test")
}

fn index(id: NodeId) -> usize {
    usize::from(id.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::course::Made;
    use crate::scenario::build;
    use crate::scenario::parse::Script;

    /// Two at once. `first` and `second` take 300 ms, `third` 100, `fourth` after it 600.
    fn draw(answer_by: &str) -> Draw {
        let text = format!(
            "
            read   first estimate=1ms min=1ms
            read   second estimate=1ms min=1ms
            read   third estimate=1ms min=1ms
            read   fourth needs=third estimate=1ms min=1ms
            result first second fourth
            start  concurrency=2 retry=0 answer_by={answer_by}
        "
        );
        Draw {
            seed: 0,
            class: build::class(&Script::parse(&text)),
            room: 0,
            places: vec![0, 1, 2, 3],
        }
    }

    fn found(answer_by: &str, tokens: u32) -> Verdict {
        let course = |takes| Course {
            attempts: vec![Made {
                wait: Millis::ZERO,
                takes: Millis::new(takes),
                tokens: Tokens::new(tokens),
                cost: CostUnits::ZERO,
            }],
            after: Millis::ZERO,
            value: Some(Rung(0)),
        };
        let courses = [300, 300, 100, 600].map(course);
        verdict(&draw(answer_by), &courses, Wants::Completed)
    }

    #[test]
    fn the_oracle_finds_the_order_that_fits_and_none_where_none_does() {
        // In the class's order the fourth call would end at 1000 ms.
        assert_eq!(found("700ms", 0), Verdict::Found);
        assert_eq!(found("699ms", 0), Verdict::None);
    }

    #[test]
    fn the_oracle_has_no_more_retry_tokens_than_the_run() {
        assert_eq!(found("10s", 1), Verdict::None);
    }
}
