//! Why bytes do not hold what they should: damage and newer versions told apart.
//!
//! It never says where: the caller knows the run or the key, and adds it.

use mainstay_types::NameError;

/// Bytes that could not be turned into what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A newer version wrote it; keep it as it is and read it with that version.
    #[error("{what} is not known here: a newer version wrote it")]
    Newer {
        /// What is not known.
        what: String,
    },
    /// The checksum does not fit key and bytes.
    #[error("its checksum is {computed:08x}, its last bytes say {stored:08x}")]
    Checksum {
        /// What the bytes come to.
        computed: u32,
        /// What they say.
        stored: u32,
    },
    /// The bytes do not have the form of what was asked for.
    #[error("its bytes do not have the form they should: {detail}")]
    Form {
        /// What is wrong.
        detail: String,
    },
}

impl DecodeError {
    pub(crate) fn newer(what: impl Into<String>) -> Self {
        Self::Newer { what: what.into() }
    }

    pub(crate) fn form(detail: impl Into<String>) -> Self {
        Self::Form {
            detail: detail.into(),
        }
    }
}

impl From<NameError> for DecodeError {
    fn from(error: NameError) -> Self {
        Self::form(error.to_string())
    }
}

impl From<bincode::error::DecodeError> for DecodeError {
    fn from(error: bincode::error::DecodeError) -> Self {
        // Variants are only ever appended, so a larger number is a newer one.
        if let bincode::error::DecodeError::UnexpectedVariant {
            type_name, found, ..
        } = error
        {
            return Self::newer(format!("variant {found} of {type_name}"));
        }
        Self::form(error.to_string())
    }
}
