//! Alerts: what a person or the host should hear of, read from the ledger.
//!
//! At least once: the reader keeps the number of the last alert it has handled, and asks for what
//! came after it. Nothing here remembers who has read what.

use mainstay_ledger::{Page, StoredAlert};
use mainstay_types::AlertSeq;

use crate::error::EngineError;
use crate::shared::Shared;

/// Alerts after `after`, without waiting.
pub(crate) async fn read(
    shared: &Shared,
    after: AlertSeq,
) -> Result<Page<StoredAlert>, EngineError> {
    Ok(shared.ledger.alerts(after).await?)
}

/// Waits until there is an alert after `after`.
pub(crate) async fn wait(
    shared: &Shared,
    after: AlertSeq,
) -> Result<Page<StoredAlert>, EngineError> {
    // Listening begins before reading, so that none falls between the two.
    let mut knocks = shared.ledger.knocks();
    loop {
        let page = shared.ledger.alerts(after).await?;
        if !page.rows.is_empty() {
            return Ok(page);
        }
        while !knocks.next().await.alerts {}
    }
}
