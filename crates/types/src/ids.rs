//! Ids: who a run, call, attempt or message is.
//!
//! Random ids come from the `IdSource` port; nothing here generates one by itself.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID; ids sort by creation when it is version 7.
            #[must_use]
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The 16 stored bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id with these 16 bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The number.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// The number after this one; saturates.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id! {
    /// One Root Run: a UUID of version 7, so ids sort by start time.
    RunId
}
uuid_id! {
    /// One incarnation of a worker process: a restart gets a new one.
    WorkerId
}
uuid_id! {
    /// One command that entered through the inbox; a repeated id is the same command.
    MessageId
}

number_id! {
    /// A call's place in its run: nodes of the class first, then items in the order recorded.
    CallId(u32)
}
number_id! {
    /// A node's place in its class.
    NodeId(u16)
}
number_id! {
    /// The how-manieth attempt of its call, from 1, over all rungs and laps.
    AttemptNo(u32)
}
number_id! {
    /// A lap of a run, from 1.
    LapNo(u32)
}
number_id! {
    /// An event's place in its run's log, dense from 1; 0 means "no event yet".
    Seq(u64)
}
number_id! {
    /// An alert's place among all alerts of a ledger, dense from 1 in the order of their commits;
    /// 0 means "none read yet".
    AlertSeq(u64)
}
number_id! {
    /// The lease epoch of a run's owner, from 1; grows at each take-over.
    Epoch(u32)
}
number_id! {
    /// Which provider an attempt goes to: 0 is the primary, then the fallbacks in order.
    Rung(u8)
}

/// A blake3 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// A digest read back from storage.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 stored bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest in 64 lower-case hexadecimal digits, or `None`.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text)
            .ok()
            .map(|hash| Self(*hash.as_bytes()))
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
