//! Dependencies of the cases. They never run: the cases only have to be compiled.
#![allow(dead_code)]

use mainstay_class::{Read, Write};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Resolution};

#[derive(Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Meeting {
    pub text: String,
}

#[derive(Clone)]
pub struct Search;

impl Read for Search {
    type Request = String;
    type Reply = Vec<String>;

    fn name(&self) -> &str {
        "search"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<Vec<String>>, Failure> {
        Ok(Vec::new().into())
    }
}

#[derive(Clone)]
pub struct Tickets;

impl Write for Tickets {
    type Request = String;
    type Reply = u64;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "tickets"
    }

    async fn send(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok(1.into())
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<u64>, Failure> {
        Ok(Found::NotFound)
    }
}

#[derive(Clone)]
pub struct Numbers;

impl Read for Numbers {
    type Request = String;
    type Reply = u64;

    fn name(&self) -> &str {
        "numbers"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok(1.into())
    }
}
