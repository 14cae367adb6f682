//! What `--json` printed, read as any other program would read it.
//!
//! It must never know the types behind it: what is tested is the JSON.

use serde_json::Value;

use crate::process::Ended;

/// One run as printed.
#[derive(Clone, Debug)]
pub struct View {
    json: Value,
    /// The command that printed it; what it printed is here told in lines, for failures.
    pub from: Ended,
}

impl View {
    /// The run that a command printed.
    ///
    /// # Panics
    /// It printed no JSON object; the message has what it did print.
    #[must_use]
    pub fn printed(from: Ended) -> Self {
        match serde_json::from_str::<Value>(&from.stdout) {
            Ok(json) if json.is_object() => {
                let from = Ended {
                    stdout: story(&json),
                    ..from
                };
                Self { json, from }
            }
            Ok(_) | Err(_) => panic!("no JSON object was printed\n{from}"),
        }
    }

    /// The value at a JSON pointer.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn at(&self, pointer: &str) -> &Value {
        self.json
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer}\n{}", self.from))
    }

    /// The keys of the object.
    #[must_use]
    pub fn parts(&self) -> Vec<&str> {
        let object = self.json.as_object().into_iter().flatten();
        object.map(|(key, _)| key.as_str()).collect()
    }

    /// Whether the object has this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.json.get(key).is_some()
    }

    /// The text at a JSON pointer; empty for null.
    #[must_use]
    pub fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    /// The number at a JSON pointer.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn number(&self, pointer: &str) -> u64 {
        self.at(pointer)
            .as_u64()
            .unwrap_or_else(|| panic!("no number {pointer}\n{}", self.from))
    }

    /// The list at a JSON pointer.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.at(pointer)
            .as_array()
            .unwrap_or_else(|| panic!("no list {pointer}\n{}", self.from))
    }

    /// The texts of a list.
    #[must_use]
    pub fn texts(&self, pointer: &str) -> Vec<&str> {
        self.list(pointer)
            .iter()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The lap's outcome; empty while open.
    #[must_use]
    pub fn outcome(&self) -> &str {
        self.text("/outcome")
    }

    /// Whether the lap ended with a result.
    #[must_use]
    pub fn has_result(&self) -> bool {
        matches!(self.outcome(), "completed" | "degraded")
    }

    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.text("/run_id")
    }

    /// When the run began, in milliseconds since 1970: its id is a UUID of version 7.
    ///
    /// # Panics
    /// The id is none.
    #[must_use]
    pub fn started_ms(&self) -> u64 {
        let digits: String = self
            .run_id()
            .chars()
            .filter(|&c| c != '-')
            .take(12)
            .collect();
        u64::from_str_radix(&digits, 16).unwrap_or_else(|_| panic!("no run id\n{}", self.from))
    }

    /// Whether the run had been there before.
    #[must_use]
    pub fn reused(&self) -> bool {
        self.at("/reused") == &Value::Bool(true)
    }

    /// Its tickets.
    #[must_use]
    pub fn tickets(&self) -> &[Value] {
        self.list("/tickets")
    }

    /// The ids of its tickets, in the order of the actions.
    #[must_use]
    pub fn ticket_ids(&self) -> Vec<&str> {
        self.tickets()
            .iter()
            .filter_map(|ticket| ticket["id"].as_str())
            .collect()
    }

    /// The effect keys of its tickets.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        self.tickets()
            .iter()
            .filter_map(|ticket| ticket["key"].as_str())
            .collect()
    }

    /// The call of this path.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn call(&self, path: &str) -> &Value {
        let found = self.list("/calls").iter().find(|call| call["path"] == path);
        found.unwrap_or_else(|| panic!("no call {path}\n{}", self.from))
    }

    /// The attempts of a call.
    #[must_use]
    pub fn attempts(&self, path: &str) -> Vec<Value> {
        self.call(path)["attempts"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// All attempts of all calls in this state.
    #[must_use]
    pub fn attempts_in(&self, state: &str) -> usize {
        let calls = self.list("/calls").iter();
        let attempts = calls.flat_map(|call| call["attempts"].as_array().into_iter().flatten());
        attempts.filter(|attempt| attempt["state"] == state).count()
    }

    /// The events of this kind, in order.
    #[must_use]
    pub fn events(&self, kind: &str) -> Vec<&Value> {
        self.list("/timeline")
            .iter()
            .filter(|row| row["event"] == kind)
            .collect()
    }

    /// The events of this kind about this call, in order.
    #[must_use]
    pub fn events_of(&self, kind: &str, call: &str) -> Vec<&Value> {
        self.events(kind)
            .into_iter()
            .filter(|row| row["call"] == call)
            .collect()
    }

    /// When the first event of this kind about this call was, in milliseconds from the run's start.
    #[must_use]
    pub fn moment(&self, kind: &str, call: &str) -> Option<u64> {
        self.events_of(kind, call)
            .first()
            .and_then(|row| row["at_ms"].as_u64())
    }
}

/// A run in lines: how it ended, its calls, what happened. Thousands of braces help nobody.
fn story(json: &Value) -> String {
    let mut lines = Vec::new();
    for key in [
        "run_id",
        "reused",
        "state",
        "outcome",
        "reason",
        "answer",
        "notices",
        "waiting_for",
    ] {
        lines.extend(json.get(key).map(|value| format!("{key}: {value}")));
    }
    let rows = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    for ticket in rows("tickets") {
        lines.push(format!("ticket {ticket}"));
    }
    for call in rows("calls") {
        let (state, reason) = (&call["state"], &call["reason"]);
        lines.push(format!(
            "call {} {state} {reason} {}",
            call["path"], call["failure"]
        ));
    }
    for row in rows("timeline") {
        let text = row["text"].as_str().unwrap_or_default();
        lines.push(format!(
            "{:>6} ms  {:<18} {text}",
            row["at_ms"], row["event"]
        ));
    }
    lines.join("\n")
}
