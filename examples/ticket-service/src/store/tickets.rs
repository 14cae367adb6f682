//! Tickets and remembered keys: the one write, and the ways to look.
//!
//! It must never commit a ticket without its key's memory, or behind the time a request may land.

use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::{Store, StoreError, count, signed, unsigned};
use crate::ticket::{NewTicket, Ticket, id_text};

/// Expired keys forgotten with each write: keeps up with one write each, and stays short.
const FORGET_MAX: i64 = 100;

/// Most words of a text search.
const WORDS_MAX: usize = 32;

const COLUMNS: &str = "id, key, source, position, title, body, owner, citations, created_at_ms";

/// One write.
pub(crate) struct Create {
    pub(crate) client: String,
    pub(crate) key: String,
    pub(crate) new: NewTicket,
    /// Whether the key is looked up and remembered.
    pub(crate) dedupe: bool,
    pub(crate) now_ms: u64,
    pub(crate) key_ttl: Duration,
    /// When the commit must have begun; later it is given up.
    pub(crate) commit_by: Instant,
}

/// What became of a write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Created {
    /// Committed and on disk; the response to send.
    New(String),
    /// The key was known with this payload; the response sent then.
    Replayed(String),
    /// The key was known with another payload; nothing was written.
    Mismatch,
    /// Too late to land within the stated bound; nothing was written.
    TooLate,
}

/// What to look for; what is `None` does not matter.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) source: Option<String>,
    pub(crate) position: Option<u32>,
    pub(crate) exclude_source: Option<String>,
    /// Any of these words, best match first.
    pub(crate) text: Option<String>,
    /// Only tickets behind this row.
    pub(crate) behind: i64,
    pub(crate) limit: usize,
}

impl Store {
    pub(crate) fn create(&self, create: &Create) -> Result<Created, StoreError> {
        let mut writers = self.writers.lock();
        let tx = writers
            .tickets
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if create.dedupe {
            forget_expired(&tx, create.now_ms)?;
            if let Some(known) = known_key(&tx, create)? {
                return Ok(known);
            }
        }
        let response = insert(&tx, create)?;
        if create.commit_by < Instant::now() {
            return Ok(Created::TooLate); // The transaction rolls back as it is dropped.
        }
        tx.commit()?;
        Ok(Created::New(response))
    }

    /// The first ticket written under a key. Tickets outlive their key's memory.
    pub(crate) fn by_key(&self, client: &str, key: &str) -> Result<Option<Ticket>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM tickets WHERE client = ?1 AND key = ?2 ORDER BY id LIMIT 1"
        );
        let reader = self.reader.lock();
        let mut statement = reader.prepare_cached(&sql)?;
        Ok(statement
            .query_row(params![client, key], ticket)
            .optional()?)
    }

    pub(crate) fn by_row(&self, row: i64) -> Result<Option<Ticket>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM tickets WHERE id = ?1");
        let reader = self.reader.lock();
        let mut statement = reader.prepare_cached(&sql)?;
        Ok(statement.query_row([row], ticket).optional()?)
    }

    /// By row, or by relevance when a text is searched.
    pub(crate) fn search(&self, search: &Search) -> Result<Vec<Ticket>, StoreError> {
        let words = search.text.as_deref().map(fts_query);
        if words.as_deref() == Some("") {
            return Ok(Vec::new()); // Punctuation matches nothing.
        }
        let (from, order) = match words {
            Some(_) => (
                "tickets_words JOIN tickets ON tickets.id = tickets_words.rowid
                 WHERE tickets_words MATCH ?1",
                "bm25(tickets_words), id",
            ),
            None => ("tickets WHERE ?1 IS NULL", "id"),
        };
        let columns = COLUMNS.replace("title, body", "tickets.title, tickets.body");
        let sql = format!(
            "SELECT {columns} FROM {from}
             AND (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR position = ?3)
             AND (?4 IS NULL OR source <> ?4) AND id > ?5
             ORDER BY {order} LIMIT ?6"
        );
        let reader = self.reader.lock();
        let mut statement = reader.prepare_cached(&sql)?;
        let rows = statement.query_map(
            params![
                words,
                search.source,
                search.position,
                search.exclude_source,
                search.behind,
                count(search.limit)
            ],
            ticket,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn known_key(tx: &Transaction<'_>, create: &Create) -> Result<Option<Created>, StoreError> {
    let known: Option<(String, String)> = tx
        .prepare_cached("SELECT fingerprint, response FROM keys WHERE client = ?1 AND key = ?2")?
        .query_row(params![create.client, create.key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    Ok(known.map(|(fingerprint, response)| {
        if fingerprint == create.new.fingerprint() {
            Created::Replayed(response)
        } else {
            Created::Mismatch
        }
    }))
}

fn forget_expired(tx: &Transaction<'_>, now_ms: u64) -> Result<(), StoreError> {
    tx.prepare_cached(
        "DELETE FROM keys WHERE (client, key) IN (
             SELECT client, key FROM keys WHERE expires_at_ms <= ?1
             ORDER BY expires_at_ms LIMIT ?2)",
    )?
    .execute(params![signed(now_ms), FORGET_MAX])?;
    Ok(())
}

/// Writes ticket, words and key; gives the response to send and to remember.
fn insert(tx: &Transaction<'_>, create: &Create) -> Result<String, StoreError> {
    let new = &create.new;
    let citations = serde_json::to_string(&new.citations).expect("strings only");
    tx.prepare_cached(
        "INSERT INTO tickets
         (client, key, source, position, title, body, owner, citations, created_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        create.client,
        create.key,
        new.source,
        new.position,
        new.title,
        new.body,
        new.owner,
        citations,
        signed(create.now_ms)
    ])?;
    let row = tx.last_insert_rowid();
    tx.prepare_cached("INSERT INTO tickets_words (rowid, title, body) VALUES (?1, ?2, ?3)")?
        .execute(params![row, new.title, new.body])?;
    let response = response(row, create);
    if create.dedupe {
        remember(tx, create, &response)?;
    }
    Ok(response)
}

fn remember(tx: &Transaction<'_>, create: &Create, response: &str) -> Result<(), StoreError> {
    let ttl_ms = u64::try_from(create.key_ttl.as_millis()).unwrap_or(u64::MAX);
    let expires_at_ms = signed(create.now_ms.saturating_add(ttl_ms));
    tx.prepare_cached(
        "INSERT INTO keys (client, key, fingerprint, response, expires_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        create.client,
        create.key,
        create.new.fingerprint(),
        response,
        expires_at_ms
    ])?;
    Ok(())
}

fn response(row: i64, create: &Create) -> String {
    let new = create.new.clone();
    let ticket = Ticket {
        id: id_text(row),
        key: create.key.clone(),
        source: new.source,
        position: new.position,
        title: new.title,
        body: new.body,
        owner: new.owner,
        citations: new.citations,
        created_at_ms: create.now_ms,
    };
    serde_json::to_string(&ticket).expect("strings and numbers only")
}

fn ticket(row: &Row<'_>) -> rusqlite::Result<Ticket> {
    let citations: String = row.get(7)?;
    let citations = serde_json::from_str(&citations).map_err(|e| {
        rusqlite::Error::FromSqlConversionFailure(7, rusqlite::types::Type::Text, Box::new(e))
    })?;
    Ok(Ticket {
        id: id_text(row.get(0)?),
        key: row.get(1)?,
        source: row.get(2)?,
        position: row.get(3)?,
        title: row.get(4)?,
        body: row.get(5)?,
        owner: row.get(6)?,
        citations,
        created_at_ms: unsigned(row.get(8)?),
    })
}

/// Each word quoted, any of them enough: nothing of the query language gets through.
fn fts_query(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let quoted: Vec<String> = words
        .take(WORDS_MAX)
        .map(|word| format!("\"{word}\""))
        .collect();
    quoted.join(" OR ")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn create(key: &str, title: &str, now_ms: u64) -> Create {
        Create {
            client: "c".into(),
            key: key.into(),
            new: NewTicket {
                source: "s".into(),
                position: 1,
                title: title.into(),
                body: String::new(),
                owner: None,
                citations: vec!["line 3".into()],
            },
            dedupe: true,
            now_ms,
            key_ttl: Duration::from_millis(1_000),
            commit_by: Instant::now() + Duration::from_secs(60),
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("t.db")).unwrap();
        (dir, store)
    }

    #[test]
    fn a_key_is_remembered_to_the_last_millisecond_and_its_ticket_for_good() {
        let (_dir, store) = store();
        let Created::New(first) = store.create(&create("k", "a", 5_000)).unwrap() else {
            panic!("the first is new");
        };
        let again = store.create(&create("k", "a", 5_999)).unwrap();
        assert_eq!(again, Created::Replayed(first));
        assert_eq!(
            store.create(&create("k", "b", 5_999)).unwrap(),
            Created::Mismatch
        );
        let late = store.create(&create("k", "b", 6_000)).unwrap();
        assert!(matches!(late, Created::New(_)), "{late:?}");
        assert_eq!(store.by_key("c", "k").unwrap().unwrap().id, "T-1");
    }

    #[test]
    fn what_cannot_land_in_time_is_not_written() {
        let (_dir, store) = store();
        let past = Instant::now()
            .checked_sub(Duration::from_millis(1))
            .unwrap();
        let late = Create {
            commit_by: past,
            ..create("k", "a", 5_000)
        };
        assert_eq!(store.create(&late).unwrap(), Created::TooLate);
        assert_eq!(store.by_key("c", "k").unwrap(), None);
        assert!(matches!(
            store.create(&create("k", "a", 5_000)).unwrap(),
            Created::New(_)
        ));
    }

    #[test]
    fn a_text_search_finds_word_forms_and_takes_no_query_language() {
        let (_dir, store) = store();
        store
            .create(&create("1", "Migrate the billing tables", 1))
            .unwrap();
        store
            .create(&create("2", "Write release notes", 2))
            .unwrap();
        let found = |text: &str| {
            let text = Some(text.to_owned());
            let tickets = store
                .search(&Search {
                    text,
                    limit: 9,
                    ..Search::default()
                })
                .unwrap();
            let mut ids: Vec<_> = tickets.into_iter().map(|ticket| ticket.id).collect();
            ids.sort();
            ids
        };
        assert_eq!(found("migrating"), ["T-1"]);
        assert_eq!(found("NOT note* \" OR (table"), ["T-1", "T-2"]);
        assert!(found("?!").is_empty());
    }

    #[test]
    fn a_second_store_on_the_same_file_is_refused() {
        let (dir, _store) = store();
        let refused = Store::open(&dir.path().join("t.db")).err().unwrap();
        assert!(matches!(refused, StoreError::InUse(_)), "{refused}");
    }

    #[test]
    fn a_database_of_something_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("other.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE birds (name)")
            .unwrap();
        let refused = Store::open(&path).err().unwrap();
        assert!(
            matches!(refused, StoreError::Version { found: 0, .. }),
            "{refused}"
        );
    }
}
