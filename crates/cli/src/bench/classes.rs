//! The task classes that are measured: calls that do nothing, in a chain or all at once.
//!
//! Their dependency answers at once from memory, so that what is measured is the engine and its
//! ledger. It never sleeps; asked for a number beyond its bound it waits for ever, which is how
//! runs are stopped in the middle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_class::{Budget, Builder, Class, Problems, Ref, TaskClass, hours, ms};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Read};
use mainstay_types::limits;

/// Most calls of a run that go out at once: a class's result is made from nested tuples of eight.
pub(crate) const FAN_OUT_MAX: usize = 64;

/// How many processes of a run may be killed before it may ask no more.
const STARTS_MAX: u32 = 100;

const _: () = assert!(FAN_OUT_MAX <= limits::CLASS_NODES_MAX);
const _: () = assert!(FAN_OUT_MAX + STARTS_MAX as usize <= limits::RUN_CONCURRENCY_MAX as usize);

/// A run's input is the number its first call asks for.
pub(crate) type Numbers = Class<u64, u64>;

/// The input of a run that is to wait at its first call.
pub(crate) const WAITS: u64 = 1 << 32;

/// Answers with the number it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    /// Numbers below it are answered; the others wait for ever.
    below: u64,
    waiting: Arc<AtomicUsize>,
}

impl Echo {
    /// A dependency that answers numbers below `below`.
    pub(crate) fn below(below: u64) -> Self {
        Self {
            below,
            waiting: Arc::default(),
        }
    }

    /// A dependency that answers all numbers of a class here but [`WAITS`].
    pub(crate) fn at_once() -> Self {
        Self::below(WAITS)
    }

    /// How many calls have come to wait for ever.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

impl Read for Echo {
    type Request = u64;
    type Reply = u64;

    fn name(&self) -> &str {
        "echo"
    }

    async fn call(&self, number: u64, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        if self.below <= number {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
        }
        Ok(number.into())
    }
}

/// `calls` calls, each of which needs the one before it; the result is the last one's number.
pub(crate) fn chain(calls: u32, echo: &Echo) -> Result<Numbers, Problems> {
    let mut g = define(&format!("bench-chain-{calls}"), 1);
    let first = g.read("c0", echo, (), |input, ()| *input);
    let mut last = first.timeout(hours(1)).estimate(ms(1)).cost(0).add();
    for place in 1..calls {
        let next = g.read(&format!("c{place}"), echo, last, |_, before| before + 1);
        last = next.timeout(hours(1)).estimate(ms(1)).cost(0).add();
    }
    g.finish(last, |_, number| *number)
}

/// `calls` calls that go out at once; the result is the sum of their numbers. At most
/// [`FAN_OUT_MAX`].
pub(crate) fn fan_out(calls: u32, echo: &Echo) -> Result<Numbers, Problems> {
    let mut g = define(&format!("bench-fan-out-{calls}"), calls);
    let refs: Vec<Ref<u64>> = (0..u64::from(calls))
        .map(|place| {
            let call = g.read(&format!("c{place}"), echo, (), move |input, ()| {
                input + place
            });
            call.timeout(hours(1)).estimate(ms(1)).cost(0).add()
        })
        .collect();
    // Places beyond the last call say its number again, and count for nothing.
    let at = |place: usize| refs[place.min(refs.len() - 1)];
    let eight = |n: usize| {
        let at = |place: usize| at(8 * n + place);
        (at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
    };
    let all = (
        (eight(0), eight(1), eight(2), eight(3)),
        (eight(4), eight(5), eight(6), eight(7)),
    );
    g.finish(all, |_, _| 0)
}

fn define(name: &str, at_once: u32) -> Builder<u64> {
    let mut g = TaskClass::<u64>::define(name, 1);
    // A run that is left in the middle asks again after each start, while whoever was asked before
    // may be at it still.
    let budget = Budget::new().answer_by(hours(24)).retries(STARTS_MAX);
    g.budget(budget.concurrency(at_once + STARTS_MAX).cost(1));
    g
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_can_be_built_with_as_many_calls_as_it_says() {
        let echo = Echo::at_once();
        for calls in [1, 10, 256] {
            let class = chain(calls, &echo).unwrap();
            assert_eq!(class.data().nodes.len(), calls as usize);
        }
        for calls in [1, 8, 50, 64] {
            let class = fan_out(calls, &echo).unwrap();
            assert_eq!(class.data().nodes.len(), calls as usize);
        }
    }
}
