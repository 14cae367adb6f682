//! The report for people.

use std::fmt;

use super::{Report, Violation};

/// Lines of a timeline that are printed: the end is where it went wrong.
const TIMELINE_LINES: usize = 80;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, schedules) = (&self.class, self.schedules);
        writeln!(
            f,
            "{class}: {schedules} of {} schedules from seed {}, {:.0} per second",
            self.seeds, self.from, self.schedules_per_second
        )?;
        let ends = self.outcomes.iter();
        let ends: Vec<String> = ends
            .map(|(kind, times)| format!("{times} {kind}"))
            .collect();
        writeln!(
            f,
            "median: {} attempts, {} faults that changed something; laps: {}",
            self.attempts_median,
            self.hits_median,
            ends.join(", ")
        )?;
        let hits = self.hits.iter();
        let hits: Vec<String> = hits
            .map(|(kind, times)| format!("{kind} {times}"))
            .collect();
        if !hits.is_empty() {
            writeln!(f, "hits: {}", hits.join(", "))?;
        }
        for kind in &self.never_hit {
            let about = kind.named().about;
            writeln!(
                f,
                "NEVER HIT: {kind} ({about}) changed nothing in any world: leave it out, or give \
                 it a state in which it matters"
            )?;
        }
        if self.violations.is_empty() {
            return writeln!(f, "0 violations");
        }
        writeln!(f, "{} VIOLATIONS", self.violations.len())?;
        for violation in &self.violations {
            one(f, self, violation)?;
        }
        Ok(())
    }
}

fn one(f: &mut fmt::Formatter<'_>, report: &Report, violation: &Violation) -> fmt::Result {
    let commit = report.commit.as_deref().unwrap_or("of no known commit");
    writeln!(f, "\nseed {} at {commit}", violation.seed)?;
    for breach in &violation.breaches {
        writeln!(f, "  {}: {}", breach.property, breach.what)?;
    }
    let (left, all) = (violation.schedule.faults.len(), violation.faults);
    writeln!(f, "shortest schedule found: {left} of {all} faults")?;
    for fault in &violation.schedule.faults {
        writeln!(f, "  {fault}")?;
    }
    for breach in &violation.shortest {
        writeln!(f, "  so: {}: {}", breach.property, breach.what)?;
    }
    let skipped = violation.timeline.len().saturating_sub(TIMELINE_LINES);
    writeln!(f, "timeline, the last {TIMELINE_LINES} lines at most:")?;
    for moment in violation.timeline.iter().skip(skipped) {
        writeln!(
            f,
            "  {:>8} ms  {:<7} {}",
            moment.at_ms, moment.who, moment.what
        )?;
    }
    writeln!(
        f,
        "again: MAINSTAY_SEED={} and the same test",
        violation.seed
    )
}
