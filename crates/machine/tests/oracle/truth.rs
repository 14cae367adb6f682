//! What happens to an attempt, whenever it is sent: how long it takes and how it ends.
//!
//! Drawn for every (node, rung, attempt on that rung) of a seed, so that an oracle can know it
//! before anything is sent. Nothing here looks at a run.

use mainstay_graph::Contract;
use mainstay_types::{CostUnits, Failure, FailureKind, Millis, Rung, Sent};

use super::dice::Dice;

const WEATHER: u64 = 2;
const PROVIDER: u64 = 3;
const ATTEMPT: u64 = 4;
const LOOK_UP: u64 = 5;

/// Which attempt: of which node of the drawn class, on which rung, the how-manieth there from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which {
    pub(crate) seed: u64,
    pub(crate) place: u64,
    pub(crate) rung: Rung,
    pub(crate) no: u64,
}

/// What happens to it.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// From its send to its end, if it is left that long.
    pub(crate) latency: Millis,
    /// What it cost, when its provider says so; or how it fails.
    pub(crate) end: Result<Option<CostUnits>, Failure>,
    /// When a write of it lands in the world, counted from its send.
    pub(crate) lands: Option<Millis>,
    /// For the jitter of what may follow.
    pub(crate) draw: u32,
}

impl Truth {
    pub(crate) fn of(contract: &Contract, which: Which) -> Self {
        let fallback = contract.fallback(which.rung);
        let (estimate, cost) = fallback.map_or((contract.estimate, contract.cost), |fallback| {
            (fallback.estimate, fallback.cost)
        });
        let (rung, no) = (u64::from(which.rung.get()), which.no);
        let mut dice = Dice::of(which.seed, &[ATTEMPT, which.place, rung, no]);
        let slow = latency(estimate, &mut dice);
        let failure = failure(which, &mut dice);
        let (latency, end) = match failure {
            // What is refused is mostly refused soon.
            Some(failure) => (
                Millis::new(slow.get() * dice.within(100, 1_000) / 1_000 + 1),
                Err(failure),
            ),
            None => (slow, Ok(said_cost(cost, &mut dice))),
        };
        let lands = lands(latency, &end, &mut dice);
        let draw = dice.fraction();
        Self {
            latency,
            end,
            lands,
            draw,
        }
    }
}

/// Half are done in less than 0.6 of the estimate, nine of ten in it, one of fifty takes 3 to 12
/// times as long.
fn latency(estimate: Millis, dice: &mut Dice) -> Millis {
    let share = match dice.within(0, 99) {
        0..=49 => dice.within(200, 600),
        50..=89 => dice.within(600, 1_000),
        90..=97 => dice.within(1_000, 3_000),
        _ => dice.within(3_000, 12_000),
    };
    Millis::new(estimate.get() * share / 1_000 + 1)
}

/// Most providers tell no cost; the others tell one around the estimate.
fn said_cost(estimate: CostUnits, dice: &mut Dice) -> Option<CostUnits> {
    let share = dice.within(500, 1_200);
    let cost = CostUnits::micros(estimate.as_micros() * share / 1_000);
    dice.permille(200).then_some(cost)
}

fn failure(which: Which, dice: &mut Dice) -> Option<Failure> {
    let weather = Dice::of(which.seed, &[WEATHER]).one_of(&[10, 40, 120, 300]);
    let rung = u64::from(which.rung.get());
    // Some providers are down for the whole run, and say the same every time.
    let mut provider = Dice::of(which.seed, &[PROVIDER, which.place, rung]);
    if provider.permille(weather / 4) {
        return Some(kind(&mut provider));
    }
    dice.permille(weather).then(|| kind(dice))
}

fn kind(dice: &mut Dice) -> Failure {
    let (kind, sent) = match dice.within(0, 99) {
        0..=14 => (FailureKind::TransientTransport, Sent::NotSent),
        15..=34 => (FailureKind::TransientTransport, Sent::MaybeSent),
        35..=39 => (FailureKind::TransientTransport, Sent::Answered),
        40..=59 => (FailureKind::Overloaded, Sent::Answered),
        60..=74 => (FailureKind::RateLimited, Sent::Answered),
        75..=82 => (FailureKind::PermanentProvider, Sent::Answered),
        83..=89 => (FailureKind::ResultInvalid, Sent::Answered),
        90..=95 => (FailureKind::DeadlineExhausted, Sent::Answered),
        96..=97 => (FailureKind::Unauthorized, Sent::Answered),
        _ => (FailureKind::InvalidInput, Sent::Answered),
    };
    let failure = Failure::new(kind, sent);
    if kind == FailureKind::RateLimited && dice.permille(500) {
        return failure.retry_after(Millis::new(dice.within(1, 1_500)));
    }
    failure
}

/// What was answered has landed by then; what was lost may have landed by then, later or never.
fn lands(
    latency: Millis,
    end: &Result<Option<CostUnits>, Failure>,
    dice: &mut Dice,
) -> Option<Millis> {
    let sooner = Millis::new(dice.within(1, latency.get()));
    let later = latency + Millis::new(dice.within(0, 2_000));
    let lost = [Some(sooner), Some(sooner), Some(later), None];
    let lost = dice.one_of(&lost);
    match end {
        Ok(_) => Some(sooner),
        Err(failure) => match (failure.sent, failure.kind) {
            (Sent::MaybeSent, _) => lost,
            (
                Sent::Answered,
                FailureKind::TransientTransport
                | FailureKind::DeadlineExhausted
                | FailureKind::ResultInvalid,
            ) => lost,
            (
                Sent::NotSent | Sent::Answered,
                FailureKind::InvalidInput
                | FailureKind::Unauthorized
                | FailureKind::RateLimited
                | FailureKind::Overloaded
                | FailureKind::TransientTransport
                | FailureKind::PermanentProvider
                | FailureKind::ResultInvalid
                | FailureKind::EffectUnknown
                | FailureKind::DeadlineExhausted
                | FailureKind::Canceled,
            ) => None,
        },
    }
}

/// How long the how-manieth look-up of a call's effect takes, whether the receiver can tell, and
/// the draw for what may follow.
pub(crate) fn look_up(seed: u64, place: u64, number: u32) -> (Millis, bool, u32) {
    let mut dice = Dice::of(seed, &[LOOK_UP, place, u64::from(number)]);
    let latency = Millis::new(dice.within(10, 150));
    (latency, !dice.permille(50), dice.fraction())
}
