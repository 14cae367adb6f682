//! What a lap may still spend: retry tokens, concurrency tokens, cost units.
//!
//! Reserved when an attempt is authorised, settled when it is over, never twice. Authorised
//! amounts stay within the limits at every prefix of the log; what an attempt really cost may
//! exceed its estimate, and then nothing more starts.

use mainstay_graph::Budget;
use mainstay_types::{Code, CostUnits, Refusal, Tokens};

/// A lap's budget as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetState {
    /// What the lap may spend.
    pub limits: Budget,
    /// Retry tokens used, those included that client libraries took without asking.
    pub retry_used: Tokens,
    /// Attempts in flight.
    pub in_flight: Tokens,
    /// Most attempts that were in flight at once.
    pub in_flight_peak: Tokens,
    /// Cost reserved for attempts in flight.
    pub reserved: CostUnits,
    /// Cost of attempts that are over.
    pub spent: CostUnits,
    /// The part of `spent` that is assumed, because the process that knew it is gone.
    pub assumed: CostUnits,
}

impl BudgetState {
    /// Nothing spent yet.
    #[must_use]
    pub const fn new(limits: Budget) -> Self {
        Self {
            limits,
            retry_used: Tokens::ZERO,
            in_flight: Tokens::ZERO,
            in_flight_peak: Tokens::ZERO,
            reserved: CostUnits::ZERO,
            spent: CostUnits::ZERO,
            assumed: CostUnits::ZERO,
        }
    }

    /// Cost neither spent nor reserved.
    #[must_use]
    pub fn cost_left(&self) -> CostUnits {
        self.limits.cost_units.less(self.spent + self.reserved)
    }

    /// Retry tokens left.
    #[must_use]
    pub fn retries_left(&self) -> Tokens {
        self.limits.retry_tokens.less(self.retry_used)
    }

    /// Concurrency tokens left.
    #[must_use]
    pub fn concurrency_left(&self) -> Tokens {
        self.limits.concurrency_tokens.less(self.in_flight)
    }

    /// Whether there is a place for an attempt; `held` are places of attempts whose process is gone
    /// and that may still run.
    pub(crate) fn check_place(&self, held: Tokens) -> Result<(), Refusal> {
        if held < self.concurrency_left() {
            return Ok(());
        }
        Err(Refusal::new(Code::ConcurrencyExhausted)
            .with("in_flight", self.in_flight.get())
            .with("held", held.get())
            .with("limit", self.limits.concurrency_tokens.get()))
    }

    /// Whether so many retry tokens are left.
    pub(crate) fn check_retries(&self, tokens: Tokens) -> Result<(), Refusal> {
        if tokens <= self.retries_left() {
            return Ok(());
        }
        Err(Refusal::new(Code::RetryTokensExhausted)
            .with("need", tokens.get())
            .with("left", self.retries_left().get())
            .with("limit", self.limits.retry_tokens.get()))
    }

    /// Whether `tokens` and `cost` can be reserved now, leaving `cost_kept` untouched; `held` are
    /// concurrency tokens of attempts whose process is gone and that may still run.
    pub fn check(
        &self,
        tokens: Tokens,
        held: Tokens,
        (cost, cost_kept): (CostUnits, CostUnits),
    ) -> Result<(), Refusal> {
        self.check_retries(tokens)?;
        self.check_place(held)?;
        let numbers = |code| {
            Refusal::new(code)
                .with("need_micros", cost.as_micros())
                .with("kept_micros", cost_kept.as_micros())
                .with("left_micros", self.cost_left().as_micros())
        };
        if self.cost_left() < cost {
            return Err(numbers(Code::CostExhausted));
        }
        if self.cost_left() < cost + cost_kept {
            return Err(numbers(Code::SoftYields));
        }
        Ok(())
    }

    /// An attempt was authorised.
    pub(crate) fn reserve(&mut self, tokens: Tokens, cost: CostUnits) {
        self.retry_used = self.retry_used + tokens;
        self.in_flight = self.in_flight + Tokens::new(1);
        self.in_flight_peak = self.in_flight_peak.max(self.in_flight);
        self.reserved = self.reserved + cost;
    }

    /// An attempt is not out any more. Told to the newest lap, whichever lap sent it: what is out
    /// counts against the concurrency of the lap that is driven.
    pub(crate) fn came_back(&mut self) {
        self.in_flight = self.in_flight.less(Tokens::new(1));
    }

    /// An attempt of this lap is over: `reserved` is released, `cost` is spent.
    pub(crate) fn settle(&mut self, reserved: CostUnits, cost: CostUnits) {
        self.reserved = self.reserved.less(reserved);
        self.spent = self.spent + cost;
    }

    /// A client library retried inside an attempt. It did not ask, so the limit may be passed;
    /// no retry of ours starts then.
    pub(crate) fn deduct(&mut self, client_retries: u32) {
        self.retry_used = self.retry_used + Tokens::new(client_retries);
    }

    /// An attempt is over and its cost is only assumed.
    pub(crate) fn assume(&mut self, reserved: CostUnits) {
        self.settle(reserved, reserved);
        self.assumed = self.assumed + reserved;
    }

    /// What undoes an effect is paid for by whoever wants it undone: the limits follow what it
    /// takes, so that it neither uses up what the lap has nor leaves it more than it had.
    pub(crate) fn cover(&mut self, tokens: Tokens, (before, cost): (CostUnits, CostUnits)) {
        let limits = &mut self.limits;
        limits.retry_tokens = limits.retry_tokens + tokens;
        limits.cost_units = (limits.cost_units + cost).less(before);
    }

    /// A cost became known after its attempt was settled at `counted`, `assumed` of it assumed.
    pub(crate) fn correct(&mut self, counted: CostUnits, assumed: CostUnits, cost: CostUnits) {
        self.assumed = self.assumed.less(assumed);
        self.spent = self.spent.less(counted) + cost;
    }
}
