//! Campaigns that a program offers on its command line, and plans in files that it runs there.

use std::fmt;
use std::sync::Arc;

use mainstay_class::Value;
use serde::{Deserialize, Serialize};

use crate::campaign::{Campaign, Faults, Misuse};
use crate::fault::Fault;
use crate::meeting;
use crate::report::Report;
use crate::schedule::Schedule;
use crate::{Guarantees, World};

type Runs = dyn Fn(&Wish) -> Result<Report, Misuse> + Send + Sync;
#[cfg(feature = "real")]
type Plans = dyn Fn() -> Result<crate::campaign::Plan, Misuse> + Send + Sync;

/// A campaign under the name of its class.
#[derive(Clone)]
pub struct Offered {
    name: String,
    runs: Arc<Runs>,
    #[cfg(feature = "real")]
    plans: Arc<Plans>,
}

/// What is wanted of a campaign that is offered; what is not said is as its author has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// How many worlds.
    pub seeds: Option<u64>,
    /// The first world's seed.
    pub from: Option<u64>,
    /// How many runs each world has.
    pub runs: Option<usize>,
    /// These faults, in every world.
    pub faults: Option<Schedule>,
}

impl Offered {
    /// What `make` puts together. It is asked each time the campaign is run.
    pub fn new<I: Value, O: Value>(
        make: impl Fn() -> Campaign<I, O> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        Self {
            name: make().class_name(),
            #[cfg(feature = "real")]
            plans: {
                let make = Arc::clone(&make);
                Arc::new(move || make().plan())
            },
            runs: Arc::new(move |wish| {
                let mut campaign = make();
                if let Some(seeds) = wish.seeds {
                    campaign = campaign.seeds(seeds);
                }
                if let Some(from) = wish.from {
                    campaign = campaign.from(from);
                }
                if let Some(runs) = wish.runs {
                    campaign = campaign.runs(runs);
                }
                if let Some(faults) = &wish.faults {
                    campaign = campaign.faults(Faults::planned(faults.clone()));
                }
                campaign.report()
            }),
        }
    }

    /// The class's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it.
    ///
    /// Errors: it cannot begin.
    pub fn run(&self, wish: &Wish) -> Result<Report, Misuse> {
        (self.runs)(wish)
    }

    /// Everything that it needs to try a world.
    #[cfg(feature = "real")]
    pub(crate) fn plan(&self) -> Result<crate::campaign::Plan, Misuse> {
        (self.plans)()
    }
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offered({})", self.name)
    }
}

/// The campaign that is always offered: over the small model of the meeting class.
#[must_use]
pub fn built_in() -> Offered {
    Offered::new(|| {
        let campaign = meeting::campaign_of().expect("the built-in class is valid");
        let once = |world: &World<'_>| world.receiver("tickets").applied_per_key_at_most(1);
        campaign.check(Guarantees::all()).check(once)
    })
}

/// A fault plan, as it stands in a file: which class, which worlds, which faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// The class; not needed where only one is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How many worlds; 1 when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// The first world's seed; 1 when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// How many runs each world has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// The faults.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
}

impl FaultPlan {
    /// The plan that `text` is, in TOML.
    ///
    /// Errors: in words, with line and column.
    pub fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The plan in TOML.
    #[must_use]
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// What it wants of a campaign.
    #[must_use]
    pub fn wish(&self) -> Wish {
        Wish {
            seeds: Some(self.seeds.unwrap_or(1)),
            from: self.from,
            runs: self.runs,
            faults: Some(Schedule {
                faults: self.faults.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Kind;

    const PLAN: &str = r#"
        class = "meeting-analysis-model"
        seeds = 3

        [[fault]]
        kind = "reply_lost"
        dependency = "tickets"
        nth = 1
        times = 2

        [[fault]]
        kind = "killed"
        nth = 6
        moment = "written"
        ms = 250
    "#;

    #[test]
    fn a_plan_is_read_and_written_in_one_form() {
        let plan = FaultPlan::read(PLAN).expect("a plan");
        assert_eq!(plan.faults[1].kind, Kind::Killed);
        assert_eq!(FaultPlan::read(&plan.text()), Ok(plan.clone()));
        assert_eq!(plan.wish().seeds, Some(3));
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        for (text, wanted) in [
            ("sedes = 3", "unknown field `sedes`"),
            (
                "[[fault]]\nkind = \"nonsense\"",
                "unknown variant `nonsense`",
            ),
            ("[[fault]]\nnth = 1", "missing field `kind`"),
            (
                "[[fault]]\nkind = \"killed\"\nnht = 1",
                "unknown field `nht`",
            ),
            ("seeds = -1", "invalid value"),
        ] {
            let told = FaultPlan::read(text).expect_err(text);
            assert!(
                told.contains(wanted) && told.contains("line"),
                "{text}: {told}"
            );
        }
    }

    #[test]
    fn a_plan_runs_and_each_of_its_faults_has_to_hit() {
        let plan = FaultPlan::read(PLAN).expect("a plan");
        let report = built_in().run(&plan.wish()).expect("it can begin");
        assert!(report.is_good(), "{report}");
        assert!(!report.timeline.is_empty());
        let never = FaultPlan {
            faults: vec![Fault {
                at_ms: Some(900_000_000),
                ..Fault::of(Kind::Canceled)
            }],
            ..FaultPlan::default()
        };
        let report = built_in().run(&never.wish()).expect("it can begin");
        assert_eq!(report.never_hit, [Kind::Canceled]);
        assert!(!report.is_good());
    }
}
