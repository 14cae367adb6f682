//! What a live run sends out: the futures of its attempts and look-ups.
//!
//! Request bytes, keys and fences come from the recorded state, never from the class's code.

use std::sync::Arc;

use mainstay_dispatch::{AttemptFacts, SpanId};
use mainstay_graph::Contract;
use mainstay_machine::{Call, Command, Settle, effect};
use mainstay_types::{AttemptNo, BoxFuture, CallId, Millis, Rung, Timestamp, limits};
use tokio_util::sync::CancellationToken;

use crate::live::Live;
use crate::observe::spans::traceparent;
use crate::outgoing::{self, Asking, Outgoing};

impl Live {
    /// The attempt as the state has it.
    pub(crate) fn outgoing(
        &self,
        id: CallId,
        no: AttemptNo,
        cancel: &CancellationToken,
    ) -> Option<BoxFuture<'static, ()>> {
        let call = self.run.calls().get(id)?;
        let attempt = call.attempt(no)?;
        let request = call.request()?.request.clone();
        let facts = AttemptFacts {
            time_left: attempt.timeout,
            ..self.facts(id, call, (no, attempt.rung))?
        };
        let (shared, mailbox) = (Arc::clone(&self.shared), self.mailbox.clone());
        let service = self.registered.as_ref();
        let service = service.and_then(|code| code.service(call.node, attempt.rung));
        let Some(service) = service else {
            let evidence = shared.evidence();
            let end = outgoing::no_provider();
            let report = Settle {
                call: id,
                attempt: no,
                end,
                evidence,
            };
            return Some(Box::pin(async move {
                // A run that is gone is asked nothing of.
                drop(mailbox.report(Command::Settle(report)).await);
            }));
        };
        let watch = self.registered.as_ref();
        let watch = watch.and_then(|code| code.watch(call.node, attempt.rung).cloned());
        let contract = self.run.class().node(call.node).contract();
        let promised = contract.map(|contract| promised(contract, attempt.rung));
        let short = promised.filter(|(most, _)| attempt.timeout < *most);
        let out = Outgoing {
            is_short_of: short.map(|(_, estimate)| estimate),
            call: id,
            attempt: no,
            at: attempt.at,
            request,
            facts,
            service,
            watch,
            cancel: cancel.clone(),
        };
        Some(outgoing::attempt(shared, mailbox, out))
    }

    /// The look-up as the state has it, once it is due.
    pub(crate) fn asking(
        &self,
        (id, number): (CallId, u32),
        now: Timestamp,
        cancel: &CancellationToken,
    ) -> Option<BoxFuture<'static, ()>> {
        let call = self.run.calls().get(id)?;
        let due = effect::doubt(call)?.lookup_at;
        if now < due || self.is_draining() {
            return None;
        }
        // None is this run's own where it took over what another one sent.
        let last = call.attempts.last();
        let (no, rung) = last.map_or((AttemptNo(0), Rung(0)), |last| (last.no, last.rung));
        let request = call.prepared.as_ref()?.request.clone();
        let facts = self.facts(id, call, (no, rung))?;
        let facts = AttemptFacts {
            control: true,
            traceparent: traceparent(self.run.head()?, || {
                SpanId::of_look_up(facts.run, facts.fence, &facts.call, number)
            }),
            ..facts
        };
        let code = self.registered.as_ref()?;
        let provider = Arc::clone(code.provider(call.node, rung)?);
        let ask = Asking {
            call: id,
            number,
            request,
            facts,
            provider,
            is_of_crowd: last.is_some_and(|last| last.at < self.shared.time.opened_at()),
            cancel: cancel.clone(),
        };
        Some(outgoing::asking(
            Arc::clone(&self.shared),
            self.mailbox.clone(),
            ask,
        ))
    }

    /// The facts of an attempt, with the time of a control attempt.
    fn facts(
        &self,
        id: CallId,
        call: &Call,
        (attempt, rung): (AttemptNo, Rung),
    ) -> Option<AttemptFacts> {
        let head = self.run.head()?;
        let path = self.run.path(id);
        let traceparent = traceparent(head, || SpanId::of_attempt(head.run, &path, attempt));
        Some(AttemptFacts {
            run: head.run,
            tenant: head.tenant.clone(),
            call: path,
            attempt,
            rung,
            control: false,
            time_left: Millis::new(limits::CONTROL_TIMEOUT_MS),
            effect_key: call.effect.as_ref().map(|effect| effect.key.clone()),
            fence: head.epoch,
            traceparent,
        })
    }
}

/// How long an attempt on a rung may take by its contract, and how long it is expected to take.
fn promised(contract: &Contract, rung: Rung) -> (Millis, Millis) {
    let of_primary = (contract.timeout, contract.estimate);
    let fallback = contract.fallback(rung);
    fallback.map_or(of_primary, |fallback| (fallback.timeout, fallback.estimate))
}
