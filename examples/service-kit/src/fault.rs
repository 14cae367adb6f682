//! One fault: what goes wrong, for which requests, how often; its JSON and its command-line form.
//!
//! It must never hold running state: how often a fault was used is `faults`' business.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::log::Subject;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The change is committed, then the connection is closed without a status line.
    CommitThenDrop,
    /// Processing waits `delay_ms` before it goes on.
    Delay,
    /// 503.
    Unavailable,
    /// 429 with `Retry-After`.
    RateLimited,
    /// Every accepted connection is closed at once.
    Down,
    /// Idempotency keys of writes are ignored; look-ups by key still find.
    NoDedupe,
    /// The connection of a write is closed before anything was committed.
    DropBeforeCommit,
    /// The connection of any request is closed before it was processed.
    Drop,
}

impl FaultKind {
    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::CommitThenDrop => "commit_then_drop",
            FaultKind::Delay => "delay",
            FaultKind::Unavailable => "unavailable",
            FaultKind::RateLimited => "rate_limited",
            FaultKind::Down => "down",
            FaultKind::NoDedupe => "no_dedupe",
            FaultKind::DropBeforeCommit => "drop_before_commit",
            FaultKind::Drop => "drop",
        }
    }

    fn from_name(name: &str) -> Option<FaultKind> {
        [
            FaultKind::CommitThenDrop,
            FaultKind::Delay,
            FaultKind::Unavailable,
            FaultKind::RateLimited,
            FaultKind::Down,
            FaultKind::NoDedupe,
            FaultKind::DropBeforeCommit,
            FaultKind::Drop,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// Which requests a fault concerns; an absent field matches every request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// The `position` of the request's body or query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// The `source` of the request's body or query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The HTTP method, in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
}

impl Match {
    /// Whether `subject` is one of the requests meant.
    pub fn covers(&self, subject: &Subject) -> bool {
        self.position.is_none_or(|p| subject.position == Some(p))
            && self
                .source
                .as_deref()
                .is_none_or(|s| subject.source.as_deref() == Some(s))
            && self.method.as_deref().is_none_or(|m| subject.method == m)
            && self
                .path_prefix
                .as_deref()
                .is_none_or(|p| subject.path.starts_with(p))
    }
}

/// One fault to arm. Body of `POST /faults`; `--fault kind[:times][@position][,name=value..]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Which requests it concerns; `down` concerns connections and takes no match.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// How often it strikes; `None` is without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// For `delay`: milliseconds, 1 to 600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// For `rate_limited` (default 1) and `unavailable` (default: no header): seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// How long it stays armed, in milliseconds; `None` is until it is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
}

/// Longest `delay_ms`, in milliseconds: a delay beyond it is a typing error.
const DELAY_MS_MAX: u64 = 600_000;

impl Fault {
    /// A fault of `kind` for every request, without end.
    pub fn new(kind: FaultKind) -> Fault {
        Fault {
            kind,
            matches: Match::default(),
            times: None,
            delay_ms: None,
            retry_after_s: None,
            for_ms: None,
        }
    }

    /// Strikes at most `times` times.
    pub fn times(mut self, times: u32) -> Fault {
        self.times = Some(times);
        self
    }

    /// Strikes only requests about this item of a list.
    pub fn position(mut self, position: u32) -> Fault {
        self.matches.position = Some(position);
        self
    }

    /// Strikes only requests of this method whose path starts so.
    pub fn route(mut self, method: impl Into<String>, path_prefix: impl Into<String>) -> Fault {
        self.matches.method = Some(method.into());
        self.matches.path_prefix = Some(path_prefix.into());
        self
    }

    /// Waits so long; rounded down to milliseconds.
    pub fn delay(mut self, delay: Duration) -> Fault {
        self.delay_ms = Some(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Tells the client to come back after so many whole seconds.
    pub fn retry_after(mut self, wait: Duration) -> Fault {
        self.retry_after_s = Some(wait.as_secs());
        self
    }

    /// What is wrong with it, if anything, in words for the person who wrote it.
    pub fn complaint(&self) -> Option<&'static str> {
        let delay_fits = self
            .delay_ms
            .is_some_and(|ms| (1..=DELAY_MS_MAX).contains(&ms));
        if self.times == Some(0) {
            return Some("times must be at least 1");
        }
        if self.kind == FaultKind::Delay && !delay_fits {
            return Some("delay needs delay_ms, 1 to 600000");
        }
        if self.kind != FaultKind::Delay && self.delay_ms.is_some() {
            return Some("delay_ms belongs to delay only");
        }
        let may_say_when = matches!(self.kind, FaultKind::RateLimited | FaultKind::Unavailable);
        if !may_say_when && self.retry_after_s.is_some() {
            return Some("retry_after_s belongs to rate_limited and unavailable only");
        }
        if self.kind == FaultKind::Down && self.matches != Match::default() {
            return Some("down concerns connections, which have no position, source or path");
        }
        None
    }
}

/// Why a `--fault` text was not understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("fault {text:?}: {why}; write kind[:times][@position][,name=value..]")]
pub struct ParseFaultError {
    text: String,
    why: String,
}

impl FromStr for Fault {
    type Err = ParseFaultError;

    /// Parses `kind[:times][@position][,delay_ms=N][,retry_after_s=N][,for_ms=N][,method=M]
    /// [,path=PREFIX][,source=S]`.
    fn from_str(text: &str) -> Result<Fault, ParseFaultError> {
        parse(text).map_err(|why| ParseFaultError {
            text: text.to_owned(),
            why,
        })
    }
}

fn parse(text: &str) -> Result<Fault, String> {
    let mut parts = text.split(',');
    let head = parts.next().unwrap_or_default();
    let (head, position) = split_number(head, '@')?;
    let (kind, times) = split_number(head, ':')?;
    let kind = FaultKind::from_name(kind).ok_or_else(|| format!("no kind {kind:?}"))?;
    let mut fault = Fault {
        times,
        ..Fault::new(kind)
    };
    fault.matches.position = position;
    for part in parts {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} has no ="))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{name} is no number"))
        };
        match name {
            "delay_ms" => fault.delay_ms = Some(number()?),
            "retry_after_s" => fault.retry_after_s = Some(number()?),
            "for_ms" => fault.for_ms = Some(number()?),
            "method" => fault.matches.method = Some(value.to_ascii_uppercase()),
            "path" => fault.matches.path_prefix = Some(value.to_owned()),
            "source" => fault.matches.source = Some(value.to_owned()),
            other => return Err(format!("no setting {other:?}")),
        }
    }
    match fault.complaint() {
        Some(why) => Err(why.to_owned()),
        None => Ok(fault),
    }
}

/// Splits `head<mark>number`; without the mark there is no number.
fn split_number(text: &str, mark: char) -> Result<(&str, Option<u32>), String> {
    let Some((head, number)) = text.split_once(mark) else {
        return Ok((text, None));
    };
    let number = number
        .parse()
        .map_err(|_| format!("{number:?} after {mark:?} is no number"))?;
    Ok((head, Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_form_carries_times_position_and_settings() {
        let fault: Fault = "commit_then_drop:1@3".parse().unwrap();
        assert_eq!(
            fault,
            Fault::new(FaultKind::CommitThenDrop).times(1).position(3)
        );
        let fault: Fault = "rate_limited:2,retry_after_s=7,method=get,path=/tickets"
            .parse()
            .unwrap();
        let same = Fault::new(FaultKind::RateLimited)
            .times(2)
            .route("GET", "/tickets")
            .retry_after(Duration::from_secs(7));
        assert_eq!(fault, same);
        let fault: Fault = "delay@0,delay_ms=250".parse().unwrap();
        assert_eq!(fault.delay_ms, Some(250));
        assert_eq!(fault.matches.position, Some(0));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_the_reason() {
        for (text, reason) in [
            ("slow", "no kind"),
            ("down:x", "is no number"),
            ("delay", "needs delay_ms"),
            ("delay,delay_ms=0", "needs delay_ms"),
            ("down@3", "concerns connections"),
            ("drop:0", "at least 1"),
            ("drop,delay_ms=5", "belongs to delay"),
            ("drop,retry_after_s=5", "belongs to rate_limited"),
            ("drop,colour=5", "no setting"),
            ("drop,5", "has no ="),
        ] {
            let refused = text.parse::<Fault>().unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn the_json_form_refuses_unknown_fields_and_kinds() {
        let fault: Fault = serde_json::from_str(r#"{"kind":"down","times":2}"#).unwrap();
        assert_eq!(fault, Fault::new(FaultKind::Down).times(2));
        assert!(serde_json::from_str::<Fault>(r#"{"kind":"down","time":2}"#).is_err());
        assert!(serde_json::from_str::<Fault>(r#"{"kind":"slow"}"#).is_err());
    }
}
