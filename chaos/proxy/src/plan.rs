//! Which connection gets which fault.

use serde::{Deserialize, Serialize};

use crate::bounds::RULES_MAX;
use crate::connections::Connections;
use crate::error::PlanError;
use crate::fault::Fault;

/// One fault, and for which connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// For which; all of them when it does not say.
    #[serde(default)]
    pub connections: Connections,
    /// What is done to them.
    pub fault: Fault,
}

/// Rules, of which the first that fits a connection is applied; the rest of the connections go
/// through as they are.
///
/// A plan that was built or read is within its bounds. As TOML:
///
/// ```toml
/// [[rules]]
/// connections = "2-5"
/// fault.cut_after = { bytes = 20, direction = "reply", reset = true }
///
/// [[rules]]
/// connections = 6
/// fault = "refuse"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Plan {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(default)]
    rules: Vec<Rule>,
}

impl Plan {
    /// A plan of these rules; without any, nothing is done to anybody.
    ///
    /// Errors say which number is out of its bounds; at most `bounds::RULES_MAX` rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Result<Self, PlanError> {
        let rules: Vec<Rule> = rules.into_iter().collect();
        if RULES_MAX < rules.len() {
            return Err(PlanError::TooManyRules { rules: rules.len() });
        }
        for rule in &rules {
            rule.connections.check()?;
            rule.fault.check()?;
        }
        Ok(Self { rules })
    }

    /// The same fault for every connection.
    ///
    /// Errors say which number of it is out of its bounds.
    pub fn every(fault: Fault) -> Result<Self, PlanError> {
        Self::new([Rule {
            connections: Connections::Every,
            fault,
        }])
    }

    /// Its rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What is done to connection `number`, from 1.
    #[must_use]
    pub fn fault(&self, number: u64) -> Option<Fault> {
        let fits = |rule: &&Rule| rule.connections.hold(number);
        self.rules.iter().find(fits).map(|rule| rule.fault)
    }
}

impl TryFrom<Unchecked> for Plan {
    type Error = PlanError;

    fn try_from(unchecked: Unchecked) -> Result<Self, PlanError> {
        Self::new(unchecked.rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Delayed, Direction, Directions};

    fn read(text: &str) -> Result<Plan, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_rule_that_fits_is_applied() {
        let plan = read(
            "[[rules]]\nconnections = 2\nfault = 'refuse'\n\
             [[rules]]\nconnections = '2-3'\nfault.cut_after = { bytes = 20, reset = true }\n\
             [[rules]]\nconnections = '5-'\nfault.delay = { ms = 7, direction = 'both', \
             what = 'each_chunk' }\n",
        );
        let plan = plan.expect("a valid plan");
        let cut = Fault::CutAfter {
            direction: Direction::Reply,
            bytes: 20,
            reset: true,
        };
        let delay = Fault::Delay {
            direction: Directions::Both,
            ms: 7,
            what: Delayed::EachChunk,
        };
        let given: Vec<Option<Fault>> = (1..=6).map(|number| plan.fault(number)).collect();
        assert_eq!(
            given,
            [
                None,
                Some(Fault::Refuse),
                Some(cut),
                None,
                Some(delay),
                Some(delay)
            ]
        );
    }

    #[test]
    fn a_plan_is_written_as_it_is_read() {
        for (name, like) in crate::fault::LIKE {
            let rule: Rule = like
                .split(", or")
                .next()
                .expect("a first")
                .parse()
                .expect(name);
            assert_eq!(rule.fault.name(), name);
            let plan = Plan::new([rule]).expect("within its bounds");
            let text = toml::to_string(&plan).expect("it can be written");
            assert_eq!(read(&text), Ok(plan.clone()), "{text}");
            let json = serde_json::to_string(&plan).expect("it can be written");
            assert_eq!(
                serde_json::from_str::<Plan>(&json).ok(),
                Some(plan),
                "{json}"
            );
        }
    }

    #[test]
    fn what_a_plan_may_not_say_is_refused_with_what_it_may() {
        for (text, part) in [
            ("[[rule]]\nfault = 'refuse'", "expected `rules`"),
            ("[[rules]]\nconnections = 1", "missing field `fault`"),
            (
                "[[rules]]\nfault = 'refused'",
                "expected one of `cut_after`",
            ),
            (
                "[[rules]]\nfault = 'refuse'\nconnections = 0",
                "numbered from 1",
            ),
            ("[[rules]]\nfault = 'refuse'\nconnections = -1", "\"2-5\""),
            ("[[rules]]\nfault = 'refuse'\nconnections = '5-2'", "2-5"),
            (
                "[[rules]]\nfault.cut_after = { byte = 1 }",
                "available keys: direction, bytes, reset",
            ),
            (
                "[[rules]]\nfault.cut_after = { bytes = 1, direction = 'both' }",
                "`reply`",
            ),
            (
                "[[rules]]\nfault.stall = { hold_ms = 600001 }",
                "from 0 to 600000",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        let rule: Rule = "refuse".parse().expect("a rule");
        assert_eq!(
            Plan::new([rule; RULES_MAX + 1]),
            Err(PlanError::TooManyRules {
                rules: RULES_MAX + 1
            })
        );
    }
}
