//! The same engine on the operating system's clock, timers and threads: what the simulator cannot
//! show is whether anything waits for ever when things really happen at once.

use std::sync::Arc;

use mainstay_class::{Budget, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Found, Read, Resolution, Write};
use mainstay_ledger::{Ledger, MemoryLedger};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::engine::EngineBuilder;
use mainstay_runtime::system;
use mainstay_types::{Failure, FailureKind, Millis};

use crate::world::script::maybe_sent;
use crate::world::{Minutes, minutes};

const RUNS: usize = 300;
const ITEMS: usize = 3;

/// Answers at once.
#[derive(Clone)]
struct Quick;

impl Read for Quick {
    type Request = Minutes;
    type Reply = Minutes;

    fn name(&self) -> &str {
        "quick"
    }

    async fn call(&self, m: Minutes, _: &AttemptContext) -> Result<Answer<Minutes>, Failure> {
        Ok(m.into())
    }
}

/// Loses every other reply.
#[derive(Clone)]
struct Lossy;

impl Write for Lossy {
    type Request = String;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "lossy"
    }

    async fn send(&self, text: String, cx: &AttemptContext) -> Result<Answer<String>, Failure> {
        if cx.call.ends_with("[1]") {
            return Err(maybe_sent(FailureKind::TransientTransport));
        }
        Ok(text.into())
    }

    async fn find(&self, text: String, _: &AttemptContext) -> Result<Found<String>, Failure> {
        Ok(Found::Applied(text))
    }
}

#[test]
fn hundreds_of_runs_on_real_threads_all_end_and_the_engine_goes_down() {
    let mut g = TaskClass::<Minutes>::define("real", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let told = g.read("told", &Quick, (), |m, ()| m.clone()).add();
    let again = g.read("again", &Quick, told, |_, told| told.clone()).add();
    let written = g
        .each("written", &Lossy, again, 50, |_, told| told.actions.clone())
        .add();
    let class = g
        .finish(written, |_, written| written.len() as u64)
        .expect("a valid class");
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .expect("a runtime");
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::new());
    threads.block_on(async {
        let builder = EngineBuilder::new(Arc::clone(&ledger), system::ports()).register(&class);
        let engine = builder.start().await.expect("the engine starts");
        let mut waiting = Vec::new();
        for n in 0..RUNS {
            let (engine, class) = (engine.clone(), class.clone());
            let key = format!("K{}", n / 2);
            waiting.push(async move {
                let run = engine.start(&class, minutes(&key, ITEMS)).key(&key).await;
                run.expect("started").outcome().await.expect("an outcome")
            });
        }
        for outcome in all(waiting).await {
            assert_eq!(
                (outcome.kind, outcome.result),
                (OutcomeKind::Completed, Some(3))
            );
        }
        let report = engine.shutdown(Millis::from_secs(10)).await;
        assert_eq!((report.open_runs, report.out_at_bound), (0, 0));
    });
    assert!(
        ledger.appends() <= (RUNS as u64 / 2) * 9,
        "{} appends",
        ledger.appends()
    );
}

/// Waits for all at once.
pub(crate) async fn all<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = futures.into_iter().map(|f| (Box::pin(f), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, end) in waiting.iter_mut().filter(|(_, end)| end.is_none()) {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(cx) {
                *end = Some(value);
            }
        }
        match waiting.iter().all(|(_, end)| end.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    waiting.into_iter().filter_map(|(_, end)| end).collect()
}
