//! Tokens as cost units: integers only, rounded up, never wrapped.

use mainstay_types::CostUnits;
use serde_json::Value;

/// What a server charges, in the class's cost units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    prompt: CostUnits,
    completion: CostUnits,
}

/// The tokens that a server counted for one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt: u64,
    /// Tokens of the answer, those of a hidden chain of thought included.
    pub completion: u64,
}

impl Price {
    /// The price of 1,000 tokens of a prompt and of 1,000 tokens of an answer.
    #[must_use]
    pub const fn per_thousand(prompt: CostUnits, completion: CostUnits) -> Self {
        Self { prompt, completion }
    }

    /// What these tokens cost, in whole micro-units, rounded up; at most what can be represented.
    #[must_use]
    pub fn of(self, usage: Usage) -> CostUnits {
        let part =
            |price: CostUnits, tokens: u64| u128::from(price.as_micros()) * u128::from(tokens);
        let thousandths =
            part(self.prompt, usage.prompt).saturating_add(part(self.completion, usage.completion));
        let micros = thousandths.div_ceil(1_000);
        CostUnits::micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

impl Usage {
    /// The usage that a reply tells; `None` when it tells none, or not in two whole numbers.
    pub(crate) fn told(usage: Option<&Value>) -> Option<Self> {
        let usage = usage?;
        Some(Self {
            prompt: usage.get("prompt_tokens")?.as_u64()?,
            completion: usage.get("completion_tokens")?.as_u64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_started_micro_unit_counts_as_a_whole_one() {
        let price = Price::per_thousand(CostUnits::micros(150), CostUnits::micros(600));
        let cost = |prompt, completion| price.of(Usage { prompt, completion }).as_micros();
        assert_eq!(cost(0, 0), 0);
        assert_eq!(cost(1, 0), 1);
        assert_eq!(cost(1_000, 1_000), 750);
        assert_eq!(cost(1_001, 1_000), 751);
    }

    #[test]
    fn absurd_counts_cost_as_much_as_can_be_told_and_never_little() {
        let dear = Price::per_thousand(CostUnits::micros(u64::MAX), CostUnits::micros(u64::MAX));
        let all = Usage {
            prompt: u64::MAX,
            completion: u64::MAX,
        };
        assert_eq!(dear.of(all).as_micros(), u64::MAX);
    }

    #[test]
    fn what_is_no_pair_of_whole_numbers_is_no_usage() {
        for usage in [
            json!(null),
            json!({}),
            json!({"prompt_tokens": 1}),
            json!({"prompt_tokens": -1, "completion_tokens": 1}),
            json!({"prompt_tokens": 1.5, "completion_tokens": 1}),
            json!({"prompt_tokens": "1", "completion_tokens": 1}),
        ] {
            assert_eq!(Usage::told(Some(&usage)), None, "{usage}");
        }
        assert_eq!(Usage::told(None), None);
    }
}
