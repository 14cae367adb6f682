//! The request log in the same file, so that it outlives the process.
//!
//! It must never grow without bound: only the newest requests stay.

use rusqlite::{Connection, Row, params};
use service_kit::{
    Arrival, Conclusion, Entry, LogError, LogFilter, LogPage, RequestLog, Status, StatusWord,
    Subject,
};

use super::{Store, count, signed, unsigned};

/// Requests kept; the oldest go first, a batch at a time.
const REQUESTS_MAX: i64 = 100_000;

/// How many requests pass between two clean-ups.
const CLEAN_EVERY: i64 = 1_000;

const IN_FLIGHT: i64 = 0;
const DROPPED: i64 = -1;
const UNFINISHED: i64 = -2;

const COVERED: &str =
    "(?1 IS NULL OR method = ?1) AND (?2 IS NULL OR substr(path, 1, length(?2)) = ?2)";

/// What was in flight when the last process ended will never be answered.
pub(super) fn mark_unfinished(log: &Connection) -> rusqlite::Result<()> {
    let sql = "UPDATE requests SET status = ?1 WHERE status = ?2";
    log.execute(sql, [UNFINISHED, IN_FLIGHT])?;
    Ok(())
}

impl RequestLog for Store {
    fn arrived(&self, arrival: &Arrival) -> Result<u64, LogError> {
        insert(&self.writers.lock().log, arrival).map_err(failed)
    }

    fn concluded(&self, seq: u64, conclusion: Conclusion) -> Result<(), LogError> {
        let writers = self.writers.lock();
        let sql = "UPDATE requests SET status = ?1, replayed = ?2 WHERE seq = ?3";
        let mut statement = writers.log.prepare_cached(sql).map_err(failed)?;
        let values = params![number(conclusion.status), conclusion.replayed, signed(seq)];
        statement.execute(values).map_err(failed)?;
        Ok(())
    }

    fn page(&self, filter: &LogFilter) -> Result<LogPage, LogError> {
        page(&self.reader.lock(), filter).map_err(failed)
    }
}

fn insert(log: &Connection, arrival: &Arrival) -> rusqlite::Result<u64> {
    let subject = &arrival.subject;
    log.prepare_cached(
        "INSERT INTO requests
         (at_ms, method, path, client, key, source, position, status, time_left_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        signed(arrival.at_ms),
        subject.method,
        subject.path,
        subject.client,
        subject.key,
        subject.source,
        subject.position,
        IN_FLIGHT,
        subject.time_left_ms.map(signed)
    ])?;
    let seq = log.last_insert_rowid();
    if seq % CLEAN_EVERY == 0 {
        log.execute("DELETE FROM requests WHERE seq <= ?1", [seq - REQUESTS_MAX])?;
    }
    Ok(unsigned(seq))
}

fn page(reader: &Connection, filter: &LogFilter) -> rusqlite::Result<LogPage> {
    let total: i64 = reader
        .prepare_cached(&format!("SELECT count(*) FROM requests WHERE {COVERED}"))?
        .query_row(params![filter.method, filter.path_prefix], |row| row.get(0))?;
    let mut statement = reader.prepare_cached(&format!(
        "SELECT seq, at_ms, method, path, client, key, source, position, status, replayed,
                time_left_ms
         FROM requests WHERE {COVERED} AND seq > ?3 ORDER BY seq LIMIT ?4"
    ))?;
    let behind = signed(filter.cursor.unwrap_or(0));
    // One more than the page tells whether there is another.
    let values = params![
        filter.method,
        filter.path_prefix,
        behind,
        count(filter.page() + 1)
    ];
    let mut requests: Vec<Entry> = statement
        .query_map(values, entry)?
        .collect::<Result<_, _>>()?;
    let more = filter.page() < requests.len();
    requests.truncate(filter.page());
    let next_cursor = requests.last().filter(|_| more).map(|entry| entry.seq);
    Ok(LogPage {
        requests,
        next_cursor,
        total: unsigned(total),
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: unsigned(row.get(0)?),
        at_ms: unsigned(row.get(1)?),
        subject: Subject {
            method: row.get(2)?,
            path: row.get(3)?,
            client: row.get(4)?,
            key: row.get(5)?,
            source: row.get(6)?,
            position: row.get(7)?,
            time_left_ms: row.get::<_, Option<i64>>(10)?.map(unsigned),
        },
        status: status(row.get(8)?),
        replayed: row.get(9)?,
    })
}

fn number(status: Status) -> i64 {
    match status {
        Status::Code(code) => i64::from(code),
        Status::Word(StatusWord::InFlight) => IN_FLIGHT,
        Status::Word(StatusWord::Dropped) => DROPPED,
        Status::Word(StatusWord::Unfinished) => UNFINISHED,
    }
}

fn status(number: i64) -> Status {
    match number {
        IN_FLIGHT => Status::IN_FLIGHT,
        DROPPED => Status::DROPPED,
        UNFINISHED => Status::UNFINISHED,
        // Only `number` writes the column, so anything else is an HTTP status.
        code => Status::Code(u16::try_from(code).unwrap_or(u16::MAX)),
    }
}

fn failed(error: rusqlite::Error) -> LogError {
    LogError(error.to_string())
}
