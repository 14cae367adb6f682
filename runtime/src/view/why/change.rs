//! Which number would have to change so that a run goes on, and how a person changes it.
//!
//! From the codes and numbers of what is in the way; one row per number, however many calls it
//! stops. A command is only named where it would be taken.

use std::cmp::Ordering;

use mainstay_graph::Budget;
use mainstay_machine::{Admission, OutcomeKind, Verdict};
use mainstay_types::{Code, CostUnits, Millis, limits};
use serde::Serialize;
use serde_json::value::RawValue;

use super::About;
use super::blocked::BlockedView;
use super::lack::Lacks;
use super::stop::Stop;
use crate::view::{ClassView, raw};

/// A number and what it would have to be.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeView {
    /// Which, for example `retry_tokens`; `None` when no number helps.
    pub number: Option<String>,
    /// What it is.
    pub is: Option<Box<RawValue>>,
    /// The least that it would have to be.
    pub needs: Option<Box<RawValue>>,
    /// The calls that it stops.
    pub calls: Vec<String>,
    /// Who changes it, and how.
    pub how: String,
    /// The command that does it, when there is one; its capitals are to be filled in.
    pub command: Option<String>,
}

/// Paths that a row names; of more, the last is how many.
const CALLS_MAX: usize = 20;

/// Everything that would help.
pub(super) fn rows(
    about: About<'_>,
    blocked: &[(BlockedView, Option<Stop>)],
    admission: Option<&Admission>,
) -> Vec<ChangeView> {
    let mut rows: Vec<ChangeView> = Vec::new();
    if let Some(admission) = admission.filter(|it| it.verdict == Verdict::Rejected) {
        rows.push(of_admission(about, admission));
    }
    let is_well = about.head.lap.outcome.as_ref().is_some_and(|end| {
        matches!(
            end.kind,
            OutcomeKind::Completed | OutcomeKind::Canceled | OutcomeKind::Terminated
        )
    });
    let mut lacks = Lacks::default();
    for (row, stop) in blocked.iter().filter(|_| !is_well) {
        let Some(stop) = stop else { continue };
        if lacks.take(about, row, stop) {
            continue;
        }
        if let Some(change) = of_stop(about, &row.call, stop) {
            merge(&mut rows, change, &row.call);
        }
    }
    rows.splice(0..0, lacks.rows(about));
    if about.head.quarantined.is_some() {
        let how =
            "mend what failed (`mainstay run show` has its code), then let it be driven again";
        rows.push(plain(how, Some(command(about, "continue", ""))));
    }
    // What fallbacks gave is settled: another lap would end as this one did.
    let is_settled = blocked.iter().all(|(row, _)| row.state == "settled");
    let is_degraded = about
        .head
        .lap
        .outcome
        .as_ref()
        .is_some_and(|end| end.kind == OutcomeKind::Degraded);
    if !(is_degraded && is_settled) {
        rows.extend(next_lap(about));
    }
    rows
}

/// The row of a run whose code no process here has.
pub(super) fn code_missing(class: &ClassView) -> ChangeView {
    let ClassView { name, version, .. } = class;
    plain(
        &format!("start a process that registers {name} v{version} as it was stored"),
        None,
    )
}

/// The row of a store that no process drives.
pub(super) fn driver_missing() -> ChangeView {
    plain("start a process that drives the runs of this store", None)
}

/// One row per number, with all calls that it stops.
fn merge(rows: &mut Vec<ChangeView>, change: ChangeView, call: &str) {
    let known = rows
        .iter_mut()
        .find(|row| row.number == change.number && row.how == change.how);
    match known {
        Some(row) => name(&mut row.calls, call),
        None => rows.push(ChangeView {
            calls: vec![call.to_owned()],
            ..change
        }),
    }
}

/// Adds a path to those that are named.
pub(super) fn name(calls: &mut Vec<String>, call: &str) {
    match calls.len().cmp(&CALLS_MAX) {
        Ordering::Less => calls.push(call.to_owned()),
        Ordering::Equal => calls.push("and others".to_owned()),
        Ordering::Greater => {}
    }
}

pub(super) fn plain(how: &str, command: Option<String>) -> ChangeView {
    ChangeView {
        number: None,
        is: None,
        needs: None,
        calls: Vec::new(),
        how: how.to_owned(),
        command,
    }
}

pub(super) fn number(
    name: &str,
    (is, needs): (Box<RawValue>, Box<RawValue>),
    how: &str,
    command: Option<String>,
) -> ChangeView {
    ChangeView {
        number: Some(name.to_owned()),
        is: Some(is),
        needs: Some(needs),
        ..plain(how, command)
    }
}

pub(super) fn command(about: About<'_>, verb: &str, arguments: &str) -> String {
    let run = about.head.run;
    format!("mainstay run {verb} {run}{arguments} --by WHO --why WHY")
}

/// A lap that was not admitted.
fn of_admission(about: About<'_>, admission: &Admission) -> ChangeView {
    let how = format!(
        "give the answer more time (`answer_by` of the class, `answer_within` of the start), lower \
         the estimates or reserves of {}, or let the class answer later (`later`, `or_later`)",
        about.head.class.name
    );
    let (is, needs) = (admission.left, admission.need());
    number("time to answer_by, in ms", (ms(is), ms(needs)), &how, None)
}

/// A lap that has ended badly can be followed by another.
fn next_lap(about: About<'_>) -> Option<ChangeView> {
    let end = about.head.lap.outcome.as_ref()?;
    let can = match end.kind {
        OutcomeKind::HandedOff
        | OutcomeKind::Degraded
        | OutcomeKind::Failed
        | OutcomeKind::Rejected => about.head.quarantined.is_none() && has_laps_left(about),
        OutcomeKind::Completed | OutcomeKind::Canceled | OutcomeKind::Terminated => false,
    };
    let Budget {
        retry_tokens,
        concurrency_tokens,
        cost_units,
    } = about.run.class().budget;
    let answer_by = about.run.class().times.answer_by;
    can.then(|| {
        let how = format!(
            "a next lap has fresh times ({answer_by} to its answer) and a fresh budget \
             ({retry_tokens} retry tokens, {concurrency_tokens} concurrency tokens, {cost_units} \
             cost units); what is settled stays"
        );
        plain(&how, Some(command(about, "continue", "")))
    })
}

/// What helps against a stop of a call.
type Remedy = fn(About<'_>, &str, &Stop) -> ChangeView;

/// By code. Others are not about a number, and their pages say what to do; what the lap's budget
/// lacks is added up over all calls.
const REMEDIES: [(Code, Remedy); 8] = [
    (Code::RetryTokensExhausted, retry_cap),
    (Code::CapReached, cap),
    (Code::SoftYields, cap),
    (Code::AttemptsExhausted, attempts),
    (Code::DeadlineExhausted, deadline),
    (Code::KeyHeld, key),
    (Code::EffectInDoubt, doubt),
    (Code::KeyTooOld, key_age),
];

fn has_laps_left(about: About<'_>) -> bool {
    about.head.past.len() + 1 < limits::LAPS_MAX
}

fn of_stop(about: About<'_>, call: &str, stop: &Stop) -> Option<ChangeView> {
    let known = REMEDIES.iter().find(|(code, _)| *code == stop.code);
    known.map(|(_, remedy)| remedy(about, call, stop))
}

fn key(_: About<'_>, _: &str, stop: &Stop) -> ChangeView {
    let how = "the run that holds the effect key has to settle it";
    let holder = stop.about.as_ref();
    plain(
        how,
        holder.map(|holder| format!("mainstay run why {holder}")),
    )
}

fn doubt(about: About<'_>, _: &str, _: &Stop) -> ChangeView {
    let how = "no number helps: its receiver has to say what became of the write";
    let run = about.head.run;
    let command = format!("mainstay effects --run {run} --in-doubt");
    plain(how, Some(command))
}

/// The receiver may have forgotten the key: a person looks, and says what became of the write.
fn key_age(about: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    let ms = |name| stop.number(name).unwrap_or(0);
    let how = format!(
        "no key that is younger stands for the same write: look for {call} at its receiver, and say \
         what became of it; or a new version of the class whose `receiver_key_ttl` is as long as \
         the receiver really keeps keys"
    );
    let run = about.head.run;
    let command = format!("mainstay effects --run {run}");
    let needs = ms("age_ms").saturating_add(ms("need_ms")).saturating_add(1);
    let numbers = (count(ms("ttl_ms")), count(needs));
    number("receiver_key_ttl, in ms", numbers, &how, Some(command))
}

fn retry_cap(_: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    let cap = stop.number("cap").unwrap_or(0);
    let how = format!("a new version of the class with another `retry_cap` of {call}");
    number(
        "retry_cap",
        (count(cap), count(cap.saturating_add(1))),
        &how,
        None,
    )
}

fn cap(_: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    let which = stop
        .about
        .as_deref()
        .and_then(|about| about.split_once(": "));
    let how = "a new version of the class with another cap (`mainstay run show` lists them)";
    // A recorded decision has the numbers of its cap, not its name: one row for each call.
    let name = which.map_or_else(
        || format!("the cap that {call} met"),
        |(_, which)| format!("cap on {which}"),
    );
    let micros = |name| stop.number(name).unwrap_or(0);
    if let Some(most) = stop.number("cap_micros") {
        let sum = i64::saturating_add;
        let needs = sum(
            sum(micros("used_micros"), micros("need_micros")),
            micros("kept_micros"),
        );
        let units = |micros: i64| raw::units(CostUnits::micros(u64::try_from(micros).unwrap_or(0)));
        return number(&name, (units(most), units(needs)), how, None);
    }
    match stop.number("cap") {
        Some(most) => {
            let used = stop.number("used").unwrap_or(most);
            let kept = stop.number("kept").unwrap_or(0);
            let needs = used.saturating_add(kept).saturating_add(1);
            number(&name, (count(most), count(needs)), how, None)
        }
        None => ChangeView {
            number: Some(name),
            ..plain(how, None)
        },
    }
}

fn attempts(_: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    let how = format!("a new version of the class with more `attempts` of {call}, or a fallback");
    match stop.number("limit") {
        Some(limit) => number(
            "attempts",
            (count(limit), count(limit.saturating_add(1))),
            &how,
            None,
        ),
        None => ChangeView {
            number: Some("attempts".to_owned()),
            ..plain(&how, None)
        },
    }
}

fn deadline(about: About<'_>, _: &str, stop: &Stop) -> ChangeView {
    let times = &about.head.lap.times;
    let (name, bound) = match times.expires_at {
        Some(expires) if expires < times.work_by => ("expires_at", expires),
        Some(_) | None => ("work_by", times.work_by),
    };
    let need = stop.number("need_ms").unwrap_or(0);
    let left = stop.number("left_ms").unwrap_or(0);
    let missing = Millis::new(u64::try_from(need.saturating_sub(left).max(1)).unwrap_or(1));
    let how = "more time to the answer, or smaller reserves, timeouts or estimates: a new version \
               of the class";
    let moment = |at| text(&raw::time(at));
    number(name, (moment(bound), moment(bound + missing)), how, None)
}

fn ms(ms: Millis) -> Box<RawValue> {
    text_of(&ms.get().to_string())
}

fn count(count: i64) -> Box<RawValue> {
    text_of(&count.to_string())
}

fn text(text: &str) -> Box<RawValue> {
    text_of(&format!("\"{text}\""))
}

fn text_of(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("digits or a quoted moment are JSON")
}
