//! A scenario: what a run meets, and what it must come to when nothing ends it early.
//!
//! Data and one expectation. It must never say how it is run: `ways` runs every scenario four ways.

use crate::campaign::name_of;
use crate::seen::Seen;

/// What a run meets.
pub struct Scenario {
    /// The test it belongs to.
    pub(crate) test: &'static str,
    /// Actions in the minutes.
    pub(crate) actions: usize,
    /// Faults of the ticket service, in the form of its `--fault`.
    pub(crate) tickets: Vec<String>,
    /// Faults of the specialist.
    pub(crate) specialist: Vec<String>,
    /// Flags of the command and their values.
    pub(crate) flags: Vec<(&'static str, &'static str)>,
    /// Files that are in the store before the run.
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    /// Nobody listens where the tickets should go.
    pub(crate) is_away: bool,
    /// What the run meets depends on how late it comes there.
    pub(crate) is_unsteady: bool,
    /// Its runs wait for most of their time.
    pub(crate) is_waiting: bool,
    /// No two requests that leave together end together.
    pub(crate) is_paced: bool,
    /// What must be seen of a run that nothing ended early.
    pub(crate) expect: fn(&Seen<'_>),
}

impl Scenario {
    /// The scenario of this test: minutes with so many actions, and services without faults.
    #[must_use]
    pub fn of<F: Fn()>(test: F, actions: usize, expect: fn(&Seen<'_>)) -> Self {
        Self {
            test: name_of(test),
            actions,
            tickets: Vec::new(),
            specialist: Vec::new(),
            flags: Vec::new(),
            files: Vec::new(),
            is_away: false,
            is_unsteady: false,
            is_waiting: false,
            is_paced: true,
            expect,
        }
    }

    /// With faults of the ticket service.
    #[must_use]
    pub fn tickets(mut self, faults: &[&str]) -> Self {
        self.tickets.extend(faults.iter().map(ToString::to_string));
        self
    }

    /// With faults of the specialist.
    #[must_use]
    pub fn specialist(mut self, faults: &[&str]) -> Self {
        let faults = faults.iter().map(ToString::to_string);
        self.specialist.extend(faults);
        self
    }

    /// With another flag of the command.
    #[must_use]
    pub fn flag(mut self, flag: &'static str, value: &'static str) -> Self {
        self.flags.push((flag, value));
        self
    }

    /// With a file in the store's folder.
    #[must_use]
    pub fn file(mut self, name: &'static str, content: Vec<u8>) -> Self {
        self.files.push((name, content));
        self
    }

    /// With nobody where the tickets should go.
    #[must_use]
    pub const fn away(mut self) -> Self {
        self.is_away = true;
        self
    }

    /// Whose outcome depends on moments, so that no two of its runs need to end alike: what is
    /// expected names every outcome it may have, of a run that was killed, too.
    #[must_use]
    pub const fn unsteady(mut self) -> Self {
        self.is_unsteady = true;
        self
    }

    /// Whose runs wait most of their time, for a back-off or a horizon: more of them fit beside
    /// each other.
    #[must_use]
    pub const fn waiting(mut self) -> Self {
        self.is_waiting = true;
        self
    }

    /// With services that take no longer than their faults say. Else each request takes a time of
    /// its own, so that each end of one is an append of its own.
    #[must_use]
    pub const fn unpaced(mut self) -> Self {
        self.is_paced = false;
        self
    }
}
