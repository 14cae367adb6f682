//! A receiver without keys that nobody but a person can ask, and the wrapper that keeps it from
//! doing things twice where it can.
//!
//! Before it sends it looks whether the key has a result in a table of its own, and whether the
//! business id stands in what the receiver exports. What it gets it stores. Between the receiver's
//! deed and that there is a gap: it closes only when the export has caught up, and until then
//! "not there" proves nothing. So a doubt is never resolved from here: a person says what is so.

use std::fs;
use std::path::{Path, PathBuf};

use mainstay::dispatch::{Promise, Resolution};
use mainstay::http::{HttpClient, SearchedWrite};
use mainstay::{AttemptContext, Failure, FailureKind, Found, Reply, Sent, Write};
use serde::{Deserialize, Serialize};

use super::writes::{Order, Receipt, operation_id, searched};

/// The wrapper around a mute receiver.
#[derive(Clone)]
pub struct ByHuman {
    write: SearchedWrite<Order, Receipt>,
    table: PathBuf,
}

/// A line of the table.
#[derive(Serialize, Deserialize)]
struct Stored {
    key: String,
    receipt: Receipt,
}

impl ByHuman {
    /// The wrapper for the receiver of this client, with its table in this file.
    #[must_use]
    pub fn new(client: &HttpClient, table: &Path) -> Self {
        Self {
            write: searched("by_human", client, &["mute"], &["mute", "export"]),
            table: table.to_owned(),
        }
    }

    /// The result that was stored under a key.
    fn stored(&self, key: &str) -> Option<Receipt> {
        let text = fs::read_to_string(&self.table).unwrap_or_default();
        let lines = text.lines().rev();
        let mut stored = lines.filter_map(|line| serde_json::from_str::<Stored>(line).ok());
        stored
            .find(|stored| stored.key == key)
            .map(|stored| stored.receipt)
    }

    fn store(&self, key: String, receipt: &Receipt) -> std::io::Result<()> {
        use std::io::Write as _;
        let receipt = receipt.clone();
        let line = serde_json::to_string(&Stored { key, receipt })?;
        let mut table = fs::OpenOptions::new();
        let mut table = table.create(true).append(true).open(&self.table)?;
        table.write_all(format!("{line}\n").as_bytes())?;
        table.sync_data()
    }
}

impl Write for ByHuman {
    type Request = Order;
    type Reply = Receipt;
    const RESOLUTION: Resolution = Resolution::ByHuman;

    fn name(&self) -> &str {
        self.write.name()
    }

    async fn send(&self, order: Order, cx: &AttemptContext) -> Result<Reply<Receipt>, Failure> {
        let key = operation_id(cx)?;
        if let Some(receipt) = self.stored(&key) {
            return Ok(receipt.into());
        }
        // Without a look nothing is sent, and that is proof that nothing was.
        let looked = self.write.find(order.clone(), cx).await;
        let receipt = match looked.map_err(|failure| not_sent(&failure))? {
            Found::Applied(receipt) => receipt,
            Found::NotFound => self.write.send(order, cx).await?.value,
            Found::InProgress | Found::Partly | Found::CannotTell => {
                return Err(Failure::new(FailureKind::Overloaded, Sent::NotSent));
            }
        };
        // Where this fails, or the process dies here, the doubt is a person's.
        let stored = self.store(key, &receipt);
        stored.map_err(|_| Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent))?;
        Ok(receipt.into())
    }

    async fn find(&self, _: Order, _: &AttemptContext) -> Result<Found<Receipt>, Failure> {
        Ok(Found::CannotTell)
    }

    fn promise(&self) -> Promise {
        self.write.promise()
    }
}

fn not_sent(failure: &Failure) -> Failure {
    Failure::new(failure.kind, Sent::NotSent)
}
