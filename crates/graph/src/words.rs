//! The stable words of the class's enumerations, as they stand in stored forms and drawings.
//!
//! A word is never reused for another meaning. Nothing here may depend on `Debug` output.

use crate::class::{NodeKind, OnFailure, OnLimit};
use crate::contract::{
    CancelSemantics, EffectSemantics, FallbackKind, OnLate, Resolution, SameRequestRule, ScopeKind,
};

macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal,)* })*) => {$(
        impl $name {
            /// Every variant, in the order of its declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The variant with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|variant| variant.as_str() == word)
            }
        }
    )*};
}

words! {
    OnFailure {
        HandOff = "hand_off",
        Fail = "fail",
    }
    OnLimit {
        Degrade = "degrade",
        Pause = "pause",
        HandOff = "hand_off",
        Fail = "fail",
    }
    EffectSemantics {
        ReadOnly = "read_only",
        WriteIdempotentWithKey = "write_idempotent_with_key",
        WriteWithoutKey = "write_without_key",
    }
    CancelSemantics {
        None = "none",
        BestEffort = "best_effort",
        Confirmed = "confirmed",
    }
    OnLate {
        Drop = "drop",
        Keep = "keep",
        Review = "review",
    }
    ScopeKind {
        Business = "business",
        Run = "run",
    }
    SameRequestRule {
        PerRun = "per_run",
        PerSlot = "per_slot",
        PerItem = "per_item",
    }
    Resolution {
        ByKey = "by_key",
        ByStatus = "by_status",
        ByBusinessKey = "by_business_key",
        ByUpsert = "by_upsert",
        ByLedger = "by_ledger",
        ByHuman = "by_human",
    }
}

impl FallbackKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::ApprovedSnapshot { .. } => "approved_snapshot",
            Self::Cache => "cache",
            Self::OmitWithNotice => "omit_with_notice",
            Self::LocalCompute => "local_compute",
            Self::Human => "human",
        }
    }
}

impl NodeKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Each { .. } => "each",
            Self::Tools { .. } => "tools",
            Self::Local => "local",
            Self::When => "when",
        }
    }
}
