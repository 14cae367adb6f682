//! Asking a service over HTTP, from a test that is not async.
//!
//! It must never be the way a program under test asks: it has no key, no retry and no budget.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The JSON at this address.
///
/// # Errors
/// Nobody answers, or not with 2xx and JSON.
pub fn get(url: &str) -> Result<Value, reqwest::Error> {
    ask(|client| client.get(url))
}

/// Posts JSON; the JSON of the reply.
///
/// # Errors
/// As [`get`].
pub fn post(url: &str, body: &Value) -> Result<Value, reqwest::Error> {
    ask(|client| client.request(Method::POST, url).json(body))
}

/// Deletes what is at this address.
///
/// # Errors
/// As [`get`], but any body will do.
pub fn delete(url: &str) -> Result<(), reqwest::Error> {
    block_on(async {
        let client = Client::builder().timeout(TIMEOUT).build()?;
        client
            .delete(url)
            .send()
            .await?
            .error_for_status()
            .map(drop)
    })
}

fn ask(request: impl FnOnce(&Client) -> RequestBuilder) -> Result<Value, reqwest::Error> {
    block_on(async {
        let client = Client::builder().timeout(TIMEOUT).build()?;
        request(&client)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await
    })
}

/// Runs a future on this thread.
///
/// # Panics
/// A runtime cannot be made.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime of one thread").block_on(future)
}
