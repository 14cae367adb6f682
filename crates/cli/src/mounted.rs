//! What a program of a user mounts together with the commands.

use std::sync::Arc;

use mainstay_graph::TaskClass;

/// What the commands know beside the store: classes to draw, campaigns to run.
///
/// ```no_run
/// # use mainstay_class::Class;
/// # fn purchase() -> Class<String, String> { unreachable!("yours stands here") }
/// # #[cfg(feature = "chaos")]
/// fn main() -> std::process::ExitCode {
///     use mainstay_chaos::{Guarantees, Offered, campaign};
///     use mainstay_cli::{Mounted, main_mounting};
///
///     let purchases = Offered::new(|| {
///         campaign(purchase())
///             .workload(|rng| format!("desk {}", rng.below(100)))
///             .check(Guarantees::all())
///     });
///     // `acme chaos campaign`, `acme chaos run plan.toml`
///     main_mounting(&Mounted::new().campaign(purchases))
/// }
/// # #[cfg(not(feature = "chaos"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Mounted {
    pub(crate) classes: Vec<Arc<TaskClass>>,
    #[cfg(feature = "chaos")]
    pub(crate) campaigns: Vec<mainstay_chaos::Offered>,
}

impl Mounted {
    /// Nothing, as the binary `mainstay` has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Classes that `graph` knows beside those of the store.
    pub fn classes(mut self, classes: impl IntoIterator<Item = Arc<TaskClass>>) -> Self {
        self.classes.extend(classes);
        self
    }

    /// A campaign for `chaos campaign` and `chaos run`; the first one is what they take when no
    /// class is named.
    #[cfg(feature = "chaos")]
    pub fn campaign(mut self, campaign: mainstay_chaos::Offered) -> Self {
        self.campaigns.push(campaign);
        self
    }
}
