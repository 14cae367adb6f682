//! One process: an engine, what it has in memory, and the callers that hang on it.

use std::sync::Arc;

use mainstay_runtime::{Engine, EngineBuilder, Ports};
use mainstay_sim::Executor;
use mainstay_types::{Clock, Millis, Spawner};
use parking_lot::Mutex;

use super::Stage;
use super::book::Order;

/// See the module.
pub(crate) struct Life {
    pub(crate) executor: Executor,
    engine: Arc<Mutex<Option<Engine>>>,
}

impl Life {
    /// A process begins: its engine starts when the executor runs, and then its callers call.
    pub(crate) fn begin(stage: &Stage, orders: &[Order]) -> Self {
        let now = stage.timers.clock().monotonic();
        stage.lives.lock().push(now);
        let executor = Executor::new(stage.timers.clone()).polls_max(super::POLLS_MAX);
        let engine = Arc::new(Mutex::new(None));
        let life = Self { executor, engine };
        let spawner = life.executor.spawner();
        let ports = Ports {
            clock: Arc::new(stage.timers.clock().clone()),
            timers: Arc::new(stage.timers.clone()),
            spawner: Arc::new(spawner.clone()),
            rng: Arc::clone(&stage.rng) as _,
            ids: Arc::clone(&stage.ids) as _,
        };
        let (place, stage, orders) = (Arc::clone(&life.engine), stage.clone(), orders.to_vec());
        spawner.clone().spawn(Box::pin(async move {
            let Some(engine) = started(&stage, ports).await else {
                return;
            };
            *place.lock() = Some(engine.clone());
            for order in orders {
                let call = stage.callers.call(engine.clone(), order, stage.desk());
                spawner.spawn(call);
            }
        }));
        life
    }

    /// The engine, once it has started.
    pub(crate) fn engine(&self) -> Option<Engine> {
        self.engine.lock().clone()
    }

    /// Everything in memory is gone.
    pub(crate) fn crash(self) {
        // The place outlives the strands; the engine's own drop may still ask for them.
        let engine = self.engine.lock().take();
        drop(engine);
        self.executor.crash();
    }
}

/// The engine, as soon as its store lets it start.
async fn started(stage: &Stage, ports: Ports) -> Option<Engine> {
    const AGAIN_AFTER: Millis = Millis::new(200);
    loop {
        let builder = EngineBuilder::new(Arc::clone(&stage.ledger), ports.clone())
            .register_erased(Arc::clone(&stage.class))
            .core(Arc::clone(&stage.core));
        match builder.start().await {
            Ok(engine) => return Some(engine),
            Err(_) => ports.timers.sleep(AGAIN_AFTER).await,
        }
    }
}
