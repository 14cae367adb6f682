//! What a store's user may set: how long closed runs and start keys are kept, and sizes that tests
//! make small.

use mainstay_types::{Millis, limits};

use crate::segment::LogSettings;
use crate::standing::StandingSettings;

/// The number of the stored format. 3 keeps what happened in a log of its own; formats 1 and 2 kept
/// everything in sled.
pub const FORMAT: u32 = 3;

/// Settings of one store.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a closed run is kept after it ended.
    pub run_memory: Millis,
    /// How long a start key is remembered after its run ended.
    pub start_key_memory: Millis,
    /// How the log is cut.
    pub log: LogSettings,
    /// When the overlay moves to the table.
    pub standing: StandingSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            run_memory: Millis::new(limits::RUN_MEMORY_MS_DEFAULT),
            start_key_memory: Millis::new(limits::START_KEY_MEMORY_MS_DEFAULT),
            log: LogSettings::default(),
            standing: StandingSettings::default(),
        }
    }
}
