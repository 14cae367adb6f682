//! A run's view as text: readable without colour, at most 100 columns where words allow it.
//!
//! Ids and keys stand on lines of their own or whole in one word, so that they can be copied. It
//! shows no more than the view holds, and cuts only payloads; the view as JSON has them in full.

mod calls;
mod effect;
mod layout;
mod why;

use std::collections::BTreeMap;

use mainstay_types::Millis;
use serde_json::value::RawValue;

pub use effect::render_effect;
pub use layout::plain;
pub use why::render_why;

use super::sentence::moment;
use super::{AnswerView, BudgetView, DowntimeView, LapView, RunView, TimelineRow};
use layout::Sheet;

/// Characters of a payload that are shown.
const PAYLOAD_CHARS_MAX: usize = 400;

/// The whole view as text, with a line feed at its end.
#[must_use]
pub fn render(view: &RunView) -> String {
    let mut sheet = Sheet::default();
    header(&mut sheet, view);
    list(&mut sheet, "laps", &laps(view));
    list(&mut sheet, "raised", &raises(view));
    list(&mut sheet, "waiting for", &view.waiting_for);
    list(&mut sheet, "notices", &view.notices);
    let addenda: Vec<String> = view
        .addenda
        .iter()
        .map(|known| format!("{}: {}", known.call, known.reason))
        .collect();
    list(&mut sheet, "learned after the outcome", &addenda);
    budget(&mut sheet, &view.budget);
    if let Some(admitted) = view.laps.last().and_then(|lap| lap.admission) {
        let words = format!("{}: {}", admitted.verdict, admitted.words());
        sheet.field("admission", &words);
    }
    payloads(&mut sheet, view);
    sheet.heading("calls");
    calls::write(&mut sheet, view);
    if !view.timeline.is_empty() {
        sheet.heading("timeline");
        rows(&mut sheet, &view.timeline);
    }
    sheet.into_text()
}

fn header(sheet: &mut Sheet, view: &RunView) {
    sheet.line("run ", &view.run_id);
    sheet.field(
        "class",
        &format!("{} v{}", view.class.name, view.class.version),
    );
    sheet.field("fingerprint", &view.class.fingerprint);
    sheet.field("tenant", &view.tenant);
    sheet.field("start key", view.start_key.as_deref().unwrap_or("none"));
    sheet.field("lap", &format!("{}, epoch {}", view.lap, view.epoch));
    let reason = view.state_reason.map(|reason| format!(": {reason}"));
    sheet.field(
        "state",
        &format!("{}{}", view.state, reason.unwrap_or_default()),
    );
    if let Some(cancel) = &view.cancel {
        sheet.field(
            "asked to stop",
            &format!("by {}: {}", cancel.by, cancel.why),
        );
    }
    if let Some(terminated) = &view.terminated {
        sheet.field(
            "terminated",
            &format!("by {}: {}", terminated.by, terminated.why),
        );
    }
    sheet.field("answer", &answer(view));
    sheet.field("outcome", &outcome(view));
    sheet.field("started", &view.budget.times.started_at);
    sheet.field("ended", view.ended_at.as_deref().unwrap_or("not yet"));
}

fn answer(view: &RunView) -> String {
    match &view.answer {
        None => "none yet".to_owned(),
        Some(AnswerView::Ready) => "ready".to_owned(),
        Some(AnswerView::Later {
            why,
            doubts,
            keys: _,
            expected_by,
        }) => {
            let is_over = view.outcome.is_some();
            let doubts = match (doubts.as_slice(), is_over) {
                ([], _) => String::new(),
                (paths, false) => format!("; in doubt: {}", paths.join(", ")),
                (paths, true) => format!("; in doubt then: {}", paths.join(", ")),
            };
            let expected = format!("; the outcome is expected by {expected_by}");
            let expected = if is_over { String::new() } else { expected };
            format!("later: {why}{doubts}{expected}")
        }
    }
}

fn outcome(view: &RunView) -> String {
    match (view.outcome, view.reason, view.took_ms) {
        (Some(outcome), Some(reason), Some(took)) => {
            format!("{outcome}: {reason}, after {}", Millis::new(took))
        }
        (Some(outcome), _, _) => outcome.to_owned(),
        (None, _, _) => "none yet".to_owned(),
    }
}

/// One line per lap; none while there is only one.
fn laps(view: &RunView) -> Vec<String> {
    let lap = |lap: &LapView| {
        let asked = lap.continued.as_ref();
        let asked = asked.map(|asked| format!(", asked for by {}: {}", asked.by, asked.why));
        let end = lap
            .outcome
            .map_or_else(|| "open".to_owned(), |outcome| outcome.to_owned());
        let reason = lap
            .reason
            .map_or_else(String::new, |reason| format!(" ({reason})"));
        let (no, at, cost) = (lap.lap, &lap.started_at, lap.cost_units.get());
        let asked = asked.unwrap_or_default();
        format!(
            "{no}: {end}{reason}, began {at}{asked}; cost {cost}, {} retries",
            lap.retry_tokens
        )
    };
    match view.laps.as_slice() {
        [_] => Vec::new(),
        laps => laps.iter().map(lap).collect(),
    }
}

/// One line for each time that a budget was raised.
fn raises(view: &RunView) -> Vec<String> {
    let all = view.laps.iter();
    let all = all.flat_map(|lap| lap.raises.iter().map(move |raise| (lap.lap, raise)));
    all.map(|(lap, raise)| {
        let (retries, concurrency) = (raise.retry_tokens, raise.concurrency_tokens);
        let (cost, at) = (raise.cost_units.get(), &raise.at);
        format!(
            "lap {lap} at {at}: {retries} retry tokens, {concurrency} concurrency tokens, {cost} \
             cost units more, by {}: {}",
            raise.by, raise.why
        )
    })
    .collect()
}

fn list(sheet: &mut Sheet, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    sheet.heading(heading);
    for line in lines {
        sheet.line("  - ", line);
    }
}

fn budget(sheet: &mut Sheet, budget: &BudgetView) {
    let (times, retries) = (&budget.times, &budget.retry_tokens);
    let (concurrency, cost) = (&budget.concurrency_tokens, &budget.cost_units);
    sheet.heading("budget");
    sheet.field(
        "retry tokens",
        &format!("{} of {} used", retries.used, retries.limit),
    );
    sheet.field(
        "concurrency tokens",
        &format!(
            "{} of {} used at once, {} in flight",
            concurrency.used, concurrency.limit, concurrency.in_flight
        ),
    );
    let (used, limit) = (cost.used.get(), cost.limit.get());
    let (reserved, assumed) = (cost.reserved.get(), cost.assumed.get());
    sheet.field(
        "cost units",
        &format!("{used} of {limit} used, {reserved} reserved, {assumed} assumed"),
    );
    if !concurrency.held_until.is_empty() {
        let until = concurrency.held_until.join(", ");
        sheet.field(
            "  held",
            &format!("by processes that are gone, until {until}"),
        );
    }
    for cap in &budget.caps {
        let (used, limit) = (cap.used.get(), cap.limit.get());
        let whose = cap.dependency.as_ref();
        let whose = whose.map_or_else(String::new, |name| format!(" of {name}"));
        let what = cap.what.replace('_', " ");
        sheet.field("cap", &format!("{what}{whose}: {used} of {limit}"));
    }
    sheet.field("answer by", &times.answer_by);
    sheet.field("work by", &times.work_by);
    sheet.field("expires at", times.expires_at.as_deref().unwrap_or("never"));
    sheet.field("doubt until", &times.doubt_until);
    let downtime = match times.on_downtime {
        DowntimeView::Absolute => "absolute: the times stay".to_owned(),
        DowntimeView::Extend { ms_max } => format!(
            "extend: the times have moved by {} of at most {}",
            Millis::new(times.extended_ms),
            Millis::new(ms_max)
        ),
    };
    sheet.field("on downtime", &downtime);
}

fn payloads(sheet: &mut Sheet, view: &RunView) {
    if let Some(result) = &view.result {
        sheet.heading("result");
        sheet.line("  ", &payload(result));
    }
    if let Some(package) = &view.package {
        sheet.heading("package: the values that are there");
        write_package(sheet, package);
    }
}

fn write_package(sheet: &mut Sheet, package: &BTreeMap<String, Box<RawValue>>) {
    if package.is_empty() {
        sheet.line("  ", "none");
    }
    for (path, value) in package {
        sheet.line(&format!("  {path}  "), &payload(value));
    }
}

/// The beginning of a payload; no line of it is broken inside a word.
fn payload(value: &RawValue) -> String {
    let text = value.get();
    match text.char_indices().nth(PAYLOAD_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes; JSON has all)", &text[..end], text.len()),
    }
}

/// The rows of a timeline.
fn rows(sheet: &mut Sheet, rows: &[TimelineRow]) {
    let moments: Vec<String> = rows
        .iter()
        .map(|row| moment(Millis::new(row.at_ms)))
        .collect();
    let moment_columns = moments.iter().map(String::len).max().unwrap_or(0);
    let seq_columns = rows.last().map_or(0, |row| row.seq.to_string().len());
    for (row, moment) in rows.iter().zip(&moments) {
        let seq = row.seq;
        let before = format!("  {seq:>seq_columns$}  {moment:>moment_columns$}  ");
        match &row.said {
            Some(said) => sheet.line(&before, &format!("{}: {said}", row.text)),
            None => sheet.line(&before, &row.text),
        }
    }
}
