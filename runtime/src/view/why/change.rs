//! Which number would have to change so that a run goes on, and how a person changes it.
//!
//! From the codes and numbers of what is in the way; one row per number, however many calls it
//! stops. A command is only named where it would be taken.

use mainstay_graph::Budget;
use mainstay_machine::{Admission, OutcomeKind, Verdict};
use mainstay_types::{Code, CostUnits, Millis};
use serde::Serialize;
use serde_json::value::RawValue;

use super::About;
use super::blocked::BlockedView;
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
    if let Some(admission) = admission.filter(|it| it.verdict != Verdict::Admitted) {
        rows.push(of_admission(about, admission));
    }
    let is_well = about.head.lap.outcome.as_ref().is_some_and(|end| {
        matches!(
            end.kind,
            OutcomeKind::Completed | OutcomeKind::Canceled | OutcomeKind::Terminated
        )
    });
    for (row, stop) in blocked.iter().filter(|_| !is_well) {
        let Some(change) = stop
            .as_ref()
            .and_then(|stop| of_stop(about, &row.call, stop))
        else {
            continue;
        };
        merge(&mut rows, change, &row.call);
    }
    if about.head.quarantined.is_some() {
        let how =
            "mend what failed (`mainstay run show` has its code), then let it be driven again";
        rows.push(plain(how, Some(command(about, "continue", ""))));
    }
    rows.extend(next_lap(about));
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

/// One row per number: the highest need, and all calls.
fn merge(rows: &mut Vec<ChangeView>, change: ChangeView, call: &str) {
    let known = rows
        .iter_mut()
        .find(|row| row.number == change.number && row.how == change.how);
    match known {
        Some(row) if row.calls.len() < CALLS_MAX => row.calls.push(call.to_owned()),
        Some(row) => "and others".clone_into(&mut row.calls[CALLS_MAX - 1]),
        None => rows.push(ChangeView {
            calls: vec![call.to_owned()],
            ..change
        }),
    }
}

fn plain(how: &str, command: Option<String>) -> ChangeView {
    ChangeView {
        number: None,
        is: None,
        needs: None,
        calls: Vec::new(),
        how: how.to_owned(),
        command,
    }
}

fn number(
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

fn command(about: About<'_>, verb: &str, arguments: &str) -> String {
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
        | OutcomeKind::Rejected => about.head.quarantined.is_none(),
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

/// By code. Others are not about a number, and their pages say what to do.
const REMEDIES: [(Code, Remedy); 9] = [
    (Code::RetryTokensExhausted, retries),
    (Code::ConcurrencyExhausted, a_place),
    (Code::CostExhausted, cost),
    (Code::SoftYields, yields),
    (Code::CapReached, cap),
    (Code::AttemptsExhausted, attempts),
    (Code::DeadlineExhausted, deadline),
    (Code::KeyHeld, key),
    (Code::EffectInDoubt, doubt),
];

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

/// More of the lap's budget, as long as it is open.
fn raise(about: About<'_>, arguments: &str) -> Option<String> {
    let is_open = about.head.lap.outcome.is_none();
    is_open.then(|| command(about, "raise", arguments))
}

const OF_BUDGET: &str = "raise the lap's budget, or the class's for the laps to come";

fn more(at_least: i64) -> u32 {
    u32::try_from(at_least.max(1)).unwrap_or(u32::MAX)
}

fn retries(about: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    if let Some(cap) = stop.number("cap") {
        let (is, needs) = (count(cap), count(cap + 1));
        let how = format!("a new version of the class with another `retry_cap` of {call}");
        return number("retry_cap", (is, needs), &how, None);
    }
    let missing = match (stop.number("need"), stop.number("left")) {
        (Some(need), Some(left)) => more(need - left),
        (_, _) => 1,
    };
    of_retries(about, missing)
}

fn of_retries(about: About<'_>, missing: u32) -> ChangeView {
    let limit = about.head.lap.budget.limits.retry_tokens.get();
    let values = (raw::count(limit), raw::count(limit.saturating_add(missing)));
    let command = raise(about, &format!(" --retries {missing}"));
    number("retry_tokens", values, OF_BUDGET, command)
}

fn a_place(about: About<'_>, _: &str, _: &Stop) -> ChangeView {
    concurrency(about, 1)
}

fn concurrency(about: About<'_>, missing: u32) -> ChangeView {
    let limit = about.head.lap.budget.limits.concurrency_tokens.get();
    let values = (raw::count(limit), raw::count(limit.saturating_add(missing)));
    let command = raise(about, &format!(" --concurrency {missing}"));
    let how = "wait until an attempt that is out comes back, or raise the lap's budget";
    number("concurrency_tokens", values, how, command)
}

fn cost(about: About<'_>, _: &str, stop: &Stop) -> ChangeView {
    let limit = about.head.lap.budget.limits.cost_units;
    let micros = |name| u64::try_from(stop.number(name).unwrap_or(0)).unwrap_or(0);
    let needed = micros("need_micros").saturating_add(micros("kept_micros"));
    let missing = CostUnits::micros(needed.saturating_sub(micros("left_micros")).max(1));
    let values = (raw::units(limit), raw::units(limit + missing));
    let command = raise(about, &format!(" --cost {missing}"));
    number("cost_units", values, OF_BUDGET, command)
}

/// A soft call that leaves the hard path what that needs.
fn yields(about: About<'_>, call: &str, stop: &Stop) -> ChangeView {
    if stop.number("need_micros").is_some() {
        return cost(about, call, stop);
    }
    let left = stop.number("left").unwrap_or(0);
    if let Some(waiting) = stop.number("hard_waiting") {
        return concurrency(about, more(waiting + 1 - left));
    }
    match (stop.number("need"), stop.number("kept")) {
        (Some(need), Some(kept)) => of_retries(about, more(need + kept - left)),
        (_, _) => cap(about, call, stop),
    }
}

fn cap(_: About<'_>, _: &str, stop: &Stop) -> ChangeView {
    let which = stop
        .about
        .as_deref()
        .and_then(|about| about.split_once(": "));
    let which = which.map_or("a cap", |(_, which)| which);
    let how = "a new version of the class with another cap";
    let name = format!("cap on {which}");
    if let Some(most) = stop.number("cap_micros") {
        let needs =
            stop.number("used_micros").unwrap_or(0) + stop.number("need_micros").unwrap_or(0);
        let units = |micros: i64| raw::units(CostUnits::micros(u64::try_from(micros).unwrap_or(0)));
        return number(&name, (units(most), units(needs)), how, None);
    }
    match stop.number("cap") {
        Some(most) => {
            let used = stop.number("used").unwrap_or(most);
            let needs = used + stop.number("kept").unwrap_or(0) + 1;
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
        Some(limit) => number("attempts", (count(limit), count(limit + 1)), &how, None),
        None => ChangeView {
            number: Some("attempts".to_owned()),
            ..plain(&how, None)
        },
    }
}

fn deadline(about: About<'_>, _: &str, stop: &Stop) -> ChangeView {
    let work_by = about.head.lap.times.work_by;
    let need = stop.number("need_ms").unwrap_or(0);
    let left = stop.number("left_ms").unwrap_or(0);
    let missing = Millis::new(u64::try_from((need - left).max(1)).unwrap_or(1));
    let how = "more time to the answer, or smaller reserves, timeouts or estimates: a new version \
               of the class";
    let moment = |at| text(&raw::time(at));
    number(
        "work_by",
        (moment(work_by), moment(work_by + missing)),
        how,
        None,
    )
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
