//! Waiting that counts only the time in which this process gets to run.
//!
//! Where other programs want the cores, the system stops all of a process for longer than a client
//! waits, and every request under way would come late at once: a fault of the machine, not one that
//! was drawn. It must never be used for a promise about real time, such as the receiver's bound.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Parts of a wait; a stop costs at most two of them.
const PARTS: u32 = 10;

/// Waits for so long, less what passes while nothing here is run.
pub(crate) async fn awake(length: Duration) {
    let part = length / PARTS;
    let mut counted = Duration::ZERO;
    while counted < length {
        let begun = Instant::now();
        sleep(part.min(length - counted)).await;
        counted += begun.elapsed().min(2 * part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_of_the_whole_process_is_not_waiting() {
        let stopped = async {
            sleep(Duration::from_millis(1)).await;
            std::thread::sleep(Duration::from_millis(300));
            Instant::now()
        };
        let waited = async {
            awake(Duration::from_millis(100)).await;
            Instant::now()
        };
        let (stopped, waited) = tokio::join!(stopped, waited);
        let behind = waited.duration_since(stopped);
        assert!(Duration::from_millis(60) <= behind, "{behind:?}");
    }

    #[tokio::test]
    async fn a_wait_is_never_shorter_than_it_was_asked_for() {
        let begun = Instant::now();
        awake(Duration::from_millis(25)).await;
        assert!(Duration::from_millis(25) <= begun.elapsed());
    }
}
