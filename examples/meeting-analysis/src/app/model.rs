//! The model that the command line names, if it names one.
//!
//! It must never take a key from anywhere but the environment.

use std::net::IpAddr;

use mainstay::Class;
use mainstay::model::{Model, ModelError, ModelRead};
use mainstay::types::DependencyName;

use crate::app::args::Args;
use crate::local::SUMMARISER;
use crate::minutes::Meeting;
use crate::model;
use crate::report::Report;
use crate::summarise::Draft;
use crate::wire::DraftRequest;

/// What a model puts behind the class's summariser.
pub type Drafting = ModelRead<DraftRequest, Draft>;

/// The variable that `mainstay::model` reads unless it is told otherwise.
const KEY_VARIABLE: &str = mainstay::model::key::KEY_VARIABLE_DEFAULT;
/// In place of a variable: no key is sent.
const NO_KEY: &str = "none";

/// The model's draft, when a model is asked for. Connects to nothing.
///
/// # Errors
/// Its address or its key cannot be used.
pub fn asked_for(args: &Args) -> Result<Option<Drafting>, ModelError> {
    let Some(url) = &args.model_url else {
        return Ok(None);
    };
    let builder = Model::builder(url, &args.model);
    let builder = match args.model_key.as_deref() {
        Some(NO_KEY) => builder.keyless(),
        Some(variable) => builder.key_variable(variable),
        None if is_here(url) && std::env::var_os(KEY_VARIABLE).is_none() => builder.keyless(),
        None => builder,
    };
    let builder = match args.model_price {
        Some(price) => builder.price(price),
        None => builder,
    };
    let builder = builder.parameter("temperature", 0);
    model::draft(&builder.build()?, &args.model).map(Some)
}

/// The class with the model in the summariser's place. Data and fingerprint stay: a run may begin
/// with one and go on with the other.
#[must_use]
pub fn behind(class: Class<Meeting, Report>, draft: Option<&Drafting>) -> Class<Meeting, Report> {
    let Some(draft) = draft else {
        return class;
    };
    let name = DependencyName::new(SUMMARISER).expect("a constant that keeps the rules");
    class
        .replace_read(&name, draft.clone())
        .expect("the class drafts with it")
}

/// Whether the address is one of this machine's own loopback.
fn is_here(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| {
        let host = url.host_str()?.trim_matches(['[', ']']);
        Some(host.to_owned())
    });
    host.is_some_and(|host| {
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loopback_is_here() {
        for url in [
            "http://127.0.0.1:1/v1",
            "http://localhost",
            "http://[::1]:1",
        ] {
            assert!(is_here(url), "{url}");
        }
        for url in [
            "http://127.0.0.1.example",
            "https://models.example/v1",
            "nonsense",
        ] {
            assert!(!is_here(url), "{url}");
        }
    }
}
