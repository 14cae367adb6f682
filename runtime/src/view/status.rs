//! An engine and its effects as people and programs read them.
//!
//! Both are about what an engine knows of itself and of keys; no payload is ever in them.

use std::collections::BTreeMap;

use mainstay_types::limits;
use serde::Serialize;

use super::raw;
use crate::listing::{EffectRow, Status};
use crate::not_driven::NotDriven;
use crate::orphans::OrphanRow;

/// An engine as its operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusView {
    /// The worker incarnation: new with every engine.
    pub worker: String,
    /// When the engine started.
    pub started_at: String,
    /// For how long it has been there.
    pub up_ms: u64,
    /// Whether it drives runs, or is there for operators only.
    pub drives: bool,
    /// Whether it is shutting down.
    pub draining: bool,
    /// Runs in memory.
    pub live_runs: usize,
    /// Attempts and look-ups that are out.
    pub out: usize,
    /// Runs it may have in memory before it refuses to start more.
    pub runs_max: usize,
    /// Appends made since the ledger was opened.
    pub appends: u64,
    /// The limits in force that an operator meets, by name; units are part of the names.
    pub limits: BTreeMap<&'static str, u64>,
    /// Runs that have to be driven and are not, at most `limits::PAGE_ROWS_MAX`.
    pub not_driven: Vec<NotDrivenView>,
    /// How many more there are.
    pub not_driven_more: usize,
}

/// A run that has to be driven and is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotDrivenView {
    /// The run.
    pub run_id: String,
    /// The code of why.
    pub reason: &'static str,
    /// In words.
    pub detail: String,
}

impl StatusView {
    /// The view of a status.
    #[must_use]
    pub fn of(status: &Status) -> Self {
        let shown = status.not_driven.iter().take(limits::PAGE_ROWS_MAX);
        let not_driven: Vec<NotDrivenView> = shown.map(NotDrivenView::of).collect();
        Self {
            worker: status.worker.to_string(),
            started_at: raw::time(status.started_at),
            up_ms: status.up.get(),
            drives: status.drives,
            draining: status.stopping,
            live_runs: status.live,
            out: status.out,
            runs_max: status.runs_max,
            appends: status.appends,
            limits: in_force(status),
            not_driven_more: status.not_driven.len() - not_driven.len(),
            not_driven,
        }
    }
}

impl NotDrivenView {
    fn of(entry: &NotDriven) -> Self {
        Self {
            run_id: entry.run.to_string(),
            reason: entry.reason.code().as_str(),
            detail: entry.detail.clone(),
        }
    }
}

/// Those that refuse, cut or end something an operator asks about.
fn in_force(status: &Status) -> BTreeMap<&'static str, u64> {
    let counts = [
        ("runs_max", status.runs_max),
        ("control_in_flight_max", limits::CONTROL_IN_FLIGHT_MAX),
        ("inbox_commands_max", limits::INBOX_COMMANDS_MAX),
        ("payload_bytes_max", limits::PAYLOAD_BYTES_MAX),
        ("page_rows_max", limits::PAGE_ROWS_MAX),
        ("commit_queue_max", limits::COMMIT_QUEUE_MAX),
        ("socket_connections_max", limits::SOCKET_CONNECTIONS_MAX),
        ("socket_reply_bytes_max", limits::SOCKET_REPLY_BYTES_MAX),
    ];
    let counts = counts.map(|(name, count)| (name, u64::try_from(count).unwrap_or(u64::MAX)));
    let amounts = [
        ("send_window_ms", limits::SEND_WINDOW_MS),
        ("control_timeout_ms", limits::CONTROL_TIMEOUT_MS),
        ("lookup_backoff_max_ms", limits::LOOKUP_BACKOFF_MAX_MS),
        ("start_room_bytes_min", limits::START_ROOM_BYTES_MIN),
        ("commit_room_bytes_min", limits::COMMIT_ROOM_BYTES_MIN),
        ("socket_answer_ms_max", limits::SOCKET_ANSWER_MS_MAX),
    ];
    counts.into_iter().chain(amounts).collect()
}

/// One effect of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectLine {
    /// Its key.
    pub key: String,
    /// How it stands, for example `in_doubt`.
    pub state: &'static str,
    /// The code of why it stands so.
    pub reason: Option<&'static str>,
    /// The run that intends it.
    pub run_id: String,
    /// The path of the call that writes.
    pub call: String,
    /// When it was first sent.
    pub first_sent_at: Option<String>,
    /// Look-ups made for it.
    pub lookups: u32,
    /// For a doubt: when its receiver is asked next.
    pub next_lookup_at: Option<String>,
    /// For a doubt: from when "not found" is believed.
    pub absent_after: Option<String>,
}

impl EffectLine {
    /// The line of an effect.
    #[must_use]
    pub fn of(row: &EffectRow) -> Self {
        Self {
            key: row.key.to_string(),
            state: row.state,
            reason: row.reason,
            run_id: row.run.to_string(),
            call: row.call.clone(),
            first_sent_at: row.first_sent_at.map(raw::time),
            lookups: row.lookups,
            next_lookup_at: row.lookup_at.map(raw::time),
            absent_after: row.absent_after.map(raw::time),
        }
    }
}

/// One orphan in a listing.
#[derive(Clone, Debug, Serialize)]
pub struct OrphanLine {
    /// The run that gave it up.
    pub run_id: String,
    /// The path of the call.
    pub call: String,
    /// The attempt.
    pub attempt: u32,
    /// Whose it is.
    pub owner: String,
    /// The run's class.
    pub class: String,
    /// Whose run.
    pub tenant: String,
    /// `running`, `adopted` or `overdue`.
    pub state: &'static str,
    /// When the attempt was sent.
    pub sent_at: String,
    /// Until when it is waited for.
    pub until: String,
    /// What is done with its answer: `drop`, `keep` or `review`.
    pub on_late: &'static str,
}

impl OrphanLine {
    /// The line of an orphan.
    #[must_use]
    pub fn of(row: &OrphanRow) -> Self {
        Self {
            run_id: row.run.to_string(),
            call: row.call.clone(),
            attempt: row.attempt.get(),
            owner: row.owner.clone(),
            class: row.class.to_string(),
            tenant: row.tenant.to_string(),
            state: row.state,
            sent_at: raw::time(row.sent_at),
            until: raw::time(row.until),
            on_late: row.on_late.as_str(),
        }
    }
}
