//! How much of a campaign runs, which of its cases, and how a failed one is had again.
//!
//! A campaign is many cases of one kind. It must never stop at the first failure, and what fails
//! always says the command that runs that case alone.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `full` lets every case run; without it, or with anything else, as many as CI has time for.
pub const SIZE: &str = "MAINSTAY_CAMPAIGN";
/// One case to be run alone, in the words in which it was printed.
pub const CASE: &str = "MAINSTAY_CASE";

/// Cases that run side by side: for half of their time they wait for something.
pub const SIDE_BY_SIDE: usize = 3;
/// Cases that run side by side when they do nothing but wait.
const WAITING_SIDE_BY_SIDE: usize = 8;

/// Whether every case is asked for.
#[must_use]
pub fn is_full() -> bool {
    std::env::var(SIZE).is_ok_and(|size| size == "full")
}

/// The path of a test's function, as its runner names it.
#[must_use]
pub fn name_of<F: Fn()>(_: F) -> &'static str {
    let path = std::any::type_name::<F>();
    path.split_once("::").map_or(path, |(_, name)| name)
}

/// The cases of one test.
pub struct Campaign {
    test: &'static str,
    seed: Option<u64>,
    at_once: usize,
}

impl Campaign {
    /// The campaign of the test with this name.
    #[must_use]
    pub const fn of(test: &'static str) -> Self {
        Self {
            test,
            seed: None,
            at_once: SIDE_BY_SIDE,
        }
    }

    /// Whose cases wait for most of their time.
    #[must_use]
    pub const fn waiting(self, is_waiting: bool) -> Self {
        let at_once = if is_waiting {
            WAITING_SIDE_BY_SIDE
        } else {
            SIDE_BY_SIDE
        };
        Self { at_once, ..self }
    }

    /// Whose cases were drawn from this seed.
    #[must_use]
    pub const fn drawn_from(self, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// Runs the cases, a few side by side; or the one in [`CASE`] alone, be it among them or not.
    /// Says how many ran.
    ///
    /// # Panics
    /// One of them did (all others have run by then), or [`CASE`] is no case.
    pub fn run<C>(&self, cases: Vec<C>, case: impl Fn(&C, &str) + Sync) -> usize
    where
        C: Display + FromStr<Err = String> + Sync,
    {
        let cases = match std::env::var(CASE) {
            Ok(alone) => vec![alone.parse().unwrap_or_else(|why| panic!("{CASE}: {why}"))],
            Err(_) => cases,
        };
        let failures = Mutex::new(Vec::new());
        side_by_side(self.at_once, cases.len(), |number| {
            let told = self.told(&cases[number]);
            let ended = catch_unwind(AssertUnwindSafe(|| case(&cases[number], &told)));
            if let Err(panic) = ended {
                let failure = format!("{told}\n{}", words(&*panic));
                failures
                    .lock()
                    .expect("nobody panics with it")
                    .push(failure);
            }
        });
        let failures = failures.into_inner().expect("nobody panics with it");
        assert!(
            failures.is_empty(),
            "{} of {} cases failed\n\n{}",
            failures.len(),
            cases.len(),
            failures.join("\n\n")
        );
        cases.len()
    }

    /// The case, and the command that runs it alone.
    fn told(&self, case: &impl Display) -> String {
        let (test, seed) = (self.test, self.seed.map(|seed| format!(" (seed {seed})")));
        let seed = seed.unwrap_or_default();
        format!(
            "case {case}{seed}; alone:\n  {CASE}='{case}' cargo nextest run -p mainstay-tests -E \
             'test(={test})'"
        )
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked without words")
}

/// Runs `round` for every number below `rounds`, at most `at_once` side by side.
pub fn side_by_side(at_once: usize, rounds: usize, round: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(rounds) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if rounds <= number {
                        break;
                    }
                    round(number);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(String);

    impl From<&str> for Number {
        fn from(text: &str) -> Self {
            Self(text.to_owned())
        }
    }

    impl FromStr for Number {
        type Err = String;

        fn from_str(text: &str) -> Result<Self, String> {
            Ok(text.into())
        }
    }

    impl Display for Number {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(&self.0)
        }
    }

    #[test]
    fn a_failed_case_is_named_with_its_command_and_the_others_run_all_the_same() {
        let ran = AtomicUsize::new(0);
        let campaign = Campaign::of("crashes::some_test").drawn_from(7);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            campaign.run(
                ["1", "2", "3", "4"].map(Number::from).into(),
                |number, _| {
                    ran.fetch_add(1, Ordering::SeqCst);
                    assert!(number.0 != "2", "two is wrong");
                },
            )
        }));
        let panic = ended.expect_err("a case has failed");
        let said = words(&*panic);
        assert_eq!(ran.into_inner(), 4);
        for part in [
            "1 of 4 cases failed",
            "case 2 (seed 7)",
            "MAINSTAY_CASE='2' cargo nextest run",
            "test(=crashes::some_test)",
            "two is wrong",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
    }

    #[test]
    fn a_test_is_named_by_the_path_of_its_function() {
        let name = name_of(a_test_is_named_by_the_path_of_its_function);
        let own = "campaign::tests::a_test_is_named_by_the_path_of_its_function";
        assert_eq!(name, own);
    }
}
