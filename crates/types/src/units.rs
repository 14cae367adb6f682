//! Times, durations, cost and tokens: integers with a unit in their type.
//!
//! Arithmetic saturates instead of wrapping: a sum that cannot be represented must read as "too
//! much", never as a small number. Nothing here may use a float.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

/// A moment: milliseconds since the Unix epoch, by the engine's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `ms` milliseconds after the Unix epoch (before it when negative).
    #[must_use]
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Millis {
        Millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Time from `self` until `later`; zero when it has passed.
    #[must_use]
    pub fn until(self, later: Self) -> Millis {
        later.since(self)
    }

    /// The moment `by` before this one.
    #[must_use]
    pub fn minus(self, by: Millis) -> Self {
        Self(self.0.saturating_sub(by.as_i64()))
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;

    fn add(self, by: Millis) -> Self {
        Self(self.0.saturating_add(by.as_i64()))
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

impl Millis {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `ms` milliseconds.
    #[must_use]
    pub const fn new(ms: u64) -> Self {
        Self(ms)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000))
    }

    /// `m` minutes.
    #[must_use]
    pub const fn from_mins(m: u64) -> Self {
        Self::from_secs(m.saturating_mul(60))
    }

    /// `h` hours.
    #[must_use]
    pub const fn from_hours(h: u64) -> Self {
        Self::from_mins(h.saturating_mul(60))
    }

    /// `d` days of 24 hours.
    #[must_use]
    pub const fn from_days(d: u64) -> Self {
        Self::from_hours(d.saturating_mul(24))
    }

    /// The number of milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same length for the standard library's timers.
    #[must_use]
    pub const fn to_duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// `self - other`, zero when `other` is longer.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * n`, saturating.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    fn as_i64(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

impl Add for Millis {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Millis {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms < 1_000 => write!(f, "{ms} ms"),
            ms if ms < 120_000 => {
                write!(f, "{}.{:01} s", ms / 1_000, ms % 1_000 / 100)
            }
            ms if ms < 7_200_000 => write!(f, "{} min", ms / 60_000),
            ms if ms < 172_800_000 => write!(f, "{} h", ms / 3_600_000),
            ms => write!(f, "{} d", ms / 86_400_000),
        }
    }
}

/// Cost in abstract units, kept as integer micro-units (1 unit = 1,000,000).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CostUnits(u64);

impl CostUnits {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Whole units.
    #[must_use]
    pub const fn units(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// Thousandths of a unit: `milli(100)` is 0.1 unit.
    #[must_use]
    pub const fn milli(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// Micro-units, the stored form.
    #[must_use]
    pub const fn micros(n: u64) -> Self {
        Self(n)
    }

    /// The amount in micro-units.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// `self - other`, zero when `other` is larger.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * n`, saturating.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl Add for CostUnits {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for CostUnits {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

/// Prints whole units with as many decimals as are needed: `4`, `0.1`, `2.000001`.
/// Units with up to six decimals, for example `5` or `0.25`.
impl FromStr for CostUnits {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "units with up to six decimals, for example 5 or 0.25";
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) || 6 < rest.len() {
            return Err(EXPECTED);
        }
        let micros: u64 = format!("{rest:0<6}").parse().map_err(|_| EXPECTED)?;
        let whole: u64 = whole.parse().map_err(|_| EXPECTED)?;
        let whole = whole.checked_mul(1_000_000).ok_or(EXPECTED)?;
        whole.checked_add(micros).map(Self).ok_or(EXPECTED)
    }
}

impl fmt::Display for CostUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// A count of retry or concurrency tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens(u32);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// `n` tokens.
    #[must_use]
    pub const fn new(n: u32) -> Self {
        Self(n)
    }

    /// How many.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// `self - other`, zero when `other` is more.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_prints_only_the_decimals_it_needs() {
        let shown = [
            CostUnits::units(18),
            CostUnits::milli(100),
            CostUnits::micros(2_000_001),
        ]
        .map(|c| c.to_string());
        assert_eq!(shown, ["18", "0.1", "2.000001"]);
    }

    #[test]
    fn time_never_runs_backwards_through_arithmetic() {
        let (early, late) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!(late.since(early), Millis::new(4));
        assert_eq!(early.since(late), Millis::ZERO);
        assert_eq!(
            Timestamp::from_millis(i64::MAX) + Millis::new(u64::MAX),
            Timestamp(i64::MAX)
        );
    }

    #[test]
    fn a_cost_reads_back_as_it_is_shown_and_nothing_else_is_one() {
        for micros in [0, 1, 250_000, 1_000_000, 1_500_000, 12_000_001, u64::MAX] {
            let cost = CostUnits::micros(micros);
            assert_eq!(cost.to_string().parse(), Ok(cost));
        }
        for text in [
            "",
            ".",
            "5.",
            ".5",
            "-1",
            "1e3",
            "1.0000001",
            "x",
            "18446744073710",
        ] {
            assert!(text.parse::<CostUnits>().is_err(), "{text}");
        }
    }
}
