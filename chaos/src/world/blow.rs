//! Faults that come at a moment of the world's time, in their order.

use crate::fault::{Act, Where};
use crate::schedule::Schedule;

/// What comes at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge {
    /// A fault ends.
    Ends,
    /// A fault begins.
    Begins,
}

/// A fault's beginning or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blow {
    /// In ms since the world began.
    pub(crate) at_ms: u64,
    pub(crate) edge: Edge,
    /// Which fault of the schedule.
    pub(crate) fault: usize,
}

/// How long a process goes on whose disk could not sync, before whoever watches it ends it, in ms.
const POISONED_FOR_MS: u64 = 700;

/// All blows of a schedule, the first one last.
pub(crate) fn of(schedule: &Schedule) -> Vec<Blow> {
    let mut blows = Vec::new();
    for (fault, told) in schedule.faults.iter().enumerate() {
        let named = told.kind.named();
        let begins = Blow {
            at_ms: told.at_ms.unwrap_or_default(),
            edge: Edge::Begins,
            fault,
        };
        let lasts = match (named.place, named.act) {
            (Where::During, Act::Disk(_)) => Some(told.length()),
            (Where::Moment, Act::Disk(_)) => Some(POISONED_FOR_MS),
            (Where::During | Where::Moment, _) => None,
            (Where::Request(_) | Where::LookUp | Where::RequestsDuring(_) | Where::Commit, _) => {
                continue;
            }
        };
        blows.push(begins);
        blows.extend(lasts.map(|ms| Blow {
            at_ms: begins.at_ms.saturating_add(ms),
            edge: Edge::Ends,
            fault,
        }));
    }
    blows.sort_unstable();
    blows.reverse();
    blows
}

/// Deaths of a schedule by the group of commits that they come at, the first one last.
pub(crate) fn deaths(schedule: &Schedule) -> Vec<(u64, usize)> {
    let faults = schedule.faults.iter().enumerate();
    let deaths = faults.filter(|(_, told)| matches!(told.kind.named().act, Act::Dies(_)));
    let mut deaths: Vec<(u64, usize)> = deaths
        .map(|(fault, told)| (told.nth.unwrap_or(1), fault))
        .collect();
    deaths.sort_unstable();
    deaths.reverse();
    deaths
}
