//! From permit to provider: what an attempt passes on its way out, and how its end is told.
//!
//! Users implement [`Read`] and [`Write`]; the engine sees [`Provider`]s behind a [`Stack`] of
//! tower layers. Time comes from ports only: nothing here may read a clock, start concurrent work
//! or decide what follows a failure. It only makes sure that what is told of an attempt is true.

pub mod context;
pub mod ending;
pub mod layers;
pub mod look_up;
pub mod panics;
pub mod permit;
pub mod promise;
pub mod provider;
pub mod stack;
pub mod trace_context;
pub mod traits;
pub mod value;

mod race;
mod spans;

pub use context::{AttemptContext, AttemptFacts};
pub use ending::{ResultExt, codes, unclassified};
pub use look_up::look_up;
pub use panics::{caught_now, hide_panic_texts};
pub use permit::Permit;
pub use promise::{Keys, Promise};
pub use provider::{Provider, RawAnswer, ReadProvider, WriteProvider};
pub use stack::{AttemptRequest, AttemptService, BoxError, Stack};
pub use trace_context::{SpanId, TraceContext};
pub use traits::{Answer, Found, Read, Write};
pub use value::{Value, ValueError, decode, encode};

// What an implementation of the traits needs to name, so that one crate is enough.
pub use mainstay_graph::{Backoff, CancelSemantics, Resolution};
pub use mainstay_types::{CostUnits, Failure, FailureKind, Millis, Sent};
