//! Bugs that are there on purpose: ports that are bent, so that a campaign can be seen to see it.
//!
//! None of them is a switch in the code that is tried: what stands between it and its ports is.

mod core;
mod ledger;
mod selftest;

use std::sync::Arc;

use mainstay_ledger::Ledger;
use mainstay_machine::{Core, Machine};

use crate::guarantee::Guarantee;

pub use selftest::{Bug, SelfTest, selftest};

type Bent<I, O> = Arc<dyn Fn(I) -> O + Send + Sync>;

/// The two ports that can be bent: what is made of the disk, and the core.
#[derive(Clone)]
pub(crate) struct Ports {
    pub(crate) ledger: Bent<Arc<dyn Ledger>, Arc<dyn Ledger>>,
    pub(crate) core: Bent<(), Arc<dyn Core>>,
}

impl Ports {
    /// As in production.
    pub(crate) fn straight() -> Self {
        Self {
            ledger: Arc::new(|disk| disk),
            core: Arc::new(|()| Arc::new(Machine)),
        }
    }

    fn of_ledger(bend: fn(Arc<dyn Ledger>) -> Arc<dyn Ledger>) -> Self {
        Self {
            ledger: Arc::new(bend),
            ..Self::straight()
        }
    }

    fn of_core(bend: fn() -> Arc<dyn Core>) -> Self {
        Self {
            core: Arc::new(move |()| bend()),
            ..Self::straight()
        }
    }
}

/// A bug that is there on purpose.
pub(crate) struct Mutant {
    /// Its name, in reports.
    pub(crate) name: &'static str,
    /// What is wrong, in one sentence.
    pub(crate) about: &'static str,
    /// The properties that should see it: any of them.
    pub(crate) seen_by: &'static [Guarantee],
    pub(crate) ports: fn() -> Ports,
}

/// All of them.
pub(crate) const ALL: [Mutant; 14] = [
    Mutant {
        name: "acknowledges_early",
        about: "The ledger says that a commit is durable before it is.",
        seen_by: &[Guarantee::G1, Guarantee::G2],
        ports: || Ports::of_ledger(ledger::acknowledges_early),
    },
    Mutant {
        name: "ignores_epochs",
        about: "The ledger takes the append of an owner that has lost the run.",
        seen_by: &[Guarantee::G9],
        ports: || Ports::of_ledger(ledger::ignores_epochs),
    },
    Mutant {
        name: "two_holders",
        about: "The ledger lets a second run have a key that is held.",
        seen_by: &[Guarantee::G6],
        ports: || Ports::of_ledger(ledger::two_holders),
    },
    Mutant {
        name: "skips_doubt",
        about: "A write whose reply was lost is taken for one that never left.",
        seen_by: &[Guarantee::G5, Guarantee::G6],
        ports: || Ports::of_core(core::skips_doubt),
    },
    Mutant {
        name: "believes_absent_at_once",
        about: "\"Not found\" is believed while the request may still land.",
        seen_by: &[Guarantee::G6],
        ports: || Ports::of_core(core::believes_absent_at_once),
    },
    Mutant {
        name: "resends_in_doubt",
        about: "A write in doubt is sent again before anybody was asked.",
        seen_by: &[Guarantee::G5],
        ports: || Ports::of_core(core::resends_in_doubt),
    },
    Mutant {
        name: "drops_a_refund",
        about: "An attempt that never left stays charged.",
        seen_by: &[Guarantee::G3],
        ports: || Ports::of_core(core::drops_a_refund),
    },
    Mutant {
        name: "refunds_twice",
        about: "An answered attempt is given back what it cost.",
        seen_by: &[Guarantee::G3],
        ports: || Ports::of_core(core::refunds_twice),
    },
    Mutant {
        name: "delivers_a_late_result",
        about: "An answer that comes too late is delivered as the call's value all the same.",
        seen_by: &[Guarantee::G7],
        ports: || Ports::of_core(core::delivers_a_late_result),
    },
    Mutant {
        name: "ignores_reserves",
        about: "Attempts start that leave no time for what has to follow them.",
        seen_by: &[Guarantee::G4],
        ports: || Ports::of_core(core::ignores_reserves),
    },
    Mutant {
        name: "answers_late",
        about: "What is due by time is done three seconds later.",
        seen_by: &[Guarantee::G4],
        ports: || Ports::of_core(core::answers_late),
    },
    Mutant {
        name: "starves_the_hard_path",
        about: "A soft call takes all of the cost that is left.",
        seen_by: &[Guarantee::G10],
        ports: || Ports::of_core(core::starves_the_hard_path),
    },
    Mutant {
        name: "says_nothing_of_gaps",
        about: "A lap that lacks something ends as if it were complete.",
        seen_by: &[Guarantee::G10],
        ports: || Ports::of_core(core::says_nothing_of_gaps),
    },
    Mutant {
        name: "resurrects",
        about: "What a dead process had out is alive again in the next one's own state.",
        seen_by: &[Guarantee::G8],
        ports: || Ports::of_core(core::resurrects),
    },
];
