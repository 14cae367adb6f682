//! Six kinds of receivers, six ways to find out what became of a write whose reply was lost: each
//! scenario at each kind, over real HTTP.
//!
//! What is asserted is the receiver's own table: how often it was asked to write, and what changed.

mod killed;
mod lost;
mod mute;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay::engine::{EffectFilter, EngineBuilder, Outcome, RunView, system};
use mainstay::ledger::MemoryLedger;
use mainstay::types::EffectKey;
use mainstay::{Engine, OutcomeKind, RunHandle};
use mainstay_tests::campaign::side_by_side;
use mainstay_tests::place::Place;
use mainstay_tests::receivers::{
    BOUND_MS, Fate, Kind, Order, Receipt, Receiver, TIMEOUT_MS, Truth, class,
};

/// How long a run may take here: far longer than it does.
const PATIENCE: Duration = Duration::from_secs(40);

/// How long after a send it may still land: send window, timeout, bound.
const HORIZON_MS: u128 = 1_000 + TIMEOUT_MS as u128 + BOUND_MS as u128;

/// The same case at each of these kinds, all at once: for most of their time they wait.
fn each(kinds: &[Kind], case: impl Fn(Kind) + Sync) {
    side_by_side(kinds.len(), kinds.len(), |at| case(kinds[at]));
}

/// A run of one order, in this process.
struct Stand {
    receiver: Receiver,
    engine: Engine,
    run: RunHandle<Receipt>,
}

impl Stand {
    async fn start(place: &Place, receiver: Receiver, kind: Kind) -> Self {
        let class = class(kind, &receiver.url(), &place.path("table")).expect("a valid class");
        let ledger = Arc::new(MemoryLedger::new());
        let builder = EngineBuilder::new(ledger, system::ports()).register(&class);
        let engine = builder.start().await.expect("it starts");
        let (id, item) = ("PR-7".to_owned(), "paper".to_owned());
        let run = engine.start(&class, Order { id, item }).await;
        let run = run.expect("it is taken");
        Self {
            receiver,
            engine,
            run,
        }
    }

    /// Waits for the outcome, and says what was true at the receiver.
    async fn end(&self) -> Ended {
        let outcome = tokio::time::timeout(PATIENCE, self.run.outcome()).await;
        let view = self.run.view().await.expect("it can be seen");
        let outcome = outcome.unwrap_or_else(|_| panic!("no outcome: {}", self.told(&view)));
        let outcome = outcome.expect("it ends");
        Ended {
            outcome,
            truth: self.receiver.truth(),
            attempts: view.calls[0].attempts.len(),
            told: serde_json::to_string_pretty(&view).expect("a view is JSON"),
        }
    }

    fn told(&self, view: &RunView) -> String {
        let view = serde_json::to_string_pretty(view).expect("a view is JSON");
        format!("{:#?}\n{view}", self.receiver.truth())
    }

    /// The key of the effect that is in doubt; `None` while none is.
    async fn in_doubt(&self) -> Option<EffectKey> {
        let filter = EffectFilter {
            run: Some(self.run.id()),
            in_doubt: true,
        };
        let page = self.engine.effects(filter, None).await;
        let rows = page.expect("effects can be listed").rows;
        rows.into_iter().next().map(|row| row.key)
    }
}

/// A run that has ended, and what was true then.
struct Ended {
    outcome: Outcome<Receipt>,
    truth: Truth,
    attempts: usize,
    told: String,
}

impl Ended {
    /// Completed, having been sent so often, and with one change in the receiver's world.
    fn must_be_done_once(&self, kind: Kind, sent: usize) {
        let done = (self.outcome.kind, self.truth.applied.len());
        let told = format!("{kind:?}: {:#?}\n{}", self.truth, self.told);
        assert_eq!(done, (OutcomeKind::Completed, 1), "{told}");
        assert_eq!(self.truth.sent.len(), sent, "{told}");
        assert_eq!(self.attempts, sent, "{told}");
        let name = &self.truth.sent[0].name;
        assert!(
            self.truth.sent.iter().all(|sent| sent.name == *name),
            "{told}"
        );
        let receipt = self
            .outcome
            .result
            .as_ref()
            .map(|receipt| receipt.number.as_str());
        assert_eq!(receipt, Some("R-1"), "{told}");
    }
}

/// One order at a receiver of this kind that does with its requests what `fates` say.
fn order(kind: Kind, fates: &[Fate]) -> Ended {
    let place = Place::new();
    mainstay_tests::http::block_on(async {
        let stand = Stand::start(&place, Receiver::start(kind, fates), kind).await;
        stand.end().await
    })
}

/// Looks until there is a value, without holding up what runs on this thread.
async fn soon<T>(look: impl AsyncFn() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "it never came");
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}
