//! What nobody knows about a run: effects in doubt, and attempts whose process is gone.

use mainstay_machine::{Attempt, AttemptState, Call, EffectStatus};
use mainstay_types::{CallId, limits};
use serde::Serialize;

use super::About;
use crate::view::call::doubt;
use crate::view::raw;

/// Something that nobody knows.
#[derive(Clone, Debug, Serialize)]
pub struct UncertainView {
    /// The call's path.
    pub call: String,
    /// In words.
    pub what: String,
    /// The effect's key, when it is one.
    pub key: Option<String>,
    /// When the receiver is asked next.
    pub next_lookup_at: Option<String>,
    /// From when "not found" is believed.
    pub absent_after: Option<String>,
}

/// Doubts first, then what was given up and may go on, then costs that are assumed.
pub(super) fn rows(about: About<'_>) -> Vec<UncertainView> {
    let calls = || about.run.calls().iter();
    let doubts = calls().filter_map(|(id, call)| doubtful(about, id, call));
    let assumed = calls().flat_map(|(id, call)| {
        let made = call.attempts.iter();
        made.filter_map(move |made| assumed(about, id, made))
    });
    let given_up = calls().flat_map(|(id, call)| {
        let made = call.attempts.iter();
        made.filter_map(move |made| given_up(about, id, made))
    });
    let rows = doubts.chain(given_up).chain(assumed);
    rows.take(limits::WHY_ROWS_MAX).collect()
}

fn doubtful(about: About<'_>, id: CallId, call: &Call) -> Option<UncertainView> {
    let effect = call.effect.as_ref()?;
    let what = match &effect.status {
        EffectStatus::InDoubt(doubt) => format!(
            "whether its effect happened: {}, asked {} times",
            doubt.reason, effect.lookups
        ),
        EffectStatus::PartlyApplied => "how much of its effect happened".to_owned(),
        EffectStatus::Dispatched => "whether its effect happened: its request is out".to_owned(),
        EffectStatus::Intended
        | EffectStatus::Applied(_)
        | EffectStatus::Absent(_)
        | EffectStatus::Compensated => return None,
    };
    let doubt = doubt(effect);
    Some(UncertainView {
        call: about.run.path(id),
        what,
        key: Some(effect.key.to_string()),
        next_lookup_at: doubt.map(|doubt| raw::time(doubt.lookup_at)),
        absent_after: doubt.map(|doubt| raw::time(doubt.absent_after)),
    })
}

fn given_up(about: About<'_>, id: CallId, made: &Attempt) -> Option<UncertainView> {
    let orphan = made.orphan().filter(|orphan| orphan.is_open(about.now))?;
    Some(UncertainView {
        call: about.run.path(id),
        what: format!(
            "whether attempt {}, which was told to stop, goes on: it is {}'s until {}",
            made.no,
            orphan.owner,
            raw::time(orphan.until)
        ),
        key: None,
        next_lookup_at: None,
        absent_after: None,
    })
}

fn assumed(about: About<'_>, id: CallId, made: &Attempt) -> Option<UncertainView> {
    let AttemptState::Interrupted { cost } = &made.state else {
        return None;
    };
    (made.lap == about.head.lap.no).then(|| UncertainView {
        call: about.run.path(id),
        what: format!(
            "what attempt {} came to and cost: its process is gone, {cost} units are assumed",
            made.no
        ),
        key: None,
        next_lookup_at: None,
        absent_after: None,
    })
}
