//! What the disk itself can do, without an engine: a record appended and synced alone, and records
//! of many writers appended and synced in groups.
//!
//! As good as a plain log can be on this machine: one preallocated file, one committer, one write
//! and one data sync for all that wait. Nothing of it is checked, indexed or read again.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::latency::Latencies;
use super::outside;
use crate::error::CliError;

/// Bytes of a record: about what a durable append of a small run takes.
const RECORD_BYTES: usize = 512;
/// The file is written over from its start when it is full.
const FILE_BYTES: u64 = 64 << 20;
const FILL_BYTES: usize = 1 << 20;

/// What the disk can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    /// One append and one data sync, at the median.
    pub(crate) sync_ms_p50: f64,
    /// Appends of so many writers at once, synced in groups.
    pub(crate) grouped_per_s: f64,
}

/// Measures in a file `path` that is made and removed, with `writers` writers; each part takes
/// about `length`.
pub(crate) async fn measure(path: &Path, writers: u32, length: Duration) -> Result<Raw, CliError> {
    let done = async {
        let mut log = Log::new(path)?;
        let sync_ms_p50 = alone(&mut log, length)?;
        let grouped_per_s = grouped(log, writers, length).await?;
        Ok(Raw {
            sync_ms_p50,
            grouped_per_s,
        })
    };
    let done: std::io::Result<Raw> = done.await;
    // Removed with its folder if not now.
    let _ = std::fs::remove_file(path);
    done.map_err(|error| outside("writing beside the store", error))
}

/// A preallocated file that is appended to.
struct Log {
    file: File,
    at: u64,
}

impl Log {
    fn new(path: &Path) -> std::io::Result<Self> {
        let file = File::create_new(path)?;
        let zeros = vec![0; FILL_BYTES];
        for place in 0..FILE_BYTES / FILL_BYTES as u64 {
            file.write_all_at(&zeros, place * FILL_BYTES as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file, at: 0 })
    }

    /// Appends and syncs.
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if FILE_BYTES < self.at + bytes.len() as u64 {
            self.at = 0;
        }
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        self.file.sync_data()
    }
}

fn alone(log: &mut Log, length: Duration) -> std::io::Result<f64> {
    let (times, record, began) = (Latencies::new(), vec![7; RECORD_BYTES], Instant::now());
    while began.elapsed() < length {
        let before = Instant::now();
        log.append(&record)?;
        times.add(before.elapsed());
    }
    Ok(times.per_mille_ms(500))
}

/// What writers and the committer share.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
    filled: Condvar,
    is_over: AtomicBool,
    appended: AtomicU64,
}

impl Queue {
    /// A record waits to be appended; `None` when it is over.
    fn push(&self) -> Option<oneshot::Receiver<()>> {
        let (tell, told) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a committer that ends empties the queue after it has said so.
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        waiting.push(tell);
        drop(waiting);
        self.filled.notify_one();
        Some(told)
    }
}

async fn grouped(log: Log, writers: u32, length: Duration) -> std::io::Result<f64> {
    let queue = Arc::new(Queue::default());
    let committer = {
        let queue = Arc::clone(&queue);
        std::thread::spawn(move || commit(log, &queue))
    };
    let mut all = JoinSet::new();
    for _ in 0..writers {
        all.spawn(write(Arc::clone(&queue)));
    }
    tokio::time::sleep(length / 10).await;
    let (began, before) = (Instant::now(), queue.appended.load(Ordering::Relaxed));
    tokio::time::sleep(length).await;
    let appended = queue.appended.load(Ordering::Relaxed) - before;
    let took = began.elapsed();
    queue.is_over.store(true, Ordering::Relaxed);
    while all.join_next().await.is_some() {}
    queue.filled.notify_all();
    let committed = committer.join();
    committed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok(appended as f64 / took.as_secs_f64())
}

async fn write(queue: Arc<Queue>) {
    while let Some(told) = queue.push() {
        if told.await.is_err() {
            return;
        }
    }
}

fn commit(mut log: Log, queue: &Queue) -> std::io::Result<()> {
    let _over = Over(queue);
    let (mut group, mut bytes) = (Vec::new(), Vec::new());
    loop {
        let waiting = queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let idle =
            |waiting: &mut Vec<_>| waiting.is_empty() && !queue.is_over.load(Ordering::Relaxed);
        // Bounded, because the end may be told between looking and waiting.
        let patience = Duration::from_millis(10);
        let waited = queue.filled.wait_timeout_while(waiting, patience, idle);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *waiting, &mut group);
        drop(waiting);
        if group.is_empty() {
            if queue.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            continue;
        }
        bytes.resize(group.len() * RECORD_BYTES, 7);
        log.append(&bytes)?;
        queue
            .appended
            .fetch_add(group.len() as u64, Ordering::Relaxed);
        for tell in group.drain(..) {
            // A writer that is gone needs no answer.
            let _ = tell.send(());
        }
    }
}

/// However the committer ends, no writer waits for it.
struct Over<'a>(&'a Queue);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
        let mut waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.clear();
    }
}
