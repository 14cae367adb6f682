//! The faults that are armed now, shared by the serve loop, the front and the handlers.
//!
//! It must never act itself: whoever takes a fault does what it says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use crate::fault::{Fault, FaultKind};
use crate::log::Subject;

/// Most faults armed at once; the next is refused.
pub const FAULTS_MAX: usize = 64;

/// An armed fault as `GET /faults` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Armed {
    /// Counts from 1 for each process.
    pub id: u64,
    /// What was asked for.
    #[serde(flatten)]
    pub fault: Fault,
    /// How often it has struck.
    pub used: u32,
    /// How often it may still strike; `None` is without end.
    pub left: Option<u32>,
    #[serde(skip)]
    expires: Option<Instant>,
}

/// Why a fault was not armed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArmError {
    /// This service cannot do it.
    #[error("this service has no fault {0}")]
    Unsupported(&'static str),
    /// It contradicts itself.
    #[error("{0}")]
    Invalid(&'static str),
    /// `FAULTS_MAX` are armed.
    #[error("{FAULTS_MAX} faults are armed; clear them first")]
    Full,
}

/// A handle on the armed faults; clones share them.
#[derive(Clone, Debug)]
pub struct Faults {
    supported: &'static [FaultKind],
    board: Arc<Mutex<Board>>,
}

#[derive(Debug, Default)]
struct Board {
    last_id: u64,
    armed: Vec<Armed>,
}

impl Faults {
    /// Nothing armed; only the `supported` kinds can be.
    pub fn new(supported: &'static [FaultKind]) -> Faults {
        Faults {
            supported,
            board: Arc::default(),
        }
    }

    /// Arms a fault behind those armed before it.
    pub fn arm(&self, fault: Fault) -> Result<Armed, ArmError> {
        if !self.supported.contains(&fault.kind) {
            return Err(ArmError::Unsupported(fault.kind.name()));
        }
        if let Some(why) = fault.complaint() {
            return Err(ArmError::Invalid(why));
        }
        let mut board = self.board.lock();
        board.armed.retain(Armed::is_live);
        if board.armed.len() >= FAULTS_MAX {
            return Err(ArmError::Full);
        }
        board.last_id += 1;
        let expires = fault
            .for_ms
            .and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        let armed = Armed {
            id: board.last_id,
            left: fault.times,
            used: 0,
            fault,
            expires,
        };
        board.armed.push(armed.clone());
        Ok(armed)
    }

    /// What is armed and can still strike, oldest first.
    pub fn list(&self) -> Vec<Armed> {
        self.board
            .lock()
            .armed
            .iter()
            .filter(|armed| armed.is_live())
            .cloned()
            .collect()
    }

    /// Disarms all.
    pub fn clear(&self) {
        self.board.lock().armed.clear();
    }

    /// Uses up one strike of the oldest fault of `kind` that concerns `subject`.
    pub fn take(&self, kind: FaultKind, subject: &Subject) -> Option<Fault> {
        self.take_if(kind, |fault| fault.matches.covers(subject))
    }

    /// Uses up one strike of `down`, which concerns connections.
    pub fn take_down(&self) -> bool {
        self.take_if(FaultKind::Down, |_| true).is_some()
    }

    fn take_if(&self, kind: FaultKind, concerns: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let mut board = self.board.lock();
        let armed = board
            .armed
            .iter_mut()
            .find(|a| a.fault.kind == kind && a.is_live() && concerns(&a.fault))?;
        armed.used = armed.used.saturating_add(1);
        armed.left = armed.left.map(|left| left.saturating_sub(1));
        Some(armed.fault.clone())
    }
}

impl Armed {
    fn is_live(&self) -> bool {
        self.left != Some(0) && self.expires.is_none_or(|at| Instant::now() < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(position: u32) -> Subject {
        Subject {
            position: Some(position),
            ..Subject::default()
        }
    }

    fn faults() -> Faults {
        Faults::new(&[FaultKind::Unavailable, FaultKind::Down])
    }

    #[test]
    fn a_fault_strikes_its_requests_as_often_as_it_says() {
        let faults = faults();
        faults
            .arm(Fault::new(FaultKind::Unavailable).times(2).position(3))
            .unwrap();
        assert!(faults.take(FaultKind::Unavailable, &about(2)).is_none());
        assert!(faults.take(FaultKind::Unavailable, &about(3)).is_some());
        assert_eq!((faults.list()[0].used, faults.list()[0].left), (1, Some(1)));
        assert!(faults.take(FaultKind::Unavailable, &about(3)).is_some());
        assert!(faults.take(FaultKind::Unavailable, &about(3)).is_none());
        assert!(faults.list().is_empty());
    }

    #[test]
    fn what_a_service_cannot_do_cannot_be_armed() {
        let refused = faults().arm(Fault::new(FaultKind::NoDedupe)).unwrap_err();
        assert_eq!(refused, ArmError::Unsupported("no_dedupe"));
    }

    #[test]
    fn the_board_is_bounded_and_what_is_used_up_makes_room() {
        let faults = faults();
        for _ in 0..FAULTS_MAX {
            faults.arm(Fault::new(FaultKind::Down).times(1)).unwrap();
        }
        assert_eq!(
            faults.arm(Fault::new(FaultKind::Down)).unwrap_err(),
            ArmError::Full
        );
        assert!(faults.take_down());
        assert!(faults.arm(Fault::new(FaultKind::Down)).is_ok());
    }

    #[test]
    fn a_fault_whose_time_is_over_does_not_strike() {
        let faults = faults();
        faults
            .arm(Fault {
                for_ms: Some(0),
                ..Fault::new(FaultKind::Down)
            })
            .unwrap();
        assert!(!faults.take_down());
        assert!(faults.list().is_empty());
    }
}
