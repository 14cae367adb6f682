//! What is out for a run: attempts and look-ups, each named, so that the loop can tell what is new
//! and what has vanished.

use std::collections::BTreeMap;

use mainstay_machine::Run;
use mainstay_types::{AttemptNo, CallId};
use tokio_util::sync::CancellationToken;

/// Something that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doing {
    Attempt(CallId, AttemptNo),
    LookUp(CallId, u32),
}

impl Doing {
    /// The call it is out for.
    pub(crate) const fn call(self) -> CallId {
        match self {
            Self::Attempt(call, _) | Self::LookUp(call, _) => call,
        }
    }
}

/// Attempts that were out before a task came to drive `run`: they were sent, perhaps a moment ago,
/// and count as out until it is durable what became of them. The same attempt is never sent again.
pub(crate) fn before(run: &Run) -> BTreeMap<Doing, CancellationToken> {
    let out = run.calls().in_flight();
    let doing = out.filter_map(|(call, out)| Some(Doing::Attempt(call, out.in_flight()?.no)));
    doing
        .map(|doing| (doing, CancellationToken::new()))
        .collect()
}
