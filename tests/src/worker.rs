//! Small classes for processes that are replaced, abort, or are killed with a request out.
//!
//! What the outside got stands in one file: one line per write, with its key. It outlives every
//! process, and must never be written by anything but a write.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainstay::class::{Budget, Class, Extend, Problems, TaskClass, hours, secs};
use mainstay::dispatch::{Answer, Promise, Resolution};
use mainstay::{AttemptContext, Failure, FailureKind, Found, Millis, Read, Sent, Write};

pub use crate::crowd::written;

/// Reads one after the other.
pub const READS: usize = 3;

/// A read that takes its time.
#[derive(Clone)]
struct Slow(Duration);

impl Read for Slow {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        "slow"
    }

    async fn call(&self, asked: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        tokio::time::sleep(self.0).await;
        Ok(asked.into())
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(20))
    }
}

/// What a write notes before it goes on.
fn note(file: &Path, cx: &AttemptContext) -> Result<String, Failure> {
    let key = cx.effect_key.as_ref().map(ToString::to_string);
    let key = key.unwrap_or_default();
    let open = OpenOptions::new().create(true).append(true).open(file);
    let done = open.and_then(|mut file| file.write_all(format!("{key}\n").as_bytes()));
    done.map_err(|error| {
        Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent).message(error.to_string())
    })?;
    Ok(key)
}

/// A write whose receiver can be asked.
#[derive(Clone)]
struct Ledgered(PathBuf);

impl Write for Ledgered {
    type Request = String;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "ledgered"
    }

    async fn send(&self, _: String, cx: &AttemptContext) -> Result<Answer<String>, Failure> {
        Ok(note(&self.0, cx)?.into())
    }

    async fn find(&self, _: String, cx: &AttemptContext) -> Result<Found<String>, Failure> {
        let key = cx.effect_key.as_ref().map(ToString::to_string);
        let key = key.unwrap_or_default();
        Ok(match written(&self.0).contains(&key) {
            true => Found::Applied(key),
            false => Found::NotFound,
        })
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(2))
            .honours_keys(Some(Millis::from_hours(24)))
            .receiver_bound(Millis::new(100))
    }
}

/// A write that is sent once at most, and whose receiver can say nothing: only a person can.
#[derive(Clone)]
struct Mute(PathBuf);

impl Write for Mute {
    type Request = String;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByHuman;

    fn name(&self) -> &str {
        "mute"
    }

    async fn send(&self, _: String, cx: &AttemptContext) -> Result<Answer<String>, Failure> {
        note(&self.0, cx)?;
        std::future::pending().await
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<String>, Failure> {
        Ok(Found::CannotTell)
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(2))
    }
}

fn budget() -> Budget {
    Budget::new()
        .answer_by(secs(60))
        .retries(8)
        .concurrency(4)
        .cost(40)
}

/// A few slow reads, each after the one before it, and a write.
///
/// # Errors
/// All problems of the class at once.
pub fn chain(file: &Path) -> Result<Class<String, String>, Problems> {
    let mut g = TaskClass::<String>::define("chain", 1);
    g.budget(budget()).on_downtime(Extend(hours(1)));
    let slow = Slow(Duration::from_millis(400));
    let mut last = g.read("link_1", &slow, (), |name, ()| name.clone()).add();
    for at in 2..=READS {
        last = g
            .read(&format!("link_{at}"), &slow, last, |_, told| told.clone())
            .add();
    }
    let order = g
        .write("order", &Ledgered(file.to_owned()), last, |_, told| {
            told.clone()
        })
        .add();
    g.finish(order, |_, key| key.clone())
}

/// A read, and code after it that ends the whole process when the input says `abort`.
///
/// # Errors
/// All problems of the class at once.
pub fn aborting() -> Result<Class<String, String>, Problems> {
    let mut g = TaskClass::<String>::define("aborting", 1);
    g.budget(budget()).on_downtime(Extend(hours(1)));
    let told = g
        .read("told", &Slow(Duration::from_millis(30)), (), |name, ()| {
            name.clone()
        })
        .add();
    let made = g.local("made", told, |name, told| {
        if name == "abort" {
            std::process::abort();
        }
        told.clone()
    });
    let made = made.add();
    g.finish(made, |_, made| made.clone())
}

/// One write that may be sent once.
///
/// # Errors
/// All problems of the class at once.
pub fn mute(file: &Path) -> Result<Class<String, String>, Problems> {
    let mut g = TaskClass::<String>::define("mute", 1);
    g.budget(budget().answer_by(secs(4)))
        .on_downtime(Extend(hours(1)));
    let order = g
        .write("order", &Mute(file.to_owned()), (), |name, ()| name.clone())
        .attempts(3)
        .add();
    g.finish(order, |_, key| key.clone())
}
