//! A dependency that asks a model.
//!
//! It must never hand out an answer that breaks its schema or was cut short, and never ask twice.

use std::fmt;
use std::sync::Arc;

use mainstay_dispatch::{Answer, AttemptContext, Failure, Promise, Read, Value};
use serde_json::Value as Json;

use crate::classify::{self, Answered, codes};
use crate::error::ModelError;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::schema::{Schema, Wrong};

/// Makes the prompt of a request.
type Prompts<Q> = Arc<dyn Fn(&Q) -> Prompt + Send + Sync>;
/// Makes the reply of a model's text.
type Reads<R> = Arc<dyn Fn(&str) -> Result<R, Wrong> + Send + Sync>;
/// Checks, or puts right, the reply to a request.
type Grounds<Q, R> = Arc<dyn Fn(&Q, R) -> Result<R, &'static str> + Send + Sync>;

/// A [`Read`]: asks a model with the prompt made from `Q`, answers with `R`. See
/// [`crate::classify`] for its failures.
pub struct ModelRead<Q, R> {
    name: Arc<str>,
    model: Model,
    prompt: Prompts<Q>,
    /// `response_format`, where an object is asked for.
    form: Option<Json>,
    reads: Reads<R>,
    grounds: Option<Grounds<Q, R>>,
    promise: Promise,
}

impl<Q: Value> ModelRead<Q, String> {
    /// Asks for text.
    pub fn text(
        name: impl Into<String>,
        model: &Model,
        prompt: impl Fn(&Q) -> Prompt + Send + Sync + 'static,
    ) -> Self {
        Self::with(name.into(), model, Arc::new(prompt), |text| {
            Ok(text.to_owned())
        })
    }
}

impl<Q: Value, R: Value> ModelRead<Q, R> {
    /// Asks for an object of `R`'s schema, and checks the answer against it.
    ///
    /// # Errors
    /// SCHEMA_INVALID: the schema is no object's, is larger than
    /// `limits::MODEL_SCHEMA_BYTES_MAX`, or is none.
    pub fn structured(
        name: impl Into<String>,
        model: &Model,
        prompt: impl Fn(&Q) -> Prompt + Send + Sync + 'static,
    ) -> Result<Self, ModelError> {
        let schema = Schema::of::<R>()?;
        let form = Some(schema.form());
        let reads = move |text: &str| schema.read(text);
        Ok(Self {
            form,
            ..Self::with(name.into(), model, Arc::new(prompt), reads)
        })
    }

    fn with(
        name: String,
        model: &Model,
        prompt: Prompts<Q>,
        reads: impl Fn(&str) -> Result<R, Wrong> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            model: model.clone(),
            prompt,
            form: None,
            reads: Arc::new(reads),
            grounds: None,
            promise: Promise::new(),
        }
    }

    /// Sends the schema as `strict`: the server is to enforce it to the letter. Servers take only
    /// some schemas so; for others they answer 400, which is INVALID_INPUT. No effect on text.
    #[must_use]
    pub fn strict(mut self) -> Self {
        if let Some(form) = &mut self.form {
            form["json_schema"]["strict"] = Json::Bool(true);
        }
        self
    }

    /// Holds each answer against its request: the check may put it right, for example leave out
    /// what the request does not bear out, or refuse it. What it says then goes into the failure's
    /// message, RESULT_INVALID; being a constant it cannot repeat data.
    ///
    /// It must be a pure function of its arguments.
    #[must_use]
    pub fn grounded(
        mut self,
        check: impl Fn(&Q, R) -> Result<R, &'static str> + Send + Sync + 'static,
    ) -> Self {
        self.grounds = Some(Arc::new(check));
        self
    }

    /// Says what the model promises. Default: [`Promise::new`].
    #[must_use]
    pub fn with_promise(mut self, promise: Promise) -> Self {
        self.promise = promise;
        self
    }

    /// The reply in the model's text.
    fn reply(&self, request: &Q, text: &str) -> Result<R, Wrong> {
        let reply = (self.reads)(text)?;
        match &self.grounds {
            Some(check) => check(request, reply).map_err(|why| {
                let why = format!("the answer is not borne out by the request: {why}");
                (codes::ANSWER_UNGROUNDED, why)
            }),
            None => Ok(reply),
        }
    }
}

impl<Q: Value, R: Value> Read for ModelRead<Q, R> {
    type Request = Q;
    type Reply = R;

    fn name(&self) -> &str {
        &self.name
    }

    async fn call(&self, request: Q, cx: &AttemptContext) -> Result<Answer<R>, Failure> {
        let prompt = (self.prompt)(&request);
        let reply = self.model.ask(&prompt, self.form.as_ref(), cx).await?;
        let Answered { text, usage } = classify::answered(&reply, &self.model)?;
        let cost = self.model.cost(usage);
        if cost.is_none() && self.model.has_price() {
            tracing::warn!(
                run = %cx.run, call = %cx.call, attempt = cx.attempt.0,
                "the model's reply counts no tokens; the attempt costs what its contract expects"
            );
        }
        match self.reply(&request, &text) {
            Ok(value) => Ok(Answer {
                cost,
                ..Answer::new(value)
            }),
            Err((code, why)) => {
                let failure = classify::unusable(&reply, code, &why);
                Err(classify::priced(failure, cost))
            }
        }
    }

    fn promise(&self) -> Promise {
        self.promise.clone()
    }
}

impl<Q, R> Clone for ModelRead<Q, R> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            model: self.model.clone(),
            prompt: Arc::clone(&self.prompt),
            form: self.form.clone(),
            reads: Arc::clone(&self.reads),
            grounds: self.grounds.clone(),
            promise: self.promise.clone(),
        }
    }
}

impl<Q, R> fmt::Debug for ModelRead<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelRead({} {:?})", self.name, self.model)
    }
}
