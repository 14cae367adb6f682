//! What reached a fake, and what it did: the facts a test asserts on.
//!
//! They are kept in the order of their arrival and never change afterwards.

use mainstay_dispatch::decode;
use mainstay_types::{AttemptNo, Epoch, Millis, Payload, RunId};
use serde::de::DeserializeOwned;

/// A request, or a look-up, as it reached a fake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When, since the world began.
    pub at: Millis,
    /// For which run.
    pub run: RunId,
    /// The call's path, with an item's position: `ticket_write[3]`.
    pub call: String,
    /// The how-manieth attempt of that call; of a look-up: of the attempt it is about.
    pub attempt: AttemptNo,
    /// The effect key as text; `None` for a read.
    pub key: Option<String>,
    /// The lease epoch of the run's owner, from 1; each take-over after a crash adds one.
    pub fence: Epoch,
    /// How long the attempt may take.
    pub time_left: Millis,
    /// The request's canonical JSON.
    pub body: Payload,
}

impl Asked {
    /// The request as a value.
    ///
    /// # Panics
    /// When it is no `T`: the test names another type than the class sends.
    #[track_caller]
    #[must_use]
    pub fn request<T: DeserializeOwned>(&self) -> T {
        decode(&self.body).unwrap_or_else(|error| panic!("the request of `{}`: {error}", self.call))
    }
}

/// A change that a fake made to its world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// When, since the world began.
    pub at: Millis,
    /// Under which effect key.
    pub key: String,
    /// For which request, in canonical JSON.
    pub request: Payload,
    /// The reply that was made then, in canonical JSON, whether it came back or not.
    pub reply: Payload,
}
