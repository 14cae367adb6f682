//! What both ends agree on before anything else: the number of the protocol.
//!
//! The number grows when a question, a command or the shape of an answer changes its meaning; a
//! field more does not count. `/version` and the shape of errors never change.

use mainstay_types::Code;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The protocol that this version speaks.
pub const PROTOCOL: u32 = 1;

/// The header with the protocol's number: of the asker in a request, of the engine in an answer.
pub(crate) const HEADER: &str = "mainstay-protocol";

/// The path that every version answers.
pub(crate) const VERSION_PATH: &str = "/version";

/// Who is at the other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The protocol's number.
    pub protocol: u32,
    /// The version of Mainstay.
    pub mainstay: String,
    /// The process.
    pub pid: u32,
}

impl Version {
    /// This process.
    #[must_use]
    pub fn own() -> Self {
        Self {
            protocol: PROTOCOL,
            mainstay: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
        }
    }

    /// `SOCKET_PROTOCOL`, with both versions, when the process speaks another protocol.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.protocol == PROTOCOL {
            return Ok(());
        }
        Err(other(&format!(
            "{} (mainstay {}, pid {})",
            self.protocol, self.mainstay, self.pid
        )))
    }
}

/// The asker's number, as its header has it, checked by the engine's side.
pub(crate) fn check_asker(number: Option<&str>) -> Result<(), Failure> {
    match number {
        Some(text) if text.parse() != Ok(PROTOCOL) => {
            let own = Version::own();
            let message = format!(
                "the asker speaks protocol {text}, this process speaks {PROTOCOL} (mainstay {}, \
                 pid {})",
                own.mainstay, own.pid
            );
            Err(Failure::new(Code::SocketProtocol, message))
        }
        // Without the header: a person with curl, who sees the answer as it is.
        Some(_) | None => Ok(()),
    }
}

fn other(there: &str) -> Failure {
    let own = env!("CARGO_PKG_VERSION");
    let message = format!(
        "the process that holds the store speaks protocol {there}, this program speaks {PROTOCOL} \
         (mainstay {own})"
    );
    Failure::new(Code::SocketProtocol, message)
}
