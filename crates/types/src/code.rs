//! Error codes: stable text, family, whether a retry can help, one line, one page each.
//!
//! A code is never reused for another meaning. The pages are `errors/<CODE>.md` of this crate.

use std::fmt;

/// What kind of "no" a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Policy said no; nothing changed.
    Refusal,
    /// The environment failed.
    Fault,
    /// Stored bytes contradict the rules.
    Corrupt,
    /// A task class is not valid; found when it is built.
    Problem,
}

/// Whether doing the same again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryHelps {
    /// Never for the same request.
    No,
    /// At once, or after the wait that is named.
    Yes,
    /// Only after something else changed (time, space, a person).
    Later,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $family:ident, $retry:ident, $summary:literal;)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $summary] $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable text, for example `START_KEY_MISMATCH`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What kind of "no" it is.
            #[must_use]
            pub const fn family(self) -> Family {
                match self { $(Self::$name => Family::$family,)* }
            }

            /// Whether doing the same again can help.
            #[must_use]
            pub const fn retry_helps(self) -> RetryHelps {
                match self { $(Self::$name => RetryHelps::$retry,)* }
            }

            /// One line for people.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)* }
            }

            /// The page of the code: cause, what to do, example (Markdown).
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../errors/", $text, ".md")),)*
                }
            }

            /// The code with this text.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }
    };
}

codes! {
    // Refusals: what a caller or a call asked for is not allowed now.
    InvalidInput = "INVALID_INPUT", Refusal, No, "the input is not acceptable";
    StartKeyMismatch = "START_KEY_MISMATCH", Refusal, No,
        "this start key already stands for another input";
    IdempotencyMismatch = "IDEMPOTENCY_MISMATCH", Refusal, No,
        "this effect key was used with another request";
    ClassUnknown = "CLASS_UNKNOWN", Refusal, Later, "no such task class is registered";
    ClassChanged = "CLASS_CHANGED", Refusal, No,
        "a class of this name and version is known with other content";
    RunUnknown = "RUN_UNKNOWN", Refusal, No, "there is no such run";
    RunOpen = "RUN_OPEN", Refusal, Later, "the run is not closed";
    RunEnded = "RUN_ENDED", Refusal, No, "the run has ended";
    ContinueRefused = "CONTINUE_REFUSED", Refusal, No,
        "the run has no lap that can be gone on from";
    RunQuarantined = "RUN_QUARANTINED", Refusal, Later, "the run is quarantined";
    RunNotLive = "RUN_NOT_LIVE", Refusal, Later, "no engine drives this run now";
    WaitingForCode = "WAITING_FOR_CODE", Refusal, Later,
        "the run's task class is not registered in this process";
    CallUnknown = "CALL_UNKNOWN", Refusal, No, "the run has no such call";
    CallNotReady = "CALL_NOT_READY", Refusal, Later, "the call may not start in its state";
    AttemptUnknown = "ATTEMPT_UNKNOWN", Refusal, No, "the call has no such attempt in flight";
    AttemptSettled = "ATTEMPT_SETTLED", Refusal, No, "the attempt's end is known already";
    AttemptAlreadySent = "ATTEMPT_ALREADY_SENT", Refusal, No,
        "an attempt's permit allows one send";
    EffectInDoubt = "EFFECT_IN_DOUBT", Refusal, Later,
        "what became of the last attempt is not known yet";
    EffectNotThere = "EFFECT_NOT_THERE", Refusal, No, "there is no effect under this key";
    CannotBeUndone = "CANNOT_BE_UNDONE", Refusal, No, "its class does not say how it is undone";
    SettleRefused = "SETTLE_REFUSED", Refusal, Later, "the effect cannot be settled like this";
    OrphanNotThere = "ORPHAN_NOT_THERE", Refusal, No,
        "no remote work of this attempt is waited for any more";
    DeadlineExhausted = "DEADLINE_EXHAUSTED", Refusal, No,
        "the attempt cannot end before the reserves begin";
    AttemptsExhausted = "ATTEMPTS_EXHAUSTED", Refusal, No, "the call's attempts are used up";
    KeyTooOld = "KEY_TOO_OLD", Refusal, No,
        "the receiver may have forgotten the key before the request lands";
    RetryTokensExhausted = "RETRY_TOKENS_EXHAUSTED", Refusal, Later,
        "the run's retry tokens are used up";
    ConcurrencyExhausted = "CONCURRENCY_EXHAUSTED", Refusal, Later,
        "all concurrency tokens of the run are out";
    CostExhausted = "COST_EXHAUSTED", Refusal, Later, "the run's cost units do not suffice";
    CapReached = "CAP_REACHED", Refusal, Later, "a cap of the class is reached";
    RaiseRefused = "RAISE_REFUSED", Refusal, No, "the budget cannot be raised like this";
    InsufficientTimeBudget = "INSUFFICIENT_TIME_BUDGET", Refusal, Later,
        "what the run needs at least does not fit before its answer";
    SoftYields = "SOFT_YIELDS", Refusal, Later,
        "a soft call leaves the hard path what it needs";
    EngineFull = "ENGINE_FULL", Refusal, Yes, "the engine drives as many runs as it may";
    EngineStopping = "ENGINE_STOPPING", Refusal, Later, "the engine is shutting down";
    InboxFull = "INBOX_FULL", Refusal, Yes, "too many commands wait for this run";
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", Refusal, No, "a value is larger than allowed";
    ListTooLong = "LIST_TOO_LONG", Refusal, No, "a list has more items than its bound";
    KeyHeld = "KEY_HELD", Refusal, Later, "another run holds this key";
    KeysCollide = "KEYS_COLLIDE", Refusal, No,
        "another key has the place that this key would have";
    ImportConflict = "IMPORT_CONFLICT", Refusal, No,
        "what is to be imported is in the store already";
    SocketBusy = "SOCKET_BUSY", Refusal, Yes,
        "the local socket serves as many callers as it may";
    SocketForbidden = "SOCKET_FORBIDDEN", Refusal, No,
        "the local socket serves its own user and root only";

    // Faults: the environment failed.
    StoreLocked = "STORE_LOCKED", Fault, Later, "another process holds the store";
    StoreMissing = "STORE_MISSING", Fault, No, "there is no store in this folder";
    StoreVersion = "STORE_VERSION", Fault, No, "the store has a format this version cannot read";
    StoreDamaged = "STORE_DAMAGED", Fault, No, "the store cannot be opened as it is";
    StoreFull = "STORE_FULL", Fault, Later, "there is no room to append";
    StorePoisoned = "STORE_POISONED", Fault, Later,
        "the store failed while writing and takes nothing more";
    StoreIo = "STORE_IO", Fault, Later, "reading the store failed";
    ExportIo = "EXPORT_IO", Fault, Later, "an export's file cannot be written or read";
    ExportDamaged = "EXPORT_DAMAGED", Fault, No, "an export is not what was written";
    ModelKeyMissing = "MODEL_KEY_MISSING", Fault, Later,
        "the environment variable with the model's key is not set";
    SocketFailed = "SOCKET_FAILED", Fault, Later,
        "the process that holds the store did not answer as it should";
    SocketProtocol = "SOCKET_PROTOCOL", Fault, No,
        "the process that holds the store speaks another protocol";
    LeaseLost = "LEASE_LOST", Fault, No, "another owner drives this run";
    ProcessAborted = "PROCESS_ABORTED", Fault, No,
        "processes in a row ended while this run was being executed";
    ClassPanicked = "CLASS_PANICKED", Fault, No, "the class's own code panicked";
    TurnPanicked = "TURN_PANICKED", Fault, No, "driving the run panicked";

    // Corrupt: stored bytes contradict the rules.
    CorruptRecord = "CORRUPT_RECORD", Corrupt, No, "a stored record fails its checksum or form";
    CorruptChain = "CORRUPT_CHAIN", Corrupt, No, "a run's records do not follow each other";
    CorruptTransition = "CORRUPT_TRANSITION", Corrupt, No,
        "a stored event contradicts the state before it";

    // Problems of a task class.
    NameInvalid = "NAME_INVALID", Problem, No, "a name breaks the rules for names";
    NameTaken = "NAME_TAKEN", Problem, No, "two nodes share a name";
    ForeignRef = "FOREIGN_REF", Problem, No, "a ref belongs to another builder";
    RefUnknown = "REF_UNKNOWN", Problem, No, "a node needs one that does not exist before it";
    TooManyNodes = "TOO_MANY_NODES", Problem, No, "the class has too many nodes";
    TooManyFallbacks = "TOO_MANY_FALLBACKS", Problem, No, "a call has too many fallbacks";
    NoNodes = "NO_NODES", Problem, No, "the class has no nodes";
    BudgetInvalid = "BUDGET_INVALID", Problem, No, "the budget is zero or beyond its bound";
    BudgetTooSmall = "BUDGET_TOO_SMALL", Problem, No,
        "the budget cannot pay the hard path even once";
    TimesInvalid = "TIMES_INVALID", Problem, No, "the times are not in order";
    ReservesExceedTime = "RESERVES_EXCEED_TIME", Problem, No,
        "the reserves leave no time to work";
    CriticalPathTooLong = "CRITICAL_PATH_TOO_LONG", Problem, No,
        "the hard path's estimates do not fit before work_by";
    AttemptsInvalid = "ATTEMPTS_INVALID", Problem, No, "max attempts is zero or beyond its bound";
    ContractInvalid = "CONTRACT_INVALID", Problem, No, "parts of a contract contradict each other";
    FallbackNotAllowed = "FALLBACK_NOT_ALLOWED", Problem, No,
        "this kind of node cannot have this fallback";
    ListBoundInvalid = "LIST_BOUND_INVALID", Problem, No, "an each has no usable bound";
    ToolsInvalid = "TOOLS_INVALID", Problem, No, "tools are not offered like this";
    EffectNameTaken = "EFFECT_NAME_TAKEN", Problem, No,
        "two writes share an effect name and a scope";
    HorizonExceedsReserve = "HORIZON_EXCEEDS_RESERVE", Problem, No,
        "a lost reply cannot be settled in the time reserved for it";
    SchemaInvalid = "SCHEMA_INVALID", Problem, No, "a value's JSON Schema is not canonical JSON";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_own_text_and_a_page_that_says_whether_a_retry_helps() {
        let mut seen = std::collections::BTreeSet::new();
        for &code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert_eq!(Code::from_text(code.as_str()), Some(code));
            let helps = match code.retry_helps() {
                RetryHelps::No => "Retry helps: no",
                RetryHelps::Yes => "Retry helps: yes",
                RetryHelps::Later => "Retry helps: later",
            };
            assert!(
                code.page().contains(helps),
                "{code}: the page must say `{helps}`"
            );
        }
    }
}
