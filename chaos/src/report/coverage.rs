//! What befell what: a fault, a call, a state.

use serde::Serialize;

use crate::fault::Kind;

/// How often a kind of fault changed something for a call in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The kind.
    pub fault: Kind,
    /// The call's path without an item's position; `-` for what befalls no call.
    pub call: String,
    /// The state: of the attempt for a call, else of the world's first run.
    pub state: &'static str,
    /// How often.
    pub hits: u64,
}
