//! The draft by a model: the same request, the same reply and the same place in the class as the
//! local summariser, so that a run does not notice which of the two answers.
//!
//! What a model says is a proposal. It must never reach a ticket unless the minutes bear it out:
//! `ground` holds every statement against the line that it quotes.

mod ground;
mod prompt;

use mainstay::model::{Model, ModelError, ModelRead};

use crate::local::SUMMARISER;
use crate::summarise::Draft;
use crate::wire::DraftRequest;

/// The draft, by `model`, which is called `name` in the report.
///
/// # Errors
/// The draft's schema cannot be asked for.
pub fn draft(model: &Model, name: &str) -> Result<ModelRead<DraftRequest, Draft>, ModelError> {
    let method = format!("model {name}");
    let read = ModelRead::structured(SUMMARISER, model, prompt::of)?;
    Ok(read.grounded(move |request, draft| ground::grounded(request, draft, &method)))
}
