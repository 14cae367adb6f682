//! A program that holds a store and drives runs: an engine of this process with its local socket.
//!
//! What a run does depends on its input: `fine` completes, `lost` loses the reply of its write,
//! `wait` is never answered, `broken` is refused by its provider, `panics` breaks the class's code,
//! `dear` spends the whole budget before its write.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mainstay_class::{Budget, Class, OnLimit, TaskClass, mins, secs};
use mainstay_dispatch::{Answer, AttemptContext, Failure, FailureKind, Found, Read, Write};
use mainstay_dispatch::{Resolution, Sent};
use mainstay_ledger_sled::SledLedger;
use mainstay_runtime::view::RunView;
use mainstay_runtime::{Engine, EngineBuilder, RunHandle, system};
use mainstay_socket::LocalSocket;
use mainstay_types::{CostUnits, Millis, RunId};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{Said, ask, open};

/// What nobody may see who did not ask for payloads.
pub(crate) const CANARY: &str = "canary-7d1e";

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone)]
struct Prices;

impl Read for Prices {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        "prices"
    }

    async fn call(&self, item: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        if item.starts_with("wait") {
            std::future::pending::<()>().await;
        }
        if item.starts_with("broken") {
            let failure = Failure::new(FailureKind::PermanentProvider, Sent::Answered);
            return Err(failure.message(format!("cannot price {item}")));
        }
        let answer = Answer::from(format!("price of {item}"));
        Ok(match item.starts_with("dear") {
            true => answer.cost(CostUnits::units(10)),
            false => answer,
        })
    }
}

#[derive(Clone)]
struct Orders;

impl Write for Orders {
    type Request = String;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, order: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        if order.contains("lost") {
            let failure = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
            return Err(failure.message(format!("no reply to {order}")));
        }
        Ok(format!("receipt for {order}").into())
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<String>, Failure> {
        Ok(Found::CannotTell)
    }
}

fn class() -> Class<String, String> {
    let mut g = TaskClass::<String>::define("orders", 2);
    g.budget(
        Budget::new()
            .answer_by(secs(60))
            .retries(2)
            .concurrency(4)
            .cost(10),
    );
    g.on_limit(OnLimit::Pause);
    let price = g
        .read("price", &Prices, (), |item, ()| item.clone())
        .orphan_ttl(mins(10))
        .add();
    let order = g
        .write("order", &Orders, price, |item, price| {
            assert!(!item.starts_with("panics"), "cannot order {item}");
            format!("{item} at {price}")
        })
        .compensate_with(&Orders, |item, order| {
            format!(
                "cancel {} of {item}",
                order.reply.map_or("it", String::as_str)
            )
        })
        .add();
    g.finish(order, |_, receipt| receipt.clone()).unwrap()
}

/// A program that holds a store.
pub(crate) struct Live {
    runtime: Runtime,
    pub(crate) engine: Engine,
    class: Class<String, String>,
    pub(crate) folder: TempDir,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap())
    }

    /// On a store that is there, or made.
    pub(crate) fn on(folder: TempDir) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let class = class();
        let ledger: SledLedger = open(folder.path());
        let engine = runtime.block_on(async {
            EngineBuilder::new(Arc::new(ledger), system::ports())
                .register(&class)
                .accompany(LocalSocket::of(folder.path()))
                .start()
                .await
                .unwrap()
        });
        Self {
            runtime,
            engine,
            class,
            folder,
        }
    }

    /// Starts a run; its input ends with the canary.
    pub(crate) fn start(&self, what: &str) -> RunId {
        let started = self.engine.start(&self.class, format!("{what} {CANARY}"));
        let started = started.tenant("acme").key(what);
        self.wait(async { started.await.unwrap().id() })
    }

    /// Starts a run and waits until its lap has ended.
    pub(crate) fn ended(&self, what: &str) -> RunId {
        let run = self.start(what);
        self.outcome(run);
        run
    }

    /// How the newest lap of the run ended.
    pub(crate) fn outcome(&self, run: RunId) -> &'static str {
        self.wait(async {
            let run: RunHandle<String> = self.engine.run(&self.class, run).await.unwrap();
            run.outcome().await.unwrap().kind.as_str()
        })
    }

    /// Starts a run and waits until its write is in doubt.
    pub(crate) fn in_doubt(&self, what: &str) -> RunId {
        let run = self.start(what);
        self.until(run, |view| {
            let doubt = |call: &mainstay_runtime::view::CallView| call.state == "in_doubt";
            view.calls.iter().any(doubt)
        });
        run
    }

    /// Starts a run and waits until nobody drives it any more because its code panicked.
    pub(crate) fn quarantined(&self, what: &str) -> RunId {
        let run = self.start(what);
        self.until(run, |view| view.state == "quarantined");
        run
    }

    /// Waits until the run's view is as it should be.
    pub(crate) fn until(&self, run: RunId, is_so: impl Fn(&RunView) -> bool) {
        self.wait(async {
            while !is_so(&self.engine.view(run).await.unwrap()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// What the command line says while this program holds the store.
    pub(crate) fn ask(&self, args: &[&str]) -> Said {
        ask(self.folder.path(), args)
    }

    /// The program ends; the store is free.
    pub(crate) fn stop(self) -> TempDir {
        let Self {
            runtime,
            engine,
            folder,
            ..
        } = self;
        runtime.block_on(engine.shutdown(Millis::from_secs(1)));
        drop(runtime);
        folder
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let bounded = async { tokio::time::timeout(PATIENCE, future).await };
        self.runtime.block_on(bounded).expect("it comes in time")
    }
}
