//! A class whose closures make what the process is told to, and a receiver that writes down what
//! it got: to see which bytes leave after a restart with other code.
//!
//! What the receiver got outlives the process: one line per request, appended and never changed.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mainstay::class::{Budget, Class, Extend, Problems, TaskClass, hours, secs};
use mainstay::dispatch::{Answer, Promise, Resolution};
use mainstay::{AttemptContext, Failure, FailureKind, Found, Millis, Read, Sent, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a process is told.
#[derive(Clone, Debug)]
pub struct Told {
    /// What its closures put into every request.
    pub variant: String,
    /// Where requests are written down.
    pub received: PathBuf,
    /// The dependency that never answers; empty: all do.
    pub hangs: String,
}

/// A request that shows which code made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    /// By which variant of the code.
    pub by: String,
    /// From what.
    pub from: String,
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// At whom.
    pub dependency: String,
    /// The request.
    pub request: Made,
    /// Its effect key, for a write.
    pub key: Option<String>,
    /// Whether it only asked what became of one.
    pub is_look_up: bool,
}

/// Everything that arrived so far, in order.
#[must_use]
pub fn received(file: &Path) -> Vec<Received> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Answers with what it was asked, or never.
#[derive(Clone)]
struct Echo {
    name: &'static str,
    told: Told,
}

impl Echo {
    fn note(&self, request: &Made, cx: &AttemptContext, is_look_up: bool) -> std::io::Result<()> {
        let received = Received {
            dependency: self.name.to_owned(),
            request: request.clone(),
            key: cx.effect_key.as_ref().map(ToString::to_string),
            is_look_up,
        };
        let mut line = serde_json::to_vec(&received)?;
        line.push(b'\n');
        let mut file: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.told.received)?;
        file.write_all(&line)
    }

    async fn answer(&self, request: Made, cx: &AttemptContext) -> Result<Answer<Made>, Failure> {
        self.note(&request, cx, false).map_err(|error| {
            Failure::new(FailureKind::PermanentProvider, Sent::NotSent).message(error.to_string())
        })?;
        if self.told.hangs == self.name {
            std::future::pending::<()>().await;
        }
        Ok(request.into())
    }
}

impl Read for Echo {
    type Request = Made;
    type Reply = Made;

    fn name(&self) -> &str {
        self.name
    }

    async fn call(&self, request: Made, cx: &AttemptContext) -> Result<Answer<Made>, Failure> {
        self.answer(request, cx).await
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(20))
    }
}

/// The same as a write, found by what was written down.
#[derive(Clone)]
struct EchoWrite(Echo);

impl Write for EchoWrite {
    type Request = Made;
    type Reply = Made;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        self.0.name
    }

    async fn send(&self, request: Made, cx: &AttemptContext) -> Result<Answer<Made>, Failure> {
        self.0.answer(request, cx).await
    }

    async fn find(&self, request: Made, cx: &AttemptContext) -> Result<Found<Made>, Failure> {
        let key = cx.effect_key.as_ref().map(ToString::to_string);
        let found = received(&self.0.told.received)
            .into_iter()
            .find(|entry| entry.key == key && !entry.is_look_up)
            .map_or(Found::NotFound, |entry| Found::Applied(entry.request));
        self.0.note(&request, cx, true).map_err(|error| {
            Failure::new(FailureKind::PermanentProvider, Sent::NotSent).message(error.to_string())
        })?;
        Ok(found)
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(20))
            .honours_keys(Some(Millis::from_hours(24)))
            .receiver_bound(Millis::new(100))
    }
}

/// A read, a write from its reply, and a read from the write's.
///
/// # Errors
/// All problems of the class at once.
pub fn class(told: &Told) -> Result<Class<String, Vec<Made>>, Problems> {
    let echo = |name| Echo {
        name,
        told: told.clone(),
    };
    let (first, second) = (echo("first"), EchoWrite(echo("second")));
    let third = echo("third");
    let by = told.variant.clone();
    let make = move |from: &str| Made {
        by: by.clone(),
        from: from.to_owned(),
    };
    let mut g = TaskClass::<String>::define("echo", 1);
    g.budget(
        Budget::new()
            .answer_by(secs(90))
            .retries(6)
            .concurrency(2)
            .cost(20),
    );
    g.on_downtime(Extend(hours(1)));
    let makes = make.clone();
    let asked = g
        .read("ask", &first, (), move |text, ()| makes(text))
        .attempts(3)
        .add();
    let makes = make.clone();
    let written = g
        .write("write", &second, asked, move |_, asked: &Made| {
            makes(&asked.by)
        })
        .attempts(3)
        .add();
    let last = g
        .read("last", &third, written, move |_, written: &Made| {
            make(&written.by)
        })
        .attempts(3)
        .add();
    g.finish((asked, written, last), |_, (asked, written, last)| {
        vec![asked.clone(), written.clone(), last.clone()]
    })
}
