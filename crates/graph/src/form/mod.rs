//! The stored form of a task class: one canonical JSON text, and its fingerprint.
//!
//! A form is frozen: a field is never renamed, dropped or given another meaning under the same
//! form number, and reading never fills in what is missing or ignores what it does not know. A
//! class read back is equal to the one that was stored.
//!
//! A class is written in the lowest form that can say all of it, so that a newer program gives the
//! classes of an older one the fingerprints they always had. Form 2 adds `on_limit` and `caps`,
//! form 3 `later_ms` and `repairs`, form 4 `tools`, and the call of that kind, form 5 `undoes` and
//! `late`.
//!
//! Shape (form 5), every key always present, `null` for what is not set, times in milliseconds
//! (`_ms`), cost in micro-units (`_micros`), refs as places in `nodes` from 0, schemas as texts:
//!
//! ```text
//! {form, name, version, input, output,
//!  budget: {retry_tokens, concurrency_tokens, cost_micros},
//!  times: {answer_by_ms, work_by_ms?, expires_at_ms?, doubt_wait_ms},
//!  reserve: {synthesis_ms, reconcile_ms, deliver_ms},
//!  on_downtime: {kind: "absolute"} | {kind: "extend", ms_max},
//!  on_failure: "hand_off" | "fail",
//!  on_limit: "degrade" | "pause" | "hand_off" | "fail",
//!  caps: {attempts?, branches?, depth?, parallel_cost_micros?,
//!         dependencies: [{dependency, retry_tokens?, concurrency_tokens?, cost_micros?}]},
//!  later_ms?, repairs: [ref],
//!  tools: [{node: ref, about, per_run_max, arguments}],
//!  undoes: [{node: ref, of: ref}],
//!  late: [{node: ref, on_late: ("drop" | "keep" | "review")?, orphan_ttl_ms?}],
//!  nodes: [{name, criticality: {kind: "hard"} | {kind: "soft" | "advisory", notice},
//!           inputs: [ref], when: ref?, output,
//!           call: {kind: "read", contract} | {kind: "write", contract, effect}
//!               | {kind: "each", contract, effect, items_max}
//!               | {kind: "tools", tools: [ref], calls_max}
//!               | {kind: "local"} | {kind: "when"}}],
//!  result: [ref]}
//! ```

mod fields;
mod late;
mod read;
mod write;

use std::fmt;

use mainstay_types::json::Value;
use mainstay_types::{Code, Digest};

use crate::class::TaskClass;

/// The forms that can be read: the first, and the newest.
pub(crate) const FORMS: [u32; 5] = [1, 2, 3, 4, 5];

impl TaskClass {
    /// The class's stored form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        write::class(self)
    }

    /// Reads a stored form.
    ///
    /// Errors: at the first place that is not as its form has it. Sizes are bounded as
    /// [`crate::validate()`] bounds them; whether the class makes sense is for it to say.
    pub fn from_json(form: &Value) -> Result<Self, FormError> {
        read::class(form)
    }

    /// The blake3 digest of the canonical text of the stored form: names, edges, contracts,
    /// limits, JSON Schemas of values.
    ///
    /// Equal classes have equal fingerprints in every process; any change of a field changes it.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of(self.to_json().to_canonical().as_bytes())
    }
}

/// A stored form that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// Where, as a JSON pointer; empty for the form itself.
    pub at: String,
    /// What should stand there.
    pub expected: String,
}

impl FormError {
    /// The stable code: the bytes do not have the form of their kind.
    #[must_use]
    pub const fn code(&self) -> Code {
        Code::CorruptRecord
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() {
            "its root"
        } else {
            &self.at
        };
        write!(
            f,
            "the stored class cannot be read: at {at}, expected {}",
            self.expected
        )
    }
}

impl std::error::Error for FormError {}
