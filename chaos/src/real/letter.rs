//! A request to what is outside, and its end, as they are on the wire between two processes.

use mainstay_dispatch::{AttemptFacts, Found, RawAnswer};
use mainstay_types::{
    AttemptNo, CostUnits, EffectKey, Epoch, Failure, FailureKind, Millis, Payload, Rung, Sent,
    Tenant,
};
use serde::{Deserialize, Serialize};

use super::speech::text;

/// A request, or a question about an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Letter {
    /// Whom it is to.
    pub(super) to: String,
    run: String,
    tenant: String,
    call: String,
    attempt: u32,
    rung: u8,
    /// Whether it only asks.
    pub(super) is_look_up: bool,
    time_left_ms: u64,
    key: Option<String>,
    fence: u32,
    request: String,
}

impl Letter {
    pub(super) fn new(to: &str, facts: &AttemptFacts, request: &Payload) -> Self {
        Self {
            to: to.to_owned(),
            run: facts.run.to_string(),
            tenant: facts.tenant.to_string(),
            call: facts.call.clone(),
            attempt: facts.attempt.get(),
            rung: facts.rung.get(),
            is_look_up: facts.control,
            time_left_ms: facts.time_left.get(),
            key: facts.effect_key.as_ref().map(ToString::to_string),
            fence: facts.fence.get(),
            request: text(request),
        }
    }

    /// Whose it is, and what is asked for; `None` where it is no letter of a worker.
    pub(super) fn read(&self) -> Option<(AttemptFacts, Payload)> {
        let key = match &self.key {
            Some(key) => Some(key.parse::<EffectKey>().ok()?),
            None => None,
        };
        let facts = AttemptFacts {
            run: self.run.parse().ok()?,
            tenant: Tenant::new(self.tenant.as_str()).ok()?,
            call: self.call.clone(),
            attempt: AttemptNo(self.attempt),
            rung: Rung(self.rung),
            control: self.is_look_up,
            time_left: Millis::new(self.time_left_ms),
            effect_key: key,
            fence: Epoch(self.fence),
            traceparent: None,
        };
        Some((facts, Payload::new(self.request.clone().into_bytes())))
    }
}

/// The end of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub(super) enum Reply {
    Answered {
        value: String,
        cost_micros: Option<u64>,
    },
    Failed {
        kind: String,
        sent: String,
        provider_code: Option<String>,
        message: Option<String>,
        retry_after_ms: Option<u64>,
    },
    Applied {
        value: String,
    },
    Partly,
    InProgress,
    NotFound,
    CannotTell,
}

impl From<Result<RawAnswer, Failure>> for Reply {
    fn from(end: Result<RawAnswer, Failure>) -> Self {
        match end {
            Ok(answer) => Self::Answered {
                value: text(&answer.value),
                cost_micros: answer.cost.map(CostUnits::as_micros),
            },
            Err(failure) => failure.into(),
        }
    }
}

impl From<Result<Found<Payload>, Failure>> for Reply {
    fn from(end: Result<Found<Payload>, Failure>) -> Self {
        match end {
            Ok(Found::Applied(reply)) => Self::Applied {
                value: text(&reply),
            },
            Ok(Found::Partly) => Self::Partly,
            Ok(Found::InProgress) => Self::InProgress,
            Ok(Found::NotFound) => Self::NotFound,
            Ok(Found::CannotTell) => Self::CannotTell,
            Err(failure) => failure.into(),
        }
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Failed {
            kind: failure.kind.as_str().to_owned(),
            sent: failure.sent.as_str().to_owned(),
            provider_code: failure.provider_code,
            message: failure.message,
            retry_after_ms: failure.retry_after.map(Millis::get),
        }
    }
}

impl Reply {
    /// How a request ended.
    pub(super) fn answer(self) -> Result<RawAnswer, Failure> {
        match self {
            Self::Answered { value, cost_micros } => Ok(RawAnswer {
                value: payload(value),
                cost: cost_micros.map(CostUnits::micros),
                client_retries: 0,
            }),
            other @ (Self::Failed { .. }
            | Self::Applied { .. }
            | Self::Partly
            | Self::InProgress
            | Self::NotFound
            | Self::CannotTell) => Err(other.failure()),
        }
    }

    /// What a look-up saw.
    pub(super) fn found(self) -> Result<Found<Payload>, Failure> {
        match self {
            Self::Applied { value } => Ok(Found::Applied(payload(value))),
            Self::Partly => Ok(Found::Partly),
            Self::InProgress => Ok(Found::InProgress),
            Self::NotFound => Ok(Found::NotFound),
            Self::CannotTell => Ok(Found::CannotTell),
            other @ (Self::Answered { .. } | Self::Failed { .. }) => Err(other.failure()),
        }
    }

    fn failure(self) -> Failure {
        let Self::Failed {
            kind,
            sent,
            provider_code,
            message,
            retry_after_ms,
        } = self
        else {
            return lost("a reply of another kind");
        };
        let sent = [Sent::NotSent, Sent::MaybeSent, Sent::Answered]
            .into_iter()
            .find(|known| known.as_str() == sent);
        let (Some(kind), Some(sent)) = (FailureKind::from_code(&kind), sent) else {
            return lost("a failure that nobody knows");
        };
        Failure {
            provider_code,
            message,
            retry_after: retry_after_ms.map(Millis::new),
            ..Failure::new(kind, sent)
        }
    }
}

/// Nobody knows what became of it.
pub(super) fn lost(message: &str) -> Failure {
    Failure::new(FailureKind::TransientTransport, Sent::MaybeSent).message(message)
}

fn payload(text: String) -> Payload {
    Payload::new(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_comes_out_as_it_went_in() {
        let value = Payload::new(br#"["T-1"]"#.as_slice());
        let answer = |cost| {
            Ok(RawAnswer {
                value: value.clone(),
                cost,
                client_retries: 0,
            })
        };
        let failures = FailureKind::ALL.into_iter().flat_map(|kind| {
            let sents = [Sent::NotSent, Sent::MaybeSent, Sent::Answered];
            sents.map(|sent| Failure::new(kind, sent))
        });
        let told = Failure::new(FailureKind::RateLimited, Sent::Answered)
            .retry_after(Millis::new(20))
            .provider_code("429");
        let failures = failures.chain([told]);
        let ends = failures.map(Err);
        for end in ends.chain([answer(None), answer(Some(CostUnits::milli(3)))]) {
            let reply: Reply = through(&end.clone().into());
            assert_eq!(
                reply.answer().map(|a| (a.value, a.cost)),
                end.map(|a| (a.value, a.cost))
            );
        }
        for found in [
            Found::Applied(value.clone()),
            Found::Partly,
            Found::InProgress,
            Found::NotFound,
            Found::CannotTell,
        ] {
            let reply = through(&Ok::<_, Failure>(found.clone()).into());
            assert_eq!(reply.found(), Ok(found));
        }
    }

    fn through(reply: &Reply) -> Reply {
        let bytes = serde_json::to_vec(reply).expect("plain data");
        serde_json::from_slice(&bytes).expect("it was just written")
    }
}
