//! A view without what runs carry and what others said: for lists, logs and curious colleagues.
//!
//! It leaves every fact and every number and takes only contents: values of runs, answers of
//! receivers, words of providers and of panics. What is taken says how much it was.

use serde_json::value::RawValue;

use super::{CallView, OneEffect, RunView};

/// Longest provider code that is believed to be one.
const CODE_CHARS_MAX: usize = 64;

impl RunView {
    /// The same view with sizes in the place of payloads and of texts that are not ours.
    #[must_use]
    pub fn without_payloads(mut self) -> Self {
        self.result = self.result.map(|value| hidden(&value));
        if let Some(package) = &mut self.package {
            package
                .values_mut()
                .for_each(|value| *value = hidden(value));
        }
        self.calls.iter_mut().for_each(hide);
        for row in &mut self.timeline {
            row.said = row.said.take().map(|said| text(&said));
        }
        self
    }
}

impl OneEffect {
    /// The same view with sizes in the place of payloads and of texts that are not ours.
    #[must_use]
    pub fn without_payloads(mut self) -> Self {
        hide(&mut self.call);
        for row in &mut self.timeline {
            row.said = row.said.take().map(|said| text(&said));
        }
        self
    }
}

fn hide(call: &mut CallView) {
    for attempt in &mut call.attempts {
        attempt.message = attempt.message.take().map(|message| text(&message));
        let code = attempt.provider_code.take();
        attempt.provider_code = code.map(|code| if is_code(&code) { code } else { text(&code) });
    }
    if let Some(effect) = &mut call.effect {
        effect.result = effect.result.take().map(|value| hidden(&value));
    }
}

/// Whether a provider's code has the form of one; anything else may be a sentence with contents.
pub(super) fn is_code(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    text.len() <= CODE_CHARS_MAX && text.chars().all(part)
}

fn hidden(value: &RawValue) -> Box<RawValue> {
    let quoted = format!("\"[payload of {} bytes]\"", value.get().len());
    RawValue::from_string(quoted).expect("a quoted text without escapes is JSON")
}

fn text(said: &str) -> String {
    format!("[text of {} bytes]", said.len())
}
