//! Code of a run that is being executed, marked for whoever comes after an abort.
//!
//! A panic is caught where it happens; an abort of the process is not. What was executing then is
//! told by the marks of the ledger, so the class's code and everything an attempt runs stand under
//! one. A mark covers executing, never waiting.

use std::future::poll_fn;
use std::pin::pin;

use mainstay_types::RunId;

use crate::shared::Shared;

/// Runs `act` under a mark of `run`.
pub(crate) fn marked<T>(shared: &Shared, run: RunId, act: impl FnOnce() -> T) -> T {
    let _mark = shared.ledger.mark(run);
    act()
}

/// Runs `future`, each poll of it under a mark of `run`.
pub(crate) async fn marked_polls<T>(
    shared: &Shared,
    run: RunId,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _mark = shared.ledger.mark(run);
        future.as_mut().poll(context)
    })
    .await
}
