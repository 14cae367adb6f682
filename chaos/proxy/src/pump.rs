//! One direction of one connection: reads, asks the valve, passes on.
//!
//! It must never hold more than one chunk, so that a slow receiver slows the sender down as it
//! would without a proxy.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::bounds::BUFFER_BYTES;
use crate::shared::Way;
use crate::valve::{Then, Valve};

/// One direction.
pub(crate) struct Pump<'a> {
    pub(crate) from: ReadHalf<'a>,
    pub(crate) to: WriteHalf<'a>,
    pub(crate) valve: Valve,
    pub(crate) way: &'a mut Way,
}

/// How a direction ended, while the other may go on.
#[derive(Debug)]
pub(crate) enum Finished {
    /// The source has said all, or the fault said so in its place.
    Said,
    /// The receiver takes nothing any more. What it still has to say is worth hearing.
    Unheard(io::Error),
}

/// Why both directions end now.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The fault says so.
    Cut { reset: bool },
    /// The source's connection is gone.
    Lost(io::Error),
}

impl Pump<'_> {
    /// Carries everything, until an end.
    pub(crate) async fn run(mut self) -> Result<Finished, Broken> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let room = self.valve.room();
            let arrived = self.read(&mut buffer[..room]).await.map_err(Broken::Lost)?;
            if arrived == 0 {
                return Ok(self.shut().await);
            }
            let verdict = self.valve.take(arrived);
            self.way.hit |= verdict.hit;
            if !verdict.wait.is_zero() {
                sleep(verdict.wait).await;
            }
            if let Err(error) = self.pass(&buffer[..verdict.pass]).await {
                return Ok(Finished::Unheard(error));
            }
            match verdict.then {
                Then::GoOn => {}
                Then::Cut { reset } => return Err(Broken::Cut { reset }),
                Then::Shut => {
                    let ended = self.shut().await;
                    self.swallow(&mut buffer).await.map_err(Broken::Lost)?;
                    return Ok(ended);
                }
                Then::Hold(time) => {
                    self.hold(time, &mut buffer).await;
                    return Err(Broken::Cut { reset: false });
                }
            }
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let arrived = self.from.read(buffer).await?;
        self.way.passage.read += bytes(arrived);
        Ok(arrived)
    }

    /// Counts piece by piece: what the system has taken counts, also when the rest never goes.
    async fn pass(&mut self, mut chunk: &[u8]) -> io::Result<()> {
        while !chunk.is_empty() {
            let taken = self.to.write(chunk).await?;
            if taken == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.way.passage.passed += bytes(taken);
            chunk = &chunk[taken..];
        }
        Ok(())
    }

    /// Passes the end on.
    async fn shut(&mut self) -> Finished {
        match self.to.shutdown().await {
            Ok(()) => Finished::Said,
            Err(error) => Finished::Unheard(error),
        }
    }

    /// Reads and forgets, until the source has said all.
    async fn swallow(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        while self.read(buffer).await? != 0 {}
        Ok(())
    }

    /// The same for a time, and not a moment less, whatever becomes of the source: the receiver is
    /// to learn nothing of it.
    async fn hold(&mut self, time: Duration, buffer: &mut [u8]) {
        let until = Instant::now() + time;
        let _ = timeout_at(until, self.swallow(buffer)).await;
        sleep_until(until).await;
    }
}

fn bytes(count: usize) -> u64 {
    count.try_into().expect("a length fits into 64 bits")
}
