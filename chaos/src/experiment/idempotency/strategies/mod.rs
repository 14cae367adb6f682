//! The ways that are compared, a file each, in the order of the table.
//!
//! To add one: a file here with a `Strategy` and its `Wrapper`, and a line in [`all`]. A strategy
//! must never be given an easier time than the others: its faults are those of `faults.toml`.

mod arguments;
mod bare;
mod call_id;
mod mainstay;
mod run;

use std::sync::Arc;

pub use arguments::KeyFromArguments;
pub use bare::{NoRetries, RetriesWithoutKeys};
pub use call_id::KeyPerCallId;
pub use mainstay::Mainstay;
pub use run::KeyFromRun;

use super::strategy::Strategy;

/// All strategies, in the order of the table.
#[must_use]
pub fn all() -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(NoRetries),
        Arc::new(RetriesWithoutKeys),
        Arc::new(KeyPerCallId),
        Arc::new(KeyFromArguments),
        Arc::new(KeyFromRun),
        Arc::new(Mainstay::with_business_id()),
        Arc::new(Mainstay::without_business_id()),
        Arc::new(Mainstay::with_search_alone()),
    ]
}
