//! A model behind a server: address, name, key, price, parameters of every request.
//!
//! It must never keep the key where it can be printed, and never send a parameter that decides what
//! an attempt is: how many answers, whether they stream, in which form they come.

use std::sync::Arc;

use mainstay_dispatch::{AttemptContext, CostUnits, Failure};
use mainstay_http::classify::{Deed, Ending, failure};
use mainstay_http::{HttpClient, HttpClientBuilder, HttpReply, RequestParts};
use mainstay_types::{Clock, Millis};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::bounds::{MESSAGES_MAX, PARAMETERS_MAX, REPLY_BYTES_MAX};
use crate::error::ModelError;
use crate::key::{KEY_VARIABLE_DEFAULT, KeySource};
use crate::price::{Price, Usage};
use crate::prompt::Prompt;

/// What this crate itself says in a request.
const OURS: [&str; 11] = [
    "model",
    "messages",
    "response_format",
    "stream",
    "stream_options",
    "n",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "store",
];

/// A model; clones share its connections. Its `Debug` shows address and name.
#[derive(Clone, Debug)]
pub struct Model(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: HttpClient,
    /// The fields that every request has.
    request: Map<String, Value>,
    price: Option<Price>,
}

/// Builds a [`Model`]; see [`Model::builder`].
#[must_use = "a builder does nothing until `build`"]
pub struct ModelBuilder {
    http: HttpClientBuilder,
    name: String,
    key: KeySource,
    price: Option<Price>,
    parameters: Vec<(String, Result<Value, serde_json::Error>)>,
}

impl Model {
    /// The model `name` at `base_url`, which is what OpenAI's clients call so: the address with its
    /// version, for example `http://127.0.0.1:8080/v1`. One without any path means `/v1`.
    ///
    /// `https` needs the feature `tls`. The key is read from `OPENAI_API_KEY` when the model is
    /// built, unless the builder is told otherwise.
    pub fn builder(base_url: impl Into<String>, name: impl Into<String>) -> ModelBuilder {
        ModelBuilder {
            http: HttpClient::builder(versioned(base_url.into())).reply_bytes_max(REPLY_BYTES_MAX),
            name: name.into(),
            key: KeySource::Variable(KEY_VARIABLE_DEFAULT.to_owned()),
            price: None,
            parameters: Vec::new(),
        }
    }

    /// Asks once; the reply has any status.
    pub(crate) async fn ask(
        &self,
        prompt: &Prompt,
        form: Option<&Value>,
        cx: &AttemptContext,
    ) -> Result<HttpReply, Failure> {
        let messages = prompt.messages();
        if messages.is_empty() || MESSAGES_MAX < messages.len() {
            let count = messages.len();
            let why = format!("the prompt has {count} messages; 1 to {MESSAGES_MAX} can be sent");
            return Err(failure(Ending::Unsendable, Deed::Reads).message(why));
        }
        let body = Body {
            messages,
            response_format: form,
            rest: &self.0.request,
        };
        let parts = RequestParts::path(["chat", "completions"]).json(&body);
        self.0.http.ask(parts, cx).await
    }

    /// What a reply with this usage cost; `None`: nobody can tell.
    pub(crate) fn cost(&self, usage: Option<Usage>) -> Option<CostUnits> {
        Some(self.0.price?.of(usage?))
    }

    /// Whether tokens have a price here.
    pub(crate) fn has_price(&self) -> bool {
        self.0.price.is_some()
    }
}

/// One request's body.
#[derive(Serialize)]
struct Body<'a> {
    messages: &'a [crate::prompt::Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<&'a Value>,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

impl ModelBuilder {
    /// Reads the key from this environment variable instead of `OPENAI_API_KEY`.
    pub fn key_variable(mut self, variable: impl Into<String>) -> Self {
        self.key = KeySource::Variable(variable.into());
        self
    }

    /// Sends no key, for a server that wants none. No variable is read.
    pub fn keyless(mut self) -> Self {
        self.key = KeySource::Keyless;
        self
    }

    /// Sets what tokens cost. Without it each attempt costs what its contract expects.
    pub const fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Sends this parameter with every request, for example `temperature` or
    /// `max_completion_tokens`. The last one of a name counts; at most
    /// `limits::MODEL_PARAMETERS_MAX`.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value);
        self.parameters.push((name.into(), value));
        self
    }

    /// Sends this header with every request, for example `OpenAI-Organization`. Its value is no
    /// secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.http = self.http.header(name, value);
        self
    }

    /// Sets how long a connection may take; see [`HttpClientBuilder::connect_timeout`].
    pub fn connect_timeout(mut self, timeout: Millis) -> Self {
        self.http = self.http.connect_timeout(timeout);
        self
    }

    /// Lowers the bound of a reply, in bytes. Default and most: `limits::MODEL_REPLY_BYTES_MAX`.
    pub fn reply_bytes_max(mut self, bytes: usize) -> Self {
        self.http = self.http.reply_bytes_max(bytes.min(REPLY_BYTES_MAX));
        self
    }

    /// Sets the clock against which a `Retry-After` date is taken when the reply has no `Date`.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.http = self.http.clock(clock);
        self
    }

    /// Builds the model: reads the key, connects to nothing.
    ///
    /// # Errors
    /// See [`ModelError`]: a missing key is MODEL_KEY_MISSING.
    pub fn build(self) -> Result<Model, ModelError> {
        let request = request_of(self.name, self.parameters)?;
        let http = match self.key.authorization()? {
            Some(key) => self.http.secret_header("Authorization", key),
            None => self.http,
        };
        Ok(Model(Arc::new(Inner {
            http: http.build()?,
            request,
            price: self.price,
        })))
    }
}

fn request_of(
    name: String,
    parameters: Vec<(String, Result<Value, serde_json::Error>)>,
) -> Result<Map<String, Value>, ModelError> {
    if PARAMETERS_MAX < parameters.len() {
        let count = parameters.len();
        return Err(ModelError::TooManyParameters { count });
    }
    let mut request = Map::new();
    for (name, value) in parameters {
        let refused = |why| {
            let name = name.clone();
            Err(ModelError::Parameter { name, why })
        };
        if OURS.contains(&name.as_str()) {
            return refused("is this crate's own to say");
        }
        match value {
            Ok(value) => request.insert(name, value),
            Err(_) => return refused("has no JSON"),
        };
    }
    request.insert("model".to_owned(), Value::String(name));
    Ok(request)
}

/// The address with its version, for one that has no path at all.
fn versioned(base_url: String) -> String {
    let path = base_url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or("", |(_, path)| path);
    if path.is_empty() && !base_url.contains(['?', '#']) {
        return format!("{}/v1", base_url.trim_end_matches('/'));
    }
    base_url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: ModelBuilder) -> ModelError {
        builder.keyless().build().expect_err("refused")
    }

    #[test]
    fn an_address_without_a_path_means_the_first_version() {
        for (given, meant) in [
            ("http://h:1", "http://h:1/v1"),
            ("http://h:1/", "http://h:1/v1"),
            ("http://h:1/v1", "http://h:1/v1"),
            ("http://h:1/api/v1/", "http://h:1/api/v1/"),
            ("http://h?x", "http://h?x"),
        ] {
            assert_eq!(versioned(given.to_owned()), meant);
        }
    }

    #[test]
    fn what_decides_what_an_attempt_is_cannot_be_a_parameter() {
        for name in OURS {
            let error = refused(Model::builder("http://h", "m").parameter(name, 2));
            assert!(error.to_string().contains(name), "{error}");
        }
        let key_is_text = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = refused(Model::builder("http://h", "m").parameter("a", key_is_text));
        assert!(error.to_string().ends_with("has no JSON"), "{error}");
        let many = (0..=PARAMETERS_MAX).fold(Model::builder("http://h", "m"), |builder, i| {
            builder.parameter(format!("p{i}"), i)
        });
        assert_eq!(refused(many), ModelError::TooManyParameters { count: 33 });
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_with_code_and_hint() {
        let builder = Model::builder("http://h", "m").key_variable("MAINSTAY_NO_SUCH_KEY");
        let error = builder.build().expect_err("no such variable");
        assert_eq!(error.code().as_str(), "MODEL_KEY_MISSING");
        let text = error.to_string();
        assert!(
            text.contains("MAINSTAY_NO_SUCH_KEY is not set\n\nhint: "),
            "{text}"
        );
    }

    #[test]
    fn an_address_that_cannot_be_asked_is_refused_without_repeating_it() {
        let error = refused(Model::builder("http://kim:swordfish@h/v1", "m"));
        let text = format!("{error} {error:?}");
        assert!(
            text.starts_with("INVALID_INPUT: ") && !text.contains("swordfish"),
            "{text}"
        );
    }
}
