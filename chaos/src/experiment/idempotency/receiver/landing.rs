//! How a request gets from its arrival to the table, and its reply out: with the fate it drew.
//!
//! A request that arrived is done whether or not somebody still waits for its reply. It must never
//! be done behind the bound: that is what lets a sender ever believe "not found".

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::time::{sleep, sleep_until};
use tokio_util::task::TaskTracker;

use super::super::awake::awake;
use super::super::draw::{Ask, Draws, Fate, Intent};
use super::super::faults::Faults;
use super::Keys;
use super::api::{OrderRequest, Placed};
use super::table::{Table, Truth};

/// How sending an order ended at the receiver.
pub(super) enum Landed {
    Placed(Placed),
    /// The key was used for something else.
    Mismatch,
    /// Its turn came behind the bound.
    Expired,
}

/// How a key stands.
pub(super) enum Standing {
    Applied(Placed),
    InProgress,
    NotFound,
}

/// The receiver behind its routes.
pub(super) struct Desk {
    faults: Faults,
    draws: Draws,
    pub(super) keys: Keys,
    table: Mutex<Table>,
    landings: TaskTracker,
}

impl Desk {
    pub(super) fn new(faults: Faults, draws: Draws, keys: Keys) -> Self {
        Self {
            faults,
            draws,
            keys,
            table: Mutex::default(),
            landings: TaskTracker::new(),
        }
    }

    /// Places an order with the fate it draws.
    pub(super) async fn send(
        self: Arc<Self>,
        intent: Intent,
        key: Option<String>,
        request: OrderRequest,
    ) -> Landed {
        let arrived = Instant::now();
        let fate = {
            let mut table = self.table.lock();
            let nth = table.arrives(Ask::Send, intent);
            let fate = self.draws.fate(Ask::Send, intent, nth);
            table.sends += 1;
            table.sends_struck += u64::from(fate != Fate::InTime);
            fate
        };
        let desk = Arc::clone(&self);
        let land = async move { desk.land(intent, key, request, arrived).await };
        self.with_fate(fate, arrived, land).await
    }

    /// Answers a question about an order with the fate it draws.
    pub(super) async fn look_up<T: Send + 'static>(
        self: Arc<Self>,
        intent: Intent,
        look: impl FnOnce(&Table) -> T + Send + 'static,
    ) -> T {
        let arrived = Instant::now();
        let nth = self.table.lock().arrives(Ask::LookUp, intent);
        let fate = self.draws.fate(Ask::LookUp, intent, nth);
        let desk = Arc::clone(&self);
        let land = async move { look(&desk.table.lock()) };
        self.with_fate(fate, arrived, land).await
    }

    /// Does `land` when its fate says so. What is late is done on its own: its client goes away
    /// before the reply, and the server then drops whatever is still waiting to answer it.
    async fn with_fate<T: Send + 'static>(
        &self,
        fate: Fate,
        arrived: Instant,
        land: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (lands, answers) = match fate {
            Fate::InTime => (Duration::ZERO, Duration::ZERO),
            Fate::Late { lands, answers } => (lands, answers),
            // No reply ever: the connection stays open until the client gives up.
            Fate::Lost => return pending().await,
        };
        let landed = self.landings.spawn(async move {
            sleep_until((arrived + lands).into()).await;
            land.await
        });
        // A landing goes by the clock, because of the bound; a reply by what its client counts.
        let (landed, ()) = tokio::join!(landed, awake(answers));
        landed.expect("a landing does not panic")
    }

    async fn land(
        &self,
        intent: Intent,
        key: Option<String>,
        request: OrderRequest,
        arrived: Instant,
    ) -> Landed {
        if self.faults.bound() < arrived.elapsed() + self.faults.work() {
            self.table.lock().sends_expired += 1;
            return Landed::Expired;
        }
        let execute = async || {
            sleep(self.faults.work()).await;
            self.table.lock().execute(intent, &request, arrived)
        };
        let Some(key) = key.filter(|_| self.keys == Keys::Honoured) else {
            return Landed::Placed(execute().await);
        };
        let entry = self.table.lock().claim(&key, &request);
        if !entry.fits(&request) {
            return Landed::Mismatch;
        }
        // Whoever is second waits for the first, which is never dropped: it is a landing, too.
        Landed::Placed(entry.result.get_or_init(execute).await.clone())
    }

    /// Waits until nothing that was sent can land any more.
    pub(super) async fn settled(&self) -> Truth {
        sleep(self.faults.horizon()).await;
        self.landings.close();
        self.landings.wait().await;
        self.table.lock().truth()
    }
}

/// How a key stands in the table.
pub(super) fn standing(table: &Table, key: &str) -> Standing {
    match table.entry(key) {
        None => Standing::NotFound,
        Some(entry) => entry.result.get().map_or(Standing::InProgress, |placed| {
            Standing::Applied(placed.clone())
        }),
    }
}
