//! Checks of the class's times: their order, the reserves, the critical path.
//!
//! It compares what the class says with itself; it never knows when a run starts.

use mainstay_types::{Code, Millis, limits};

use crate::class::{TaskClass, Times};
use crate::path;
use crate::problem::{Problem, exact};

/// Checks the order of the times, and the reserves against them.
pub(super) fn check(class: &TaskClass, problems: &mut Vec<Problem>) {
    problems.extend(answer_by_problem(&class.times));
    problems.extend(work_by_problem(class));
    check_expiry(class, problems);
    problems.extend(deliver_problem(class));
    problems.extend(reserve_problem(class));
}

/// `answer_by` is broken by itself: what is compared with it would only repeat that.
const fn has_time(times: &Times) -> bool {
    times.answer_by.get() != 0
}

fn answer_by_problem(times: &Times) -> Option<Problem> {
    let (answer_by, max) = (times.answer_by, Millis::new(limits::ANSWER_MS_MAX));
    let message = if !has_time(times) {
        "answer_by is 0 ms, so every run would be late when it starts".to_owned()
    } else if max < answer_by {
        format!(
            "answer_by is {}, at most {} are allowed",
            exact(answer_by),
            exact(max)
        )
    } else {
        return None;
    };
    let hint = format!("say how long the caller waits, from 1 ms to {}", exact(max));
    Some(Problem::error(Code::TimesInvalid, message).hint(hint))
}

fn work_by_problem(class: &TaskClass) -> Option<Problem> {
    let work_by = class.times.work_by?;
    let (answer_by, max) = (class.times.answer_by, Millis::new(limits::ANSWER_MS_MAX));
    if work_by == Millis::ZERO {
        let message = "work_by is 0 ms, so no attempt could ever start";
        let hint = "leave it out: it is answer_by less the delivery reserve then";
        return Some(Problem::error(Code::TimesInvalid, message).hint(hint));
    }
    if max < work_by {
        let message = format!(
            "work_by is {}, at most {} are allowed",
            exact(work_by),
            exact(max)
        );
        let hint = "end the work earlier";
        return Some(Problem::error(Code::TimesInvalid, message).hint(hint));
    }
    // Later than answer_by is meant: the caller is told Later, and work goes on.
    let deliver = class.reserve.deliver;
    if work_by <= answer_by.less(deliver) || answer_by < work_by {
        return None;
    }
    let message = format!(
        "work_by is {}, which leaves {} of the delivery reserve of {} before answer_by at {}",
        exact(work_by),
        exact(answer_by.less(work_by)),
        exact(deliver),
        exact(answer_by)
    );
    let hint = format!(
        "let work end by {}, or after answer_by if it shall go on behind the answer",
        exact(answer_by.less(deliver))
    );
    Some(Problem::warning(Code::TimesInvalid, message).hint(hint))
}

fn check_expiry(class: &TaskClass, problems: &mut Vec<Problem>) {
    let times = &class.times;
    let Some(expires_at) = times.expires_at else {
        return;
    };
    let bounds = [
        ("answer_by", Some(times.answer_by)),
        ("work_by", times.work_by),
    ];
    for (name, bound) in bounds {
        let Some(bound) = bound.filter(|&bound| expires_at < bound) else {
            continue;
        };
        let message = format!(
            "expires_at is {}, before {name} at {}",
            exact(expires_at),
            exact(bound)
        );
        let hint = "let the request expire at or after answer_by and work_by";
        problems.push(Problem::error(Code::TimesInvalid, message).hint(hint));
    }
    // The default is meant to be cut; a number that someone wrote down should hold.
    let is_chosen = times.doubt_wait.get() != limits::DOUBT_WAIT_MS_DEFAULT;
    let wait_ends = times.answer_by + times.doubt_wait;
    if is_chosen && class.writes() && expires_at < wait_ends {
        let message = format!(
            "doubt_wait would end at {} (answer_by {} and {}), it is cut at expires_at, {}",
            exact(wait_ends),
            exact(times.answer_by),
            exact(times.doubt_wait),
            exact(expires_at)
        );
        let hint = format!(
            "lower doubt_wait to {}, or let the request expire later",
            exact(expires_at.less(times.answer_by))
        );
        problems.push(Problem::warning(Code::TimesInvalid, message).hint(hint));
    }
}

fn deliver_problem(class: &TaskClass) -> Option<Problem> {
    let (deliver, answer_by) = (class.reserve.deliver, class.times.answer_by);
    if !has_time(&class.times) || deliver < answer_by {
        return None;
    }
    let message = format!(
        "delivery keeps back {}, answer_by is {}",
        exact(deliver),
        exact(answer_by)
    );
    let hint = "lower the delivery reserve or raise answer_by";
    Some(Problem::error(Code::ReservesExceedTime, message).hint(hint))
}

fn reserve_problem(class: &TaskClass) -> Option<Problem> {
    let (synthesis, reconcile) = (class.reserve.synthesis, class.reserve.reconcile);
    let work_by = class.work_by();
    let (kept, what) = if class.writes() {
        let what = format!(
            "synthesis {} and reconcile {}",
            exact(synthesis),
            exact(reconcile)
        );
        (synthesis + reconcile, what)
    } else {
        (synthesis, format!("synthesis {}", exact(synthesis)))
    };
    // Without time to work at all, that is the problem, and it is reported by its own name.
    if work_by == Millis::ZERO || kept < work_by {
        return None;
    }
    let message = format!("{what} are kept back, work_by is {}", exact(work_by));
    let hint = "lower the reserves or raise answer_by";
    Some(Problem::error(Code::ReservesExceedTime, message).hint(hint))
}

/// Checks that the hard path fits before `work_by`; needs sound refs.
pub(super) fn check_critical_path(class: &TaskClass, problems: &mut Vec<Problem>) {
    let (chain, reserve) = path::longest(class);
    let (work_by, need) = (class.work_by(), chain.estimate + reserve);
    if !has_time(&class.times) || chain.nodes.is_empty() || need <= work_by {
        return;
    }
    let names: Vec<&str> = chain
        .nodes
        .iter()
        .map(|&id| class.node(id).name.as_str())
        .collect();
    let message = format!(
        "{} needs {} (estimates {}, kept back {}), work_by is {}",
        names.join(" -> "),
        exact(need),
        exact(chain.estimate),
        exact(reserve),
        exact(work_by)
    );
    let hint = format!(
        "shorten the path by {}, or raise answer_by",
        exact(need.less(work_by))
    );
    problems.push(Problem::error(Code::CriticalPathTooLong, message).hint(hint));
}
