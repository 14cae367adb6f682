//! Why a decision was taken: the stable words in the log beside its numbers.
//!
//! A reason explains a decision that was taken; a [`crate::Code`] says why something was refused.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)*) => {
        /// A stable reason code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)* }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it says, in a sentence or two.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)* }
            }

            /// The reason with this text.
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.as_str() == code)
            }
        }
    };
}

reasons! {
    /// The failure kind and the budget allow another attempt.
    RetryAllowed = "RETRY_ALLOWED",
    /// The provider asked to wait longer than the run has.
    RetryAfterExceedsRemaining = "RETRY_AFTER_EXCEEDS_REMAINING_BUDGET",
    /// A write went out and no answer came.
    WriteResponseLost = "WRITE_RESPONSE_LOST",
    /// The process that sent it is gone.
    OwnerLost = "OWNER_LOST",
    /// The send window passed before the request could leave.
    SendWindowPassed = "SEND_WINDOW_PASSED",
    /// The list of an each's values is larger than a value may be.
    ResultTooLarge = "RESULT_TOO_LARGE",
    /// The same request can never succeed.
    SameInputFails = "SAME_INPUT_FAILS",
    /// The call's attempts are used up.
    AttemptsExhausted = "ATTEMPTS_EXHAUSTED",
    /// The receiver may have forgotten the key before another request would land.
    KeyTooOld = "KEY_TOO_OLD",
    /// The run's retry tokens are used up.
    RetryTokensExhausted = "RETRY_TOKENS_EXHAUSTED",
    /// The dependency takes no retries now.
    DependencyAtCapacity = "DEPENDENCY_AT_CAPACITY",
    /// The tenant's share of retries is used up.
    TenantQuotaReached = "TENANT_QUOTA_REACHED",
    /// So many attempts of all runs are retries that no more may be.
    RetryRatioReached = "RETRY_RATIO_REACHED",
    /// The reply did not keep its schema: it is asked for once more, with what was wrong.
    RepairAllowed = "REPAIR_ALLOWED",
    /// A running soft read was stopped for a hard call that waited for its place.
    Preempted = "PREEMPTED",
    /// What the run needs at least does not fit before its answer.
    InsufficientTimeBudget = "INSUFFICIENT_TIME_BUDGET",
    /// The run's cost units are used up.
    CostExhausted = "COST_EXHAUSTED",
    /// A cap of the class is reached.
    CapReached = "CAP_REACHED",
    /// No attempt fits before work_by less the reserves.
    DeadlineExhausted = "DEADLINE_EXHAUSTED",
    /// A hard call failed, so its result cannot be had.
    HardCallFailed = "HARD_CALL_FAILED",
    /// A call it needs was omitted, skipped or failed.
    InputMissing = "INPUT_MISSING",
    /// The predicate said no.
    PredicateFalse = "PREDICATE_FALSE",
    /// The soft call failed and its absence is said.
    SoftCallFailed = "SOFT_CALL_FAILED",
    /// The soft call would have taken what the hard path needs.
    SoftYields = "SOFT_YIELDS",
    /// The provider answered.
    Answered = "ANSWERED",
    /// Proven: no request left.
    NotSent = "NOT_SENT",
    /// The receiver answered that it did not do it.
    RefusedByReceiver = "REFUSED_BY_RECEIVER",
    /// The receiver says that it has the request under this key.
    FoundApplied = "FOUND_APPLIED",
    /// The receiver does not know the key, and the horizon has passed.
    AbsentAfterHorizon = "ABSENT_AFTER_HORIZON",
    /// The receiver does not know the key, but the request may still land.
    NotFoundInsideHorizon = "NOT_FOUND_INSIDE_HORIZON",
    /// The receiver is still working on it.
    StillInProgress = "STILL_IN_PROGRESS",
    /// Nothing was heard in its time of remote work that was given up.
    StillRunning = "STILL_RUNNING",
    /// The receiver could not be asked or could not tell.
    CannotTell = "CANNOT_TELL",
    /// The receiver did a part of it.
    PartlyApplied = "PARTLY_APPLIED",
    /// A person found out and said so.
    SettledByHand = "SETTLED_BY_HAND",
    /// It was done and has been undone since.
    Compensated = "COMPENSATED",
    /// Another run had already applied the same key with the same request.
    AdoptedFromOtherRun = "ADOPTED_FROM_OTHER_RUN",
    /// Another run holds the key.
    KeyHeldByOtherRun = "KEY_HELD_BY_OTHER_RUN",
    /// The recorded request under this key differs.
    IdempotencyMismatch = "IDEMPOTENCY_MISMATCH",
    /// An earlier request under the same key is in the world, and another one may be, too.
    DoneTwice = "DONE_TWICE",
    /// Someone asked for it.
    Requested = "REQUESTED",
    /// Everything the result needs is there.
    AllSettled = "ALL_SETTLED",
    /// Time to answer is up and something is still open.
    AnswerTimeReached = "ANSWER_TIME_REACHED",
    /// The run is void as business.
    Expired = "EXPIRED",
    /// An effect stayed in doubt for longer than the run may wait.
    DoubtWaitOver = "DOUBT_WAIT_OVER",
    /// The user's code panicked.
    CodePanicked = "CODE_PANICKED",
    /// The user's code returned an error without a kind.
    Unclassified = "UNCLASSIFIED",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
