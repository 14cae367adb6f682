//! A small class of which many runs are driven at once, and an outside that outlives the process.
//!
//! What the outside got stands in one file: one line per write, with its key.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainstay::class::{Budget, Class, Extend, Problems, TaskClass, hours, secs};
use mainstay::dispatch::{Answer, Promise, Resolution};
use mainstay::{AttemptContext, Failure, FailureKind, Found, Millis, Read, Sent, Write};

/// Runs that are driven at once.
pub const RUNS: usize = 64;
/// Items of each run.
pub const ITEMS: u32 = 4;
/// Nodes of the class: two reads and the each.
pub const CALLS: usize = 3;
/// How long a request takes at the outside, in milliseconds, at the least and beyond that.
const TAKES_MS: (u64, u64) = (5, 120);

/// The keys of all writes that the outside did, in order.
#[must_use]
pub fn written(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // A line that a kill cut off was never acknowledged, but is there: it counts.
    text.lines().map(str::to_owned).collect()
}

/// The outside: answers after a while that depends on what it is asked.
#[derive(Clone)]
struct Outside {
    name: &'static str,
    file: PathBuf,
}

impl Outside {
    async fn takes_a_while(&self, asked: &str) {
        let (least, more) = TAKES_MS;
        let sum: u64 = asked.bytes().chain(self.name.bytes()).map(u64::from).sum();
        tokio::time::sleep(Duration::from_millis(least + sum * 31 % more)).await;
    }
}

impl Read for Outside {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        self.name
    }

    async fn call(&self, asked: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        self.takes_a_while(&asked).await;
        Ok(format!("{} of {asked}", self.name).into())
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(2))
    }
}

#[derive(Clone)]
struct Writes(Outside);

impl Writes {
    fn key(cx: &AttemptContext) -> String {
        cx.effect_key
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
}

impl Write for Writes {
    type Request = String;
    type Reply = String;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        self.0.name
    }

    async fn send(&self, asked: String, cx: &AttemptContext) -> Result<Answer<String>, Failure> {
        let key = Self::key(cx);
        let open = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.0.file);
        let done = open.and_then(|mut file| file.write_all(format!("{key}\n").as_bytes()));
        done.map_err(|error| {
            Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent).message(error.to_string())
        })?;
        self.0.takes_a_while(&asked).await;
        Ok(key.into())
    }

    async fn find(&self, _: String, cx: &AttemptContext) -> Result<Found<String>, Failure> {
        let key = Self::key(cx);
        let is_there = written(&self.0.file).contains(&key);
        Ok(if is_there {
            Found::Applied(key)
        } else {
            Found::NotFound
        })
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(2))
            .honours_keys(Some(Millis::from_hours(24)))
            .receiver_bound(Millis::new(100))
    }
}

/// Two reads after each other, then a list of writes.
///
/// # Errors
/// All problems of the class at once.
pub fn class(file: &Path) -> Result<Class<String, Vec<String>>, Problems> {
    let outside = |name| Outside {
        name,
        file: file.to_owned(),
    };
    let mut g = TaskClass::<String>::define("crowd", 1);
    g.budget(
        Budget::new()
            .answer_by(secs(100))
            .retries(8)
            .concurrency(4)
            .cost(20),
    );
    g.on_downtime(Extend(hours(1)));
    let first = g
        .read("first", &outside("first"), (), |name, ()| name.clone())
        .attempts(3)
        .add();
    let second = g
        .read("second", &outside("second"), first, |_, first| {
            first.clone()
        })
        .attempts(3)
        .add();
    let items = g
        .each(
            "write",
            &Writes(outside("writes")),
            second,
            ITEMS,
            |name, _| (0..ITEMS).map(|n| format!("{name}/{n}")).collect(),
        )
        .attempts(3)
        .add();
    g.finish(items, |_, items| items.to_vec())
}
