//! Whom the proxy passes connections on to.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bounds::{CONNECT_MS_MAX, millis};

/// A host and a port. A name is looked up anew for each connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream(String);

/// A text that is no host and port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no HOST:PORT: write it like 127.0.0.1:8080, [::1]:8080 or localhost:8080")]
pub struct UpstreamError {
    /// What was written.
    pub text: String,
}

impl Upstream {
    /// Connects within `bounds::CONNECT_MS_MAX`.
    pub(crate) async fn connect(&self) -> io::Result<TcpStream> {
        let connecting = timeout(millis(CONNECT_MS_MAX), TcpStream::connect(&self.0));
        let stream = connecting.await.unwrap_or_else(|_| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no connection within {CONNECT_MS_MAX} ms"),
            ))
        })?;
        // What arrives in two pieces leaves in two, when it comes.
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl From<SocketAddr> for Upstream {
    fn from(address: SocketAddr) -> Self {
        Self(address.to_string())
    }
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        let is_name = |host: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            !host.is_empty() && host.chars().all(is_part)
        };
        let is_named = text.rsplit_once(':').is_some_and(|(host, port)| {
            is_name(host) && port.parse::<u16>().is_ok_and(|port| 0 < port)
        });
        if is_named || text.parse::<SocketAddr>().is_ok_and(|addr| 0 < addr.port()) {
            return Ok(Self(text.to_owned()));
        }
        Err(UpstreamError {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port_are_asked_for() {
        for text in [
            "127.0.0.1:80",
            "[::1]:80",
            "localhost:80",
            "db-1.example:5432",
        ] {
            let read: Upstream = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
        }
        for text in [
            "",
            "localhost",
            ":80",
            "localhost:",
            "a:0",
            "a:x",
            "http://a:80",
            "::1:80",
        ] {
            let error = text.parse::<Upstream>().expect_err(text).to_string();
            assert!(error.contains("HOST:PORT"), "{error}");
        }
    }
}
