//! A request log in memory, kept in a file of JSON lines if it is to outlive the process.
//!
//! It must never grow without bound: only the newest entries stay, in memory and in the file.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use parking_lot::Mutex;

use crate::log::{Arrival, Conclusion, Entry, LogError, LogFilter, LogPage, RequestLog, Status};

/// Entries kept; the oldest go first.
const ENTRIES_MAX: usize = 10_000;

/// How each line starts: tells a torn line of ours from somebody's letter.
const START: &[u8] = b"{\"seq\":";

/// The log. An entry is written to the file twice: when it arrives and when it ends.
#[derive(Debug, Default)]
pub struct MemoryLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Entry>,
    last_seq: u64,
    file: Option<File>,
}

impl MemoryLog {
    /// A log that ends with the process.
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// A log that goes on where `path` ends; the file is made when it is absent.
    ///
    /// What was in flight when the last process ended is `unfinished`. A torn last line, which a
    /// kill leaves behind, is dropped; the file is rewritten without what is no longer kept.
    pub fn open(path: &Path) -> Result<MemoryLog, LogError> {
        let entries = read(path)?;
        let last_seq = entries.back().map_or(0, |entry| entry.seq);
        let file = rewrite(path, &entries).map_err(|e| failed(path, &e))?;
        Ok(MemoryLog {
            state: Mutex::new(State {
                entries,
                last_seq,
                file: Some(file),
            }),
        })
    }
}

impl RequestLog for MemoryLog {
    fn arrived(&self, arrival: &Arrival) -> Result<u64, LogError> {
        let mut state = self.state.lock();
        let entry = Entry {
            seq: state.last_seq + 1,
            at_ms: arrival.at_ms,
            subject: arrival.subject.clone(),
            status: Status::IN_FLIGHT,
            replayed: false,
        };
        state.write(&entry)?;
        state.last_seq = entry.seq;
        state.entries.push_back(entry);
        if state.entries.len() > ENTRIES_MAX {
            state.entries.pop_front();
        }
        Ok(state.last_seq)
    }

    fn concluded(&self, seq: u64, conclusion: Conclusion) -> Result<(), LogError> {
        let mut state = self.state.lock();
        // A request that outlasted the whole window has no entry left to conclude.
        let Ok(index) = state.entries.binary_search_by_key(&seq, |entry| entry.seq) else {
            return Ok(());
        };
        let entry = &mut state.entries[index];
        entry.status = conclusion.status;
        entry.replayed = conclusion.replayed;
        let entry = entry.clone();
        state.write(&entry)
    }

    fn page(&self, filter: &LogFilter) -> Result<LogPage, LogError> {
        let state = self.state.lock();
        let covered = || {
            state
                .entries
                .iter()
                .filter(|entry| filter.covers(&entry.subject))
        };
        let behind = filter.cursor.unwrap_or(0);
        let mut requests: Vec<Entry> = covered()
            .filter(|entry| entry.seq > behind)
            .take(filter.page() + 1)
            .cloned()
            .collect();
        let more = requests.len() > filter.page();
        requests.truncate(filter.page());
        let next_cursor = requests.last().filter(|_| more).map(|entry| entry.seq);
        let total = u64::try_from(covered().count()).unwrap_or(u64::MAX);
        Ok(LogPage {
            requests,
            next_cursor,
            total,
        })
    }
}

impl State {
    fn write(&mut self, entry: &Entry) -> Result<(), LogError> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        // One write call per line: a kill tears at most the last one.
        file.write_all(&line(entry))
            .map_err(|e| LogError(e.to_string()))
    }
}

fn line(entry: &Entry) -> Vec<u8> {
    let mut line = serde_json::to_vec(entry).expect("an entry has only strings and numbers");
    line.push(b'\n');
    line
}

fn read(path: &Path) -> Result<VecDeque<Entry>, LogError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(VecDeque::new()),
        Err(e) => return Err(failed(path, &e)),
    };
    let mut entries: VecDeque<Entry> = VecDeque::new();
    let mut torn = None;
    for (number, text) in BufReader::new(file).split(b'\n').enumerate() {
        let text = text.map_err(|e| failed(path, &e))?;
        let foreign = |number: usize| {
            failed(
                path,
                &format!("line {} is no entry of a request log", number + 1),
            )
        };
        if let Some(number) = torn {
            return Err(foreign(number));
        }
        let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
            // Only the last line may be torn; anything else means this is some other file.
            if !text.starts_with(START) && !START.starts_with(&text) {
                return Err(foreign(number));
            }
            torn = Some(number);
            continue;
        };
        match entries.binary_search_by_key(&entry.seq, |known| known.seq) {
            Ok(index) => entries[index] = entry,
            Err(index) => entries.insert(index, entry),
        }
        if entries.len() > ENTRIES_MAX {
            entries.pop_front();
        }
    }
    for entry in &mut entries {
        if entry.status == Status::IN_FLIGHT {
            entry.status = Status::UNFINISHED;
        }
    }
    Ok(entries)
}

fn rewrite(path: &Path, entries: &VecDeque<Entry>) -> std::io::Result<File> {
    let fresh = crate::process::beside(path, ".new");
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend_from_slice(&line(entry));
    }
    std::fs::write(&fresh, bytes)?;
    std::fs::rename(&fresh, path)?;
    OpenOptions::new().append(true).open(path)
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> LogError {
    LogError(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Subject;

    fn arrival(path: &str) -> Arrival {
        let subject = Subject {
            method: "GET".into(),
            path: path.into(),
            ..Subject::default()
        };
        Arrival { at_ms: 7, subject }
    }

    #[test]
    fn the_file_carries_the_log_over_a_kill_and_names_what_was_in_flight() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("requests.jsonl");
        let log = MemoryLog::open(&path).unwrap();
        let first = log.arrived(&arrival("/a")).unwrap();
        let done = Conclusion {
            status: Status::Code(200),
            replayed: false,
        };
        log.concluded(first, done).unwrap();
        log.arrived(&arrival("/b")).unwrap();
        drop(log);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"seq\":3,\"at").unwrap();

        let log = MemoryLog::open(&path).unwrap();
        let page = log.page(&LogFilter::default()).unwrap();
        let seen: Vec<_> = page.requests.iter().map(|e| (e.seq, e.status)).collect();
        assert_eq!(seen, [(1, Status::Code(200)), (2, Status::UNFINISHED)]);
        assert_eq!(log.arrived(&arrival("/c")).unwrap(), 3);
    }

    #[test]
    fn a_file_that_is_no_log_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("letter.txt");
        std::fs::write(&path, "Dear reader, this is no log.").unwrap();
        let refused = MemoryLog::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 1 is no entry"), "{refused}");
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("Dear"));
    }

    #[test]
    fn pages_follow_each_other_without_gap_and_the_window_is_bounded() {
        let log = MemoryLog::new();
        for _ in 0..ENTRIES_MAX + 5 {
            log.arrived(&arrival("/a")).unwrap();
        }
        let filter = LogFilter {
            limit: Some(6_000),
            ..LogFilter::default()
        };
        let first = log.page(&filter).unwrap();
        assert_eq!((first.requests[0].seq, first.total), (6, 10_000));
        let second = log
            .page(&LogFilter {
                cursor: first.next_cursor,
                ..filter
            })
            .unwrap();
        assert_eq!(
            second.requests[0].seq,
            first.requests.last().unwrap().seq + 1
        );
        assert_eq!((second.requests.len(), second.next_cursor), (4_000, None));
    }
}
