//! Chat completions of an OpenAI-compatible server as a dependency: [`ModelRead`].
//!
//! One attempt is one request: the crate never retries, never asks the model to mend its answer and
//! never hides what an attempt cost; all three are the run's to decide and to count. The key comes
//! from the environment, is read once when the model is built, and is never stored or shown. What a
//! model said is never put into a message either: failures name places of the schema and codes of
//! this crate. What each ending means is one table, in [`classify`].
//!
//! ```
//! use mainstay_model::{Model, ModelRead, Price, Prompt};
//! use mainstay_types::CostUnits;
//! #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! struct Digest {
//!     /// One sentence.
//!     gist: String,
//!     decisions: Vec<String>,
//! }
//! # fn main() -> Result<(), mainstay_model::ModelError> {
//! let model = Model::builder("http://127.0.0.1:8080/v1", "small-instruct")
//!     .keyless()
//!     .price(Price::per_thousand(CostUnits::milli(150), CostUnits::milli(600)))
//!     .parameter("temperature", 0)
//!     .parameter("max_completion_tokens", 2_000)
//!     .build()?;
//! let digest = ModelRead::<String, Digest>::structured("digest", &model, |minutes| {
//!     Prompt::new()
//!         .system("Answer with what the minutes say, and with nothing else.")
//!         .user(minutes)
//! })?;
//! # let _ = digest;
//! # Ok(())
//! # }
//! ```
//!
//! # Structured answers
//!
//! [`ModelRead::structured`] sends the JSON Schema of the reply's type as `response_format` and
//! checks the answer against that same schema: whether a server enforces it, ignores it or does not
//! know it, what reaches the run keeps it. [`ModelRead::grounded`] adds a check of one's own, for
//! example that a name which is said to stand in the request does stand there.
//!
//! # Cost
//!
//! With a [`Price`], the tokens that the server counted are the attempt's cost, also where the
//! answer cannot be used. A reply that counts none costs what the contract expects, and a warning
//! in the log says so.
//!
//! # What is not done
//!
//! Streaming (a run keeps whole answers only), tools and tool calls, several choices, pictures and
//! sound, embeddings, the Responses API, Azure's form of addresses and keys, prices of cached
//! prompt tokens (they cost what others do). `strict` schemas are sent as the type has them:
//! whether the server takes them is the type's business.

pub mod bounds;
pub mod classify;
pub mod error;
pub mod key;
pub mod model;
pub mod price;
pub mod prompt;
pub mod read;

mod completion;
mod schema;

pub use error::ModelError;
pub use model::{Model, ModelBuilder};
pub use price::{Price, Usage};
pub use prompt::{Message, Prompt, Role};
pub use read::ModelRead;
