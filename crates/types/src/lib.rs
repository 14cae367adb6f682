//! The vocabulary of Mainstay: ids, units, limits, failure kinds, error codes and ports.
//!
//! Every other crate speaks in these types. This crate must never read a clock, draw a random
//! number, do I/O or know how anything is stored; with its default features it pulls in nothing
//! but `uuid` (without its generators) and `blake3`.

pub mod code;
pub mod effect_key;
pub mod failure;
pub mod ids;
pub mod json;
pub mod limits;
pub mod names;
pub mod payload;
pub mod ports;
pub mod reason;
pub mod refusal;
pub mod units;

pub use code::{Code, Family, RetryHelps};
pub use effect_key::{EffectKey, NotAKey, Position, Scope};
pub use failure::{Failure, FailureKind, Sent};
pub use ids::{
    AlertSeq, AttemptNo, CallId, Digest, Epoch, LapNo, MessageId, NodeId, RunId, Rung, Seq,
    WorkerId,
};
pub use names::{
    BusinessId, ClassName, ClassVersion, DependencyName, EffectName, NameError, NodeName, StartKey,
    Tenant,
};
pub use payload::Payload;
pub use ports::{BoxFuture, Clock, IdSource, Rng, Spawner, Timers};
pub use reason::Reason;
pub use refusal::{Corrupt, Refusal};
pub use units::{CostUnits, Millis, Timestamp, Tokens};
