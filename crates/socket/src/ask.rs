//! What can be asked of an engine from outside: the views and commands, as values.
//!
//! Nothing here asks an engine, and nothing here knows how a question travels.

use mainstay_runtime::view::{OutcomeKind, RunState};
use mainstay_runtime::{Budget, Ruling};
use mainstay_types::{ClassName, Code, EffectKey, Payload, RunId, Tenant, limits};

use crate::failure::Failure;
pub use crate::orphans::{OrphanAsk, OrphanVerb, OrphansAsk};

/// Rows of a page unless another number is asked for.
pub const ROWS_DEFAULT: usize = 50;

/// A view or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// How the engine is.
    Status,
    /// A page of runs, newest first.
    Runs(RunsAsk),
    /// One run, whole.
    Run(RunAsk),
    /// Why one run stands where it stands.
    Why(WhyAsk),
    /// A command for one run.
    Command(CommandAsk),
    /// Alerts, oldest first.
    Alerts(AlertsAsk),
    /// Effects, by run.
    Effects(EffectsAsk),
    /// One effect, whole.
    Effect(EffectAsk),
    /// What a person says became of an effect.
    Settle(SettleAsk),
    /// Remote work that no run waits for, by run.
    Orphans(OrphansAsk),
    /// What a person wants done about an orphan.
    Orphan(OrphanAsk),
    /// The names of the stored task classes.
    Classes,
    /// One stored task class, whole.
    Class(ClassAsk),
}

/// Which runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsAsk {
    /// Only this tenant's.
    pub tenant: Option<Tenant>,
    /// Only this class's.
    pub class: Option<ClassName>,
    /// Only those in this state.
    pub state: Option<RunState>,
    /// Only those whose newest lap ended so.
    pub outcome: Option<OutcomeKind>,
    /// Only those with, or only those without an effect in doubt.
    pub in_doubt: Option<bool>,
    /// Only runs older than this one.
    pub cursor: Option<RunId>,
    /// Rows, at most `limits::PAGE_ROWS_MAX`.
    pub limit: usize,
}

impl Default for RunsAsk {
    fn default() -> Self {
        Self {
            tenant: None,
            class: None,
            state: None,
            outcome: None,
            in_doubt: None,
            cursor: None,
            limit: ROWS_DEFAULT,
        }
    }
}

/// Which run, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunAsk {
    /// The run.
    pub run: RunId,
    /// Whether payloads and texts of providers are shown.
    pub payloads: bool,
    /// JSON, or text for people.
    pub form: Form,
}

/// Which run is explained, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhyAsk {
    /// The run.
    pub run: RunId,
    /// JSON, or text for people.
    pub form: Form,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For programs.
    Json,
    /// For people.
    Text,
}

/// A command for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAsk {
    /// The run.
    pub run: RunId,
    /// Which command.
    pub verb: CommandVerb,
    /// Who asks, as they call themselves; who they are to the operating system is added. At most
    /// `limits::KEY_BYTES_MAX` bytes.
    pub by: String,
    /// Why. At most `limits::TEXT_BYTES_MAX` bytes.
    pub why: String,
    /// For `Raise`, by how much each limit grows; nothing for the others.
    pub more: Option<Budget>,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandVerb {
    /// Asks the run to stop: what is out is settled first.
    Cancel,
    /// Ends the run whatever its state.
    Terminate,
    /// Opens the next lap of a run that has ended.
    Continue,
    /// Lets the open lap spend more.
    Raise,
}

impl CommandVerb {
    /// Every command.
    pub const ALL: [Self; 4] = [Self::Cancel, Self::Terminate, Self::Continue, Self::Raise];

    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Terminate => "terminate",
            Self::Continue => "continue",
            Self::Raise => "raise",
        }
    }
}

/// Which alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertsAsk {
    /// Only those after this one.
    pub after: u64,
    /// Rows, at most `limits::PAGE_ROWS_MAX`.
    pub limit: usize,
    /// How long to wait for one when there is none, at most `limits::SOCKET_ALERT_WAIT_MS_MAX`.
    pub wait_ms: u64,
}

/// Which effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectsAsk {
    /// Only this run's.
    pub run: Option<RunId>,
    /// Only those in doubt.
    pub in_doubt: bool,
    /// Only those of runs after this one, in the order of the listing.
    pub cursor: Option<RunId>,
}

/// Which effect, and how it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectAsk {
    /// Its key.
    pub key: EffectKey,
    /// Whether payloads and texts of providers are shown.
    pub payloads: bool,
    /// JSON, or text for people.
    pub form: Form,
}

/// What a person says became of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleAsk {
    /// Its key.
    pub key: EffectKey,
    /// What they found out.
    pub verdict: Verdict,
    /// For one that is applied, what its receiver answered or would have, as JSON.
    pub result: Option<Payload>,
    /// Who says so, as they call themselves; who they are to the operating system is added. At most
    /// `limits::KEY_BYTES_MAX` bytes.
    pub by: String,
    /// How they know. At most `limits::TEXT_BYTES_MAX` bytes.
    pub why: String,
}

impl SettleAsk {
    /// `INVALID_INPUT` as for a command.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check_said(&self.by, &self.why)
    }
}

/// Which class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassAsk {
    /// Its name.
    pub name: ClassName,
    /// Its version; the newest without one.
    pub version: Option<u32>,
}

impl CommandAsk {
    /// `INVALID_INPUT` when who or why is not said, or at such length that it would be cut where it
    /// is recorded.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check_said(&self.by, &self.why)?;
        match (self.verb, &self.more) {
            (CommandVerb::Raise, None) => Err(invalid("`more` says by how much".to_owned())),
            (CommandVerb::Raise, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => Err(invalid("`more` is for raise".to_owned())),
        }
    }
}

/// Who and why have to be said, and fit where they are recorded.
pub(crate) fn check_said(by: &str, why: &str) -> Result<(), Failure> {
    let by = ("by", by, limits::KEY_BYTES_MAX);
    let why = ("why", why, limits::TEXT_BYTES_MAX);
    for (name, text, bytes_max) in [by, why] {
        if text.trim().is_empty() || bytes_max < text.len() {
            return Err(invalid(format!("`{name}` has 1 to {bytes_max} bytes")));
        }
    }
    Ok(())
}

/// What is said of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What became of it.
    Settled(Ruling),
    /// It is to be undone.
    Compensate,
}

impl Verdict {
    /// The stable text, for example `not_applied`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Settled(ruling) => ruling.as_str(),
            Self::Compensate => "compensate",
        }
    }
}

/// What is said of an effect by its stable text, on the command line also with a hyphen; the error
/// lists them.
pub fn verdict(text: &str) -> Result<Verdict, String> {
    let settled = [Ruling::Applied, Ruling::NotApplied].map(Verdict::Settled);
    let mut known = settled.into_iter().chain([Verdict::Compensate]);
    let found = known.find(|verdict| verdict.as_str() == text.replace('-', "_"));
    found.ok_or_else(|| "a verdict is one of applied, not-applied, compensate".to_owned())
}

/// A state by its stable text; the error lists them.
pub fn state(text: &str) -> Result<RunState, String> {
    let known = RunState::ALL;
    let found = known.into_iter().find(|state| state.as_str() == text);
    found.ok_or_else(|| {
        format!(
            "a state is one of {}",
            known.map(RunState::as_str).join(", ")
        )
    })
}

/// An outcome by its stable text; the error lists them.
pub fn outcome(text: &str) -> Result<OutcomeKind, String> {
    let known = OutcomeKind::ALL;
    let found = known.into_iter().find(|outcome| outcome.as_str() == text);
    found.ok_or_else(|| {
        let words = known.map(OutcomeKind::as_str).join(", ");
        format!("an outcome is one of {words}")
    })
}

/// A number of rows that one page may have.
pub fn rows(text: &str) -> Result<usize, String> {
    let rows = text.parse().ok();
    rows.filter(|rows| (1..=limits::PAGE_ROWS_MAX).contains(rows))
        .ok_or_else(|| format!("a number from 1 to {}", limits::PAGE_ROWS_MAX))
}

pub(crate) fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
