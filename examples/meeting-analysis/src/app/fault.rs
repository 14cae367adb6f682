//! `--fault CALL=KIND[:n]`: a tower layer that lets attempts of the primary provider fail.
//!
//! A user's layer like any other: it sees the attempt after it is durable, and the engine decides
//! what follows. Fallbacks are never touched, look-ups never pass here.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use mainstay::dispatch::{AttemptRequest, AttemptService, RawAnswer};
use mainstay::types::BoxFuture;
use mainstay::{Failure, FailureKind, Sent};
use tower::{Layer, Service};

/// One `--fault`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// A node's name or an item's path.
    pub call: String,
    /// How its attempts fail.
    pub kind: FailureKind,
    /// How often; `None`: always.
    pub times: Option<u32>,
}

impl FromStr for FaultSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (call, rest) = text
            .split_once('=')
            .ok_or("it must be CALL=KIND or CALL=KIND:n")?;
        let (kind, times) = match rest.split_once(':') {
            None => (rest, None),
            Some((kind, n)) => {
                let n = n
                    .parse()
                    .map_err(|_| format!("`{n}` is not a number of times"))?;
                (kind, Some(n))
            }
        };
        let code = kind.to_ascii_uppercase().replace('-', "_");
        let kind = FailureKind::from_code(&code).ok_or_else(|| {
            let all: Vec<&str> = FailureKind::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("`{kind}` is no failure kind; there are {}", all.join(", "))
        })?;
        if call.is_empty() {
            return Err("the call is missing before `=`".to_owned());
        }
        Ok(Self {
            call: call.to_owned(),
            kind,
            times,
        })
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub struct Faults(Arc<Vec<(FaultSpec, AtomicU32)>>);

impl Faults {
    /// Faults as asked for.
    #[must_use]
    pub fn new(specs: Vec<FaultSpec>) -> Self {
        Self(Arc::new(
            specs
                .into_iter()
                .map(|spec| (spec, AtomicU32::new(0)))
                .collect(),
        ))
    }

    /// The fault that strikes this attempt; counts it.
    fn strike(&self, request: &AttemptRequest) -> Option<FailureKind> {
        let cx = request.cx();
        if cx.rung.get() != 0 || cx.control {
            return None;
        }
        let node = cx.call.split('[').next().unwrap_or(&cx.call);
        let meant = |spec: &FaultSpec| spec.call == cx.call || spec.call == node;
        let (spec, struck) = self.0.iter().find(|(spec, struck)| {
            meant(spec) && spec.times.is_none_or(|n| struck.load(Ordering::SeqCst) < n)
        })?;
        struck.fetch_add(1, Ordering::SeqCst);
        Some(spec.kind)
    }
}

impl Layer<AttemptService> for Faults {
    type Service = Faulty;

    fn layer(&self, inner: AttemptService) -> Faulty {
        Faulty {
            faults: self.clone(),
            inner,
        }
    }
}

/// A service some of whose attempts fail.
#[derive(Clone)]
pub struct Faulty {
    faults: Faults,
    inner: AttemptService,
}

impl Service<AttemptRequest> for Faulty {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let Some(kind) = self.faults.strike(&request) else {
            return self.inner.call(request);
        };
        if kind == FailureKind::EffectUnknown {
            // Sent for real, and its reply lost.
            let sent = self.inner.call(request);
            return Box::pin(async move {
                drop(sent.await);
                Err(injected(kind, Sent::MaybeSent))
            });
        }
        let connected = kind != FailureKind::TransientTransport;
        let sent = if connected {
            Sent::Answered
        } else {
            Sent::NotSent
        };
        Box::pin(async move { Err(injected(kind, sent)) })
    }
}

fn injected(kind: FailureKind, sent: Sent) -> Failure {
    Failure::new(kind, sent)
        .provider_code("FAULT")
        .message("asked for by --fault")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_call_kind_and_times() {
        let spec: FaultSpec = "ticket_write[3]=effect-unknown:2".parse().expect("valid");
        assert_eq!(
            (spec.call.as_str(), spec.times),
            ("ticket_write[3]", Some(2))
        );
        assert_eq!(spec.kind, FailureKind::EffectUnknown);
        for (text, says) in [
            ("a", "CALL=KIND"),
            ("a=x", "no failure kind"),
            ("a=canceled:y", "y"),
        ] {
            let error = text.parse::<FaultSpec>().expect_err(text);
            assert!(error.contains(says), "{error}");
        }
    }
}
