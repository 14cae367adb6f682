//! The file of minutes as a run's input.
//!
//! Everything is checked before anything is opened or written. The file's name is no part of the
//! input: the same text is the same run, whatever its file is called.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::minutes::{INPUT_BYTES_MAX, InputError, Meeting};

/// Why there is no input.
#[derive(Debug, thiserror::Error)]
pub enum NoInput {
    /// The file cannot be read.
    #[error("INVALID_INPUT: {path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no minutes.
    #[error("INVALID_INPUT")]
    Content(#[from] InputError),
}

/// Reads and checks the file; never more than the limit and one byte of it.
///
/// # Errors
/// [`NoInput`] names the limit or the reason.
pub fn read(path: &Path) -> Result<Meeting, NoInput> {
    let shown = path.display().to_string();
    let fail = |source| NoInput::File {
        path: shown.clone(),
        source,
    };
    let file = File::open(path).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len();
    if u64::try_from(INPUT_BYTES_MAX).unwrap_or(u64::MAX) < size {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes_max = INPUT_BYTES_MAX;
        return Err(InputError::TooLarge {
            name: shown,
            bytes,
            bytes_max,
        }
        .into());
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(INPUT_BYTES_MAX)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(fail)?;
    let meeting = Meeting::read(&shown, &bytes, INPUT_BYTES_MAX)?;
    Ok(Meeting {
        name: "minutes".to_owned(),
        text: meeting.text,
    })
}
