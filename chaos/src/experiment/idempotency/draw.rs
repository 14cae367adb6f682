//! Chance: what is drawn for a session, and for the n-th request of an order.
//!
//! A draw is a hash of the seed and of what it is for. It must never depend on what was drawn
//! before it, on a clock or on the strategy: all strategies meet the same sessions and the same
//! faults.

use std::time::Duration;

use serde::Deserialize;

use super::faults::{Faults, Way};

/// Where every draw of an experiment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

/// An order that somebody really wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Intent {
    /// The session, from 0.
    pub session: u32,
    /// Which of the session's orders, from 0.
    pub order: u32,
}

/// What a request asks the receiver for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// To place an order.
    Send,
    /// What became of one.
    LookUp,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done and answered at once.
    InTime,
    /// It is done and answered, both so long after its arrival; no client waits for that.
    Late {
        /// When it comes to its turn.
        lands: Duration,
        /// When it is answered, at the earliest.
        answers: Duration,
    },
    /// It is not done and not answered.
    Lost,
}

/// All draws of one experiment.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    seed: Seed,
    faults: Faults,
}

impl Draws {
    /// The draws of this seed and fault model.
    #[must_use]
    pub fn new(seed: Seed, faults: Faults) -> Self {
        Self { seed, faults }
    }

    /// What becomes of the `nth` request, from 0, of its kind for this order.
    #[must_use]
    pub fn fate(&self, ask: Ask, intent: Intent, nth: u32) -> Fate {
        let (label, way) = match ask {
            Ask::Send => ("send", self.faults.send),
            Ask::LookUp => ("look_up", self.faults.look_up),
        };
        let draw = |what: &str| self.draw(&format!("{label}.{what}"), intent, nth);
        if draw("lost") < way.lost {
            return Fate::Lost;
        }
        if draw("late") < self.late(way, intent.session) {
            return self.late_by(draw("lands"));
        }
        Fate::InTime
    }

    fn late(&self, way: Way, session: u32) -> f64 {
        match self.is_in_slow_spell(session) {
            true => way.late_in_slow_spell,
            false => way.late,
        }
    }

    /// Whether the tool is slow as long as this session lasts.
    #[must_use]
    pub fn is_in_slow_spell(&self, session: u32) -> bool {
        let first = Intent { session, order: 0 };
        self.draw("spell", first, 0) < self.faults.spell.share_of_sessions
    }

    /// The moments of a late request: done somewhere below the bound, with room for the work and
    /// for a machine that is late itself; answered well behind the client's timeout, so that no
    /// reply that is drawn late is in time.
    fn late_by(&self, draw: f64) -> Fate {
        let lands = self.faults.bound().mul_f64(0.75 * draw);
        Fate::Late {
            lands,
            answers: self.faults.timeout().mul_f64(1.5),
        }
    }

    /// Whether the model calls again after the `nth` error, from 0, about this order.
    pub(crate) fn calls_again(&self, intent: Intent, nth: u32) -> bool {
        self.draw("calls_again", intent, nth) < self.faults.model.calls_again
    }

    /// Whether it changes the memo then.
    pub(crate) fn changes_memo(&self, intent: Intent, nth: u32) -> bool {
        self.draw("changes_memo", intent, nth) < self.faults.model.changes_memo
    }

    /// Whether it calls again although it was told that this order is done.
    pub(crate) fn calls_again_after_done(&self, intent: Intent) -> bool {
        self.draw("calls_again_after_done", intent, 0) < self.faults.model.calls_again_after_done
    }

    /// Whether the same is really wanted once more behind this order.
    pub(crate) fn wants_second(&self, intent: Intent) -> bool {
        self.draw("wants_second", intent, 0) < self.faults.model.wants_second
    }

    /// A number from 0 to below 1.
    fn draw(&self, what: &str, intent: Intent, nth: u32) -> f64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(what.as_bytes()).update(b"\0");
        hasher.update(&self.seed.0.to_le_bytes());
        for number in [intent.session, intent.order, nth] {
            hasher.update(&number.to_le_bytes());
        }
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        // What a double holds exactly.
        (u64::from_le_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: u32 = 20_000;

    fn draws(seed: u64) -> Draws {
        Draws::new(Seed(seed), Faults::of_the_experiment())
    }

    fn fates(draws: &Draws, ask: Ask, nth: u32) -> Vec<Fate> {
        let intent = |session| Intent { session, order: 0 };
        (0..ORDERS)
            .map(|session| draws.fate(ask, intent(session), nth))
            .collect()
    }

    fn share(of: &[Fate], is: impl Fn(&Fate) -> bool) -> f64 {
        of.iter().filter(|fate| is(fate)).count() as f64 / of.len() as f64
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_seed_something_else() {
        let once = fates(&draws(7), Ask::Send, 0);
        assert_eq!(once, fates(&draws(7), Ask::Send, 0));
        assert_ne!(once, fates(&draws(8), Ask::Send, 0));
        assert_ne!(once, fates(&draws(7), Ask::Send, 1));
        assert_ne!(once, fates(&draws(7), Ask::LookUp, 0));
    }

    #[test]
    fn faults_are_as_frequent_as_the_file_says() {
        for ask in [Ask::Send, Ask::LookUp] {
            let fates = fates(&draws(20_261_005), ask, 0);
            let lost = share(&fates, |fate| *fate == Fate::Lost);
            let late = share(&fates, |fate| matches!(fate, Fate::Late { .. }));
            // Of those not lost, 4 % in 95 % of the sessions and 70 % in the others.
            assert!((lost - 0.04).abs() < 0.005, "{lost}");
            assert!((late - 0.96 * 0.073).abs() < 0.006, "{late}");
        }
    }

    #[test]
    fn a_spell_holds_for_all_requests_of_a_session() {
        let draws = draws(1);
        let slow: Vec<u32> = (0..ORDERS)
            .filter(|session| draws.is_in_slow_spell(*session))
            .collect();
        let in_all = slow.len() as f64 / f64::from(ORDERS);
        assert!((in_all - 0.05).abs() < 0.005, "{in_all}");
        for nth in [0, 1, 5] {
            let fate = |session: &u32| {
                let (session, order) = (*session, 1);
                draws.fate(Ask::Send, Intent { session, order }, nth)
            };
            let fates: Vec<Fate> = slow.iter().map(fate).collect();
            let late = share(&fates, |fate| matches!(fate, Fate::Late { .. }));
            assert!((late - 0.96 * 0.7).abs() < 0.05, "{nth}: {late}");
        }
    }

    #[test]
    fn what_is_late_lands_within_the_bound_and_is_answered_behind_the_timeout() {
        let faults = Faults::of_the_experiment();
        let mut landings = Vec::new();
        for fate in fates(&draws(3), Ask::Send, 0) {
            if let Fate::Late { lands, answers } = fate {
                assert!(lands + 2 * faults.work() < faults.bound(), "{lands:?}");
                assert!(faults.timeout() < answers && answers < faults.bound());
                landings.push(lands);
            }
        }
        let behind = |moment| landings.iter().filter(|lands| moment < **lands).count();
        assert!(
            landings.len() / 2 < behind(faults.timeout()),
            "most land after the timeout"
        );
        assert!(
            behind(faults.timeout()) < landings.len(),
            "some land before it"
        );
    }
}
