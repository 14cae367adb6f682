//! What runs beside an engine and is over before it: the local socket is one.
//!
//! A companion holds its engine weakly, so that it never keeps a store locked that nobody uses any
//! more; and an engine never fails because of one. What a companion does is not known here.

use std::sync::{Arc, Weak};

use mainstay_types::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::shared::Shared;

/// Something that runs beside an engine.
pub trait Companion: Send {
    /// Begins, and completes once it is there; what goes on afterwards goes on in a task of its
    /// own, until `stay` is over. What goes wrong is logged and keeps no engine from starting. Need
    /// not be cancel safe: an engine whose start is dropped is gone, and `stay` is over.
    fn begin(self: Box<Self>, engine: WeakEngine, stay: Stay) -> BoxFuture<'static, ()>;
}

/// An engine that is not kept alive by being known.
#[derive(Clone)]
pub struct WeakEngine {
    shared: Weak<Shared>,
}

impl WeakEngine {
    /// The engine, as long as somebody else holds it or it drives runs. To be dropped soon.
    #[must_use]
    pub fn upgrade(&self) -> Option<Engine> {
        self.shared.upgrade().map(Engine::of)
    }
}

impl std::fmt::Debug for WeakEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WeakEngine")
    }
}

/// How long a companion stays. Dropped last, it says that the companion is gone.
#[derive(Debug)]
pub struct Stay {
    over: oneshot::Receiver<()>,
    _gone: oneshot::Sender<()>,
}

impl Stay {
    /// Completes when the engine is shut down or no longer there. Cancel safe; to be awaited once.
    pub async fn over(&mut self) {
        // Never sent: whichever way the engine ends, its half is dropped.
        let _ = (&mut self.over).await;
    }
}

/// The companions of one engine, as the engine knows them.
#[derive(Default)]
pub(crate) struct Companions {
    beside: Mutex<Vec<Beside>>,
}

struct Beside {
    over: oneshot::Sender<()>,
    gone: oneshot::Receiver<()>,
}

/// Lets every companion begin, one after the other.
pub(crate) async fn begin(shared: &Arc<Shared>, companions: Vec<Box<dyn Companion>>) {
    for companion in companions {
        let (over, told) = oneshot::channel();
        let (says_gone, gone) = oneshot::channel();
        let stay = Stay {
            over: told,
            _gone: says_gone,
        };
        let beside = Beside { over, gone };
        shared.companions.beside.lock().push(beside);
        let engine = WeakEngine {
            shared: Arc::downgrade(shared),
        };
        companion.begin(engine, stay).await;
    }
}

/// Tells every companion that it is over, and waits until all are gone.
pub(crate) async fn dismiss(shared: &Shared) {
    let beside = std::mem::take(&mut *shared.companions.beside.lock());
    let (over, gone): (Vec<_>, Vec<_>) = beside
        .into_iter()
        .map(|beside| (beside.over, beside.gone))
        .unzip();
    drop(over);
    for gone in gone {
        // Never sent: a companion that is gone has dropped its half.
        let _ = gone.await;
    }
}
