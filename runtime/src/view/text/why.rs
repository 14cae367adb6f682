//! Why a run stands where it stands, as text.

use super::layout::Sheet;
use super::list;
use crate::view::why::{BlockedView, ChangeView, LimitView, NextView, SpendingView, WhyView};
use mainstay_types::Millis;

/// The whole explanation as text, with a line feed at its end.
#[must_use]
pub fn render_why(view: &WhyView) -> String {
    let mut sheet = Sheet::default();
    sheet.line("run ", &view.run_id);
    let class = &view.class;
    sheet.field("class", &format!("{} v{}", class.name, class.version));
    let reason = view.state_reason.map(|reason| format!(": {reason}"));
    let reason = reason.unwrap_or_default();
    sheet.field("state", &format!("{}{reason}", view.state));
    sheet.field("at", &view.at);
    sheet.field("because", &view.because);
    blocked(&mut sheet, view);
    let next: Vec<String> = view.next.iter().map(next).collect();
    list(&mut sheet, "what comes next", &next);
    uncertain(&mut sheet, view);
    changes(&mut sheet, view);
    spent(&mut sheet, view);
    sheet.into_text()
}

fn blocked(sheet: &mut Sheet, view: &WhyView) {
    let heading = match view.outcome {
        Some(_) => "calls without a value",
        None => "what it waits for",
    };
    let mut lines: Vec<String> = view.blocked.iter().map(blocked_words).collect();
    if 0 < view.blocked_more {
        lines.push(format!("and {} calls more", view.blocked_more));
    }
    list(sheet, heading, &lines);
}

fn blocked_words(row: &BlockedView) -> String {
    let weight = if row.on_hard_path { "hard" } else { "soft" };
    let mut text = format!("{} ({weight}, {}): {}", row.call, row.state, row.why);
    if let Some(until) = &row.until {
        text = format!("{text}, until {until}");
    }
    if let Some(code) = row.code {
        let numbers = row.numbers.iter();
        let numbers: Vec<String> = numbers.map(|(name, n)| format!("{name} {n}")).collect();
        let numbers = match numbers.is_empty() {
            true => String::new(),
            false => format!(" ({})", numbers.join(", ")),
        };
        text = format!("{text} - {code}{numbers}");
    }
    if let Some(page) = &row.page {
        text = format!("{text}; `{page}`");
    }
    match &row.decided {
        Some(decided) => format!("{text}; last decided: {decided}"),
        None => text,
    }
}

fn next(next: &NextView) -> String {
    let whose = next.call.as_ref();
    let whose = whose.map_or_else(String::new, |call| format!("{call}: "));
    let at = next.at.as_deref().unwrap_or("at once");
    format!("{at}: {whose}{}", next.what)
}

fn uncertain(sheet: &mut Sheet, view: &WhyView) {
    let lines = view.uncertain.iter().map(|row| {
        let mut text = format!("{}: {}", row.call, row.what);
        if let Some(at) = &row.next_lookup_at {
            text = format!("{text}; asked again at {at}");
        }
        if let Some(at) = &row.absent_after {
            text = format!("{text}; \"not found\" counts from {at}");
        }
        match &row.key {
            Some(key) => format!("{text}; key {key}"),
            None => text,
        }
    });
    let lines: Vec<String> = lines.collect();
    list(sheet, "what nobody knows", &lines);
}

fn change(change: &ChangeView) -> String {
    let mut text = String::new();
    if let Some(number) = &change.number {
        text.push_str(number);
        if let (Some(is), Some(needs)) = (&change.is, &change.needs) {
            text = format!("{text} is {}, needs {}", is.get(), needs.get());
        }
        if !change.calls.is_empty() {
            text = format!("{text} (for {})", change.calls.join(", "));
        }
        text.push_str(": ");
    }
    text.push_str(&change.how);
    text
}

/// Each command stands on a line of its own, to be copied.
fn changes(sheet: &mut Sheet, view: &WhyView) {
    if view.changes.is_empty() {
        return;
    }
    sheet.heading("what would have to change");
    for row in &view.changes {
        sheet.line("  - ", &change(row));
        if let Some(command) = &row.command {
            sheet.whole("      ", command);
        }
    }
}

fn spent(sheet: &mut Sheet, view: &WhyView) {
    let spent = &view.spent;
    sheet.heading("spent");
    let limit = |limit: &LimitView| {
        let (used, of, left) = (limit.used.get(), limit.limit.get(), limit.left.get());
        format!("{used} of {of}, {left} left")
    };
    sheet.field("retry tokens", &limit(&spent.retry_tokens));
    sheet.field("concurrency tokens", &limit(&spent.concurrency_tokens));
    sheet.field("cost units", &limit(&spent.cost_units));
    let time = spent.time;
    let since = Millis::new(u64::try_from(time.since_start_ms).unwrap_or(0));
    let far = |ms: i64| match u64::try_from(ms) {
        Ok(left) => format!("in {}", Millis::new(left)),
        Err(_) => format!("{} ago", Millis::new(ms.unsigned_abs())),
    };
    let (answer, work) = (far(time.to_answer_by_ms), far(time.to_work_by_ms));
    sheet.field(
        "time",
        &format!("{since} since the lap began; answer_by {answer}, work_by {work}"),
    );
    if let Some(admission) = &view.admission {
        let words = format!("{}: {}", admission.verdict, admission.words());
        sheet.field("admission", &words);
    }
    for spending in &spent.on {
        sheet.line("  - ", &spending_words(spending));
    }
}

fn spending_words(row: &SpendingView) -> String {
    let whom = row.dependency.as_ref();
    let whom = whom.map_or_else(String::new, |whom| format!(" at {whom}"));
    let failed = row.failed.iter();
    let failed = failed.map(|(kind, n)| format!("{n} {kind}"));
    let others = [
        (row.answered, "answered"),
        (row.in_flight, "out"),
        (row.interrupted, "interrupted"),
    ];
    let others = others.into_iter().filter(|(n, _)| *n != 0);
    let ends: Vec<String> = others
        .map(|(n, what)| format!("{n} {what}"))
        .chain(failed)
        .collect();
    let (attempts, cost, reserved) = (row.attempts, row.cost_units.get(), row.reserved_units.get());
    format!(
        "{}{whom}: {attempts} attempts ({}), {} retry tokens, cost {cost}, {reserved} reserved",
        row.node,
        ends.join(", "),
        row.retry_tokens
    )
}
