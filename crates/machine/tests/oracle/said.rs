//! A run's log for a person: what was sent and what came of it, in milliseconds since the start.
//!
//! Only words; nothing is decided here.

use std::fmt::Write;

use mainstay_graph::path;
use mainstay_machine::{AttemptEnd, Event};

use super::course::Course;
use super::draw::Draw;
use super::drive::Driven;
use crate::scenario::world::ORIGIN;

/// The class, one line per node with its course when nothing is scarce.
pub(crate) fn class(draw: &Draw, courses: &[Course]) -> String {
    let hard = path::hard_path(&draw.class);
    let mut text = format!("{:?}, {:?}\n", draw.class.budget, draw.class.reserve);
    for ((id, node), course) in draw.class.ids().zip(courses) {
        let is_hard = if hard.contains(&id) { "hard" } else { "soft" };
        let needs: Vec<u16> = node.inputs.iter().map(|need| need.get()).collect();
        write!(
            text,
            "{} {is_hard} {} needs {needs:?}",
            node.name,
            node.kind.as_str()
        )
        .expect("a string takes it");
        if let Some(contract) = node.contract() {
            write!(
                text,
                " estimate {} timeout {} min {}",
                contract.estimate, contract.timeout, contract.min_useful
            )
            .expect("a string takes it");
        }
        let made = course.attempts.iter();
        let made: Vec<_> = made
            .map(|made| (made.wait.get(), made.takes.get()))
            .collect();
        writeln!(text, " waits and takes {made:?}").expect("a string takes it");
    }
    let work_by = draw.class.work_by();
    text + &format!(
        "work_by {work_by}, answer_by {}\n",
        draw.class.times.answer_by
    )
}

/// What happened.
pub(crate) fn log(driven: &Driven) -> String {
    let mut text = String::new();
    for stamped in &driven.log {
        let at = ORIGIN.until(stamped.at).get();
        let path = stamped.event.call().map(|id| driven.run.path(id));
        let path = path.unwrap_or_default();
        if let Some(what) = what(&stamped.event) {
            writeln!(text, "{at:>7} {path} {what}").expect("a string takes it");
        }
    }
    text
}

/// In short; nothing of what every run has.
fn what(event: &Event) -> Option<String> {
    if let Event::AttemptStarted(out) = event {
        return Some(format!(
            "sent on rung {} for at most {}, {} retry tokens, cost {}",
            out.rung, out.timeout, out.retry_tokens, out.cost
        ));
    }
    if let Event::AttemptSettled { end, cost, .. } = event {
        let AttemptEnd::Failed(failure) = end else {
            return Some(format!("answered, cost {cost}"));
        };
        return Some(format!("failed: {failure}, cost {cost}"));
    }
    let is_usual = matches!(
        event,
        Event::RunStarted(_) | Event::CallPrepared { .. } | Event::EffectIntended { .. }
    );
    (!is_usual).then(|| format!("{event:?}"))
}
