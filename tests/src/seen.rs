//! A run after its end, and what the services saw of all its lives.
//!
//! Everything here is asked of the outside: what the command printed, what the services logged. It
//! must never know how often the run was killed but from there.

use std::collections::BTreeSet;

use serde_json::Value;
use service_kit::Entry;

use crate::service::specialist_requests;
use crate::stage::Stage;
use crate::view::View;

/// The reads of the class: what a crash interrupts of them costs a retry token each.
const READS: [&str; 4] = ["policy_rag", "related_tickets", "specialist", "draft"];
/// Milliseconds by which two clocks of one machine may seem to differ: both are rounded.
const ROUNDING_MS: u64 = 20;

/// The time after which a write that nobody found is known not to have arrived: send window,
/// timeout and the receiver's bound, in milliseconds.
pub const HORIZON_MS: u64 = 4_500;
/// Until when a write that starts is sure to end in time: what the class has until `answer_by`,
/// less its reserves and one attempt, in milliseconds.
const LATEST_START_MS: u64 = 12_000 - 3_400 - 1_500;

/// A run as it was printed, and the services' logs.
pub struct Seen<'a> {
    /// Where it ran.
    pub stage: &'a Stage,
    /// What the last command printed.
    pub view: View,
    tickets: Vec<Entry>,
    specialist: Vec<Entry>,
    told: String,
}

impl<'a> Seen<'a> {
    /// What there is to be seen now; `told` says which case it is.
    #[must_use]
    pub fn of(stage: &'a Stage, view: View, told: &str) -> Self {
        let mut tickets = stage.tickets.as_ref().map(|service| service.requests());
        if let Some(tickets) = &mut tickets {
            tickets.retain(|entry| entry.subject.client == "meeting-analysis");
        }
        Self {
            tickets: tickets.unwrap_or_default(),
            specialist: specialist_requests(&stage.place.store()),
            stage,
            view,
            told: told.to_owned(),
        }
    }

    /// Which case it is, and the run, for a failure.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{}\n{}", self.told, self.view.from)
    }

    /// The run's outcome.
    #[must_use]
    pub fn outcome(&self) -> &str {
        self.view.outcome()
    }

    /// The tickets that the service has for these minutes. Its faults are over: they were for the
    /// run, which has ended.
    #[must_use]
    pub fn tickets(&self) -> Vec<Value> {
        let Some(service) = &self.stage.tickets else {
            return Vec::new();
        };
        service.clear();
        service.tickets_of(&self.stage.source)
    }

    /// The calls that ask a service of the test, each item on its own.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        let items = self.view.list("/calls").iter();
        let items = items.filter(|call| call["kind"] == "item");
        let items = items.filter_map(|call| call["path"].as_str());
        let reads = ["specialist", "related_tickets"].into_iter();
        reads.chain(items).map(str::to_owned).collect()
    }

    /// Requests of a call that are no look-ups.
    #[must_use]
    pub fn requests(&self, call: &str) -> Vec<&Entry> {
        let mut requests = self.asked_of(call);
        requests.retain(|entry| !is_look_up(entry));
        requests
    }

    /// Requests of a call, look-ups included.
    #[must_use]
    pub fn asked_of(&self, call: &str) -> Vec<&Entry> {
        if call == "specialist" {
            return self.specialist.iter().collect();
        }
        let key = match call {
            "related_tickets" => None,
            item => self.view.call(item)["effect"]["key"].as_str(),
        };
        let is_its = |entry: &&Entry| match key {
            Some(_) => entry.subject.key.as_deref() == key,
            None => entry.subject.path == "/tickets" && entry.subject.method == "GET",
        };
        if key.is_none() && call != "related_tickets" {
            return Vec::new();
        }
        self.tickets.iter().filter(is_its).collect()
    }

    /// Attempts of a call that a crash interrupted.
    #[must_use]
    pub fn interrupted(&self, call: &str) -> usize {
        let attempts = self.view.attempts(call);
        let cut_off = |attempt: &&Value| attempt["state"] == "interrupted";
        attempts.iter().filter(cut_off).count()
    }

    /// Retry tokens that the crashes asked for: one for each read they interrupted. A write that
    /// they interrupted is asked about instead, and costs none when it never arrived.
    #[must_use]
    pub fn tokens_needed(&self) -> u64 {
        let reads: usize = READS.iter().map(|read| self.interrupted(read)).sum();
        u64::try_from(reads).expect("few")
    }

    /// Never two tickets for one action; and where the run has a result, one for each, and the
    /// run knows them all.
    ///
    /// # Panics
    /// It is not so, here and below.
    pub fn must_have_one_ticket_per_action(&self) {
        let tickets = self.tickets();
        let positions = tickets
            .iter()
            .filter_map(|ticket| ticket["position"].as_u64());
        let positions: BTreeSet<u64> = positions.collect();
        let told = || self.told();
        assert_eq!(
            positions.len(),
            tickets.len(),
            "two tickets for one action\n{}",
            told()
        );
        let ids = tickets.iter().filter_map(|ticket| ticket["id"].as_str());
        let ids: BTreeSet<&str> = ids.collect();
        let known: BTreeSet<&str> = self.view.ticket_ids().into_iter().collect();
        assert!(known.is_subset(&ids), "tickets nobody has\n{}", told());
        if self.view.has_result() {
            assert_eq!(ids.len(), self.stage.actions, "{}", told());
            assert_eq!(known, ids, "{}", told());
        }
    }

    /// Nothing was sent for a call once the log held its value.
    pub fn must_not_ask_what_was_settled(&self) {
        for call in self.calls() {
            let settled = self.view.moment("CallSettled", &call);
            let Some(settled) = settled.or_else(|| self.view.moment("EffectApplied", &call)) else {
                continue;
            };
            let settled = self.view.started_ms() + settled + ROUNDING_MS;
            let mut late = self.requests(&call);
            late.retain(|entry| settled < entry.at_ms);
            assert!(
                late.is_empty(),
                "{call} was asked again: {late:?}\n{}",
                self.told()
            );
        }
    }

    /// At most one request per attempt, and the bytes of a request are made once.
    pub fn must_ask_once_per_attempt(&self) {
        for call in self.calls() {
            let (asked, attempts) = (self.requests(&call).len(), self.view.attempts(&call).len());
            assert!(
                asked <= attempts,
                "{call}: {asked} requests, {attempts} attempts\n{}",
                self.told()
            );
            let made = self.view.events_of("CallPrepared", &call).len();
            assert!(made <= 1, "{call}: made {made} times\n{}", self.told());
        }
    }

    /// With services that fail at nothing, a second request only for an attempt that was cut off.
    pub fn must_re_ask_no_more_than_was_in_flight(&self) {
        for call in self.calls() {
            let (asked, cut_off) = (self.requests(&call).len(), self.interrupted(&call));
            assert!(
                asked <= 1 + cut_off,
                "{call}: {asked} requests, {cut_off} cut off\n{}",
                self.told()
            );
        }
    }

    /// The outcome is the reference's as long as each crash finds its spare retry tokens and the
    /// time that it took; else one that says what is missing.
    ///
    /// *Tokens*: each read that a crash interrupted asks for one (`tokens_needed`); spare are those
    /// that the reference did not use. With fewer, a soft read may be omitted or answered by its
    /// fallback (degraded), and a hard call may fail (handed over).
    ///
    /// *Time*: downtime moves the times of these runs, so it stands still between two lives. But a
    /// write that a crash interrupted before it arrived is known not to have arrived only at its
    /// horizon, and what is left may be too short for another attempt (handed over). A write that
    /// was interrupted where nobody answers a look-up stays in doubt (answered later).
    pub fn must_end_as_the_table_allows(&self, reference: &View) {
        let told = || self.told();
        let used = self.view.number("/budget/retry_tokens/used");
        let limit = self.view.number("/budget/retry_tokens/limit");
        assert!(used <= limit, "{used} of {limit} tokens\n{}", told());
        if self.is_like(reference) {
            return;
        }
        let spare = limit.saturating_sub(reference.number("/budget/retry_tokens/used"));
        let short_of_tokens = spare < self.tokens_needed();
        let short_of_time = self.is_short_of_time(reference);
        let (no_token, no_time) = ("RETRY_TOKENS_EXHAUSTED", "DEADLINE_EXHAUSTED");
        let for_tokens = short_of_tokens && self.says(no_token);
        let for_time = short_of_time && self.says(no_time);
        println!(
            "{}: {:?}, short of tokens {short_of_tokens}, of time {short_of_time}",
            self.told,
            self.outcome()
        );
        match self.outcome() {
            "degraded" => {
                assert!(for_tokens, "no token was missing\n{}", told());
                let (before, after) = (reference.texts("/notices"), self.view.texts("/notices"));
                assert!(before.len() < after.len(), "it is not said\n{}", told());
            }
            "handed_off" => {
                assert!(for_tokens || for_time, "nothing was missing\n{}", told());
                let lost = self.view.events("HardPathLost").len();
                assert_eq!(lost, 1, "{}", told());
                assert!(self.view.at("/package").is_object(), "{}", told());
            }
            "" => self.must_be_in_doubt(),
            other => panic!("{other} is no outcome of a crash\n{}", told()),
        }
    }

    /// The same outcome, lacking as much; a hand-over says why each call failed, which depends on
    /// what was tried before.
    fn is_like(&self, reference: &View) -> bool {
        let (before, after) = (reference.texts("/notices"), self.view.texts("/notices"));
        let lacks_as_much = before.len() == after.len() || self.outcome() == "handed_off";
        self.outcome() == reference.outcome() && lacks_as_much
    }

    /// Whether the horizons of writes that crashes interrupted, on top of what the reference took,
    /// leave too little for one more attempt.
    fn is_short_of_time(&self, reference: &View) -> bool {
        let interrupted = |call: &&Value| {
            let path = call["path"].as_str().unwrap_or_default();
            call["kind"] == "item" && 0 < self.interrupted(path)
        };
        let writes = self.view.list("/calls").iter().filter(interrupted).count();
        let crashes = self.view.number("/epoch").saturating_sub(1);
        let horizons = if writes == 0 { 0 } else { crashes * HORIZON_MS };
        LATEST_START_MS < reference.number("/took_ms") + horizons
    }

    /// Whether the log gives this reason anywhere.
    fn says(&self, reason: &str) -> bool {
        let mut rows = self.view.list("/timeline").iter();
        rows.any(|row| row["text"].to_string().contains(reason))
    }

    /// It was answered "later", for writes that crashes interrupted and nobody can tell about.
    fn must_be_in_doubt(&self) {
        let answer = self.view.text("/answer/kind");
        assert_eq!(answer, "later", "{}", self.told());
        let doubts = self.view.texts("/answer/doubts");
        assert!(!doubts.is_empty(), "{}", self.told());
        for call in doubts {
            assert!(0 < self.interrupted(call), "{call}\n{}", self.told());
            let asked = self.view.events_of("ControlSettled", call);
            let mut asked = asked.iter().map(|row| row["text"].to_string());
            let unknown = asked.all(|text| text.contains("CANNOT_TELL"));
            assert!(unknown, "{call}\n{}", self.told());
        }
    }

    /// A fresh process that reads the log finds the state that was live, in all its parts.
    pub fn must_be_what_the_log_says(&self) {
        let stored = self.stage.stored();
        let stored = stored.unwrap_or_else(|| panic!("no run is stored\n{}", self.told()));
        if self.view.text("/state") != "closed" {
            // It went on between its last word and its process's end.
            let (live, log) = (self.view.list("/timeline"), stored.list("/timeline"));
            assert_eq!(log.get(..live.len()), Some(live), "{}", self.told());
            return;
        }
        for part in stored.parts() {
            let pointer = format!("/{part}");
            assert_eq!(
                stored.at(&pointer),
                self.view.at(&pointer),
                "{part}: the log says otherwise\n{}",
                self.told()
            );
        }
    }
}

fn is_look_up(entry: &Entry) -> bool {
    entry.subject.path.starts_with("/tickets/by-key")
}
