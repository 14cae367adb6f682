//! Where things stand: the keys of rows, a first byte for the kind and big-endian numbers after it.
//!
//! A first byte never gets a second meaning, and no key is longer than
//! `limits::TABLE_KEY_BYTES_MAX`. Kinds that this file does not name belong to `table`, `proof` and
//! `applier`, which keep them to themselves.

use mainstay_ledger::Drive;
use mainstay_types::limits::TABLE_KEY_BYTES_MAX;
use mainstay_types::{
    AlertSeq, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, StartKey, Tenant,
    Timestamp,
};

/// Bytes of a blake3 digest that name something; the full name is stored and compared.
pub(crate) const HASH_BYTES: usize = 16;

const META: u8 = 0x00;
const RUN: u8 = 0x11;
const SNAPSHOT: u8 = 0x14;
const PAYLOAD: u8 = 0x15;
const DRIVEN: u8 = 0x20;
const WAKE: u8 = 0x21;
const INBOX: u8 = 0x23;
const MESSAGE: u8 = 0x24;
const EFFECT: u8 = 0x30;
const START: u8 = 0x31;
const WAITERS: u8 = 0x34;
const ALERT: u8 = 0x40;
const EXPIRY: u8 = 0x51;
const CLASS: u8 = 0x80;
const SYSTEM: u8 = 0x90;

/// Runs are not spread over shards yet; the key has room for it.
const SHARD: [u8; 2] = [0, 0];

/// The key of a row.
pub type Key = Vec<u8>;

fn key(kind: u8, parts: &[&[u8]]) -> Key {
    let bytes = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
    assert!(bytes <= TABLE_KEY_BYTES_MAX, "a key of {bytes} bytes");
    let mut key = Vec::with_capacity(bytes);
    key.push(kind);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// In this crate's tests keys have one hash that are the same up to this.
#[cfg(test)]
pub(crate) const COLLIDES: &str = "~collides~";

#[cfg(test)]
fn hashed(bytes: &[u8]) -> &[u8] {
    let mark = COLLIDES.as_bytes();
    let at = bytes.windows(mark.len()).position(|part| part == mark);
    &bytes[..at.unwrap_or(bytes.len())]
}

#[cfg(not(test))]
const fn hashed(bytes: &[u8]) -> &[u8] {
    bytes
}

fn hash(bytes: &[u8]) -> [u8; HASH_BYTES] {
    let mut short = [0; HASH_BYTES];
    short.copy_from_slice(&Digest::of(hashed(bytes)).as_bytes()[..HASH_BYTES]);
    short
}

/// The newest time among all events.
pub(crate) fn newest_time() -> Key {
    key(META, &[b"newest time"])
}

/// The number of the newest alert.
pub(crate) fn newest_alert() -> Key {
    key(META, &[b"newest alert"])
}

/// The number of the newest alert that is not kept any more.
pub(crate) fn oldest_alert() -> Key {
    key(META, &[b"pruned alerts"])
}

/// The mark of an import that has not ended.
pub(crate) fn importing() -> Key {
    key(META, &[b"importing"])
}

/// The row of an open run.
pub(crate) fn run(run: RunId) -> Key {
    key(RUN, &[run.as_bytes()])
}

/// Whether a key is that of where a run stands.
pub(crate) fn is_run(stored: &[u8]) -> bool {
    stored.first() == Some(&RUN)
}

/// All rows of open runs.
pub(crate) fn runs() -> Key {
    key(RUN, &[])
}

/// A run's newest snapshot.
pub(crate) fn snapshot(run: RunId) -> Key {
    key(SNAPSHOT, &[run.as_bytes()])
}

/// All snapshots.
pub(crate) fn snapshots() -> Key {
    key(SNAPSHOT, &[])
}

/// A payload that a run's snapshots refer to.
pub(crate) fn payload(run: RunId, digest: &Digest) -> Key {
    key(PAYLOAD, &[run.as_bytes(), &digest.as_bytes()[..HASH_BYTES]])
}

/// All payloads that snapshots refer to.
pub(crate) fn payloads() -> Key {
    key(PAYLOAD, &[])
}

/// The mark of a run that has to be driven.
pub(crate) fn driven(run: RunId) -> Key {
    key(DRIVEN, &[&SHARD, run.as_bytes()])
}

/// All marks of runs that have to be driven.
pub(crate) fn all_driven() -> Key {
    key(DRIVEN, &[&SHARD])
}

/// That a parked run wakes at a moment; the keys sort by it.
pub(crate) fn wake(at: Timestamp, run: RunId) -> Key {
    key(WAKE, &[&sortable(at), run.as_bytes()])
}

/// All moments at which parked runs wake.
pub(crate) fn wakes() -> Key {
    key(WAKE, &[])
}

/// The moment and the run in a key made by [`wake`].
pub(crate) fn wake_in(stored: &[u8]) -> Option<(Timestamp, RunId)> {
    let (at, run) = stored.get(1..)?.split_first_chunk::<8>()?;
    let run = RunId::from_bytes(run.try_into().ok()?);
    Some((moment(*at), run))
}

/// Bytes that sort as moments do: the sign comes first and the other way round.
fn sortable(at: Timestamp) -> [u8; 8] {
    (at.as_millis() ^ i64::MIN).to_be_bytes()
}

fn moment(sortable: [u8; 8]) -> Timestamp {
    Timestamp::from_millis(i64::from_be_bytes(sortable) ^ i64::MIN)
}

/// The run at the end of a key made by [`run`], [`driven`], [`snapshot`] or [`erasing`].
pub(crate) fn run_at_end(stored: &[u8]) -> Option<RunId> {
    stored
        .last_chunk::<16>()
        .map(|bytes| RunId::from_bytes(*bytes))
}

/// A waiting inbox command, by order of arrival.
pub(crate) fn inbox(run: RunId, arrival: u64) -> Key {
    key(INBOX, &[run.as_bytes(), &arrival.to_be_bytes()])
}

/// Whether a key is that of a waiting inbox command.
pub(crate) fn is_inbox(stored: &[u8]) -> bool {
    stored.first() == Some(&INBOX)
}

/// All waiting inbox commands, by run.
pub(crate) fn inboxes() -> Key {
    key(INBOX, &[])
}

/// A run's waiting inbox.
pub(crate) fn inbox_of(run: RunId) -> Key {
    key(INBOX, &[run.as_bytes()])
}

/// The run after the kind in a key that has one there: of an inbox, a message or a payload.
pub(crate) fn run_in(stored: &[u8]) -> Option<RunId> {
    let (run, _) = stored.get(1..)?.split_first_chunk::<16>()?;
    Some(RunId::from_bytes(*run))
}

/// Whether a message is waiting or was taken.
pub(crate) fn message(run: RunId, message: MessageId) -> Key {
    key(MESSAGE, &[run.as_bytes(), message.as_bytes()])
}

/// All messages of a run that are known.
pub(crate) fn messages_of(run: RunId) -> Key {
    key(MESSAGE, &[run.as_bytes()])
}

/// An effect entry. The printed key is unique, so its hash stands for it.
pub(crate) fn effect(effect: &EffectKey) -> Key {
    key(EFFECT, &[&hash(effect.to_string().as_bytes())])
}

/// Whether a key is that of an effect entry.
pub(crate) fn is_effect(stored: &[u8]) -> bool {
    stored.first() == Some(&EFFECT)
}

/// All effect entries.
pub(crate) fn effects() -> Key {
    key(EFFECT, &[])
}

/// The runs that wait for an effect key.
pub(crate) fn waiters(effect: &EffectKey) -> Key {
    key(WAITERS, &[&hash(effect.to_string().as_bytes())])
}

/// Whether a key is that of the runs that wait for an effect key.
pub(crate) fn is_waiters(stored: &[u8]) -> bool {
    stored.first() == Some(&WAITERS)
}

/// All runs that wait for keys.
pub(crate) fn all_waiters() -> Key {
    key(WAITERS, &[])
}

/// An alert, by its number.
pub(crate) fn alert(seq: AlertSeq) -> Key {
    key(ALERT, &[&SHARD, &seq.get().to_be_bytes()])
}

/// All alerts.
pub(crate) fn alerts() -> Key {
    key(ALERT, &[&SHARD])
}

/// Whether a key is that of an alert.
pub(crate) fn is_alert(stored: &[u8]) -> bool {
    stored.first() == Some(&ALERT)
}

/// The number in a key made by [`alert`].
pub(crate) fn seq_of_alert(stored: &[u8]) -> Option<AlertSeq> {
    let number = stored.get(1 + SHARD.len()..)?;
    Some(AlertSeq(u64::from_be_bytes(number.try_into().ok()?)))
}

/// A start key. Neither text has control characters, so NUL separates them.
pub(crate) fn start(tenant: &Tenant, start: &StartKey) -> Key {
    let text = format!("{tenant}\0{start}");
    key(START, &[&hash(text.as_bytes())])
}

/// Whether a key is that of a start key.
pub(crate) fn is_start(stored: &[u8]) -> bool {
    stored.first() == Some(&START)
}

/// All start keys.
pub(crate) fn starts() -> Key {
    key(START, &[])
}

/// That the row under `of` is looked at again from `at` on, whether it has expired.
pub(crate) fn expiry(at: Timestamp, of: &[u8]) -> Key {
    key(EXPIRY, &[&sortable(at), of])
}

/// All rows that may expire, by moment.
pub(crate) fn expiries() -> Key {
    key(EXPIRY, &[])
}

/// The moment and the row's key in a key made by [`expiry`].
pub(crate) fn expiry_in(stored: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (at, of) = stored.get(1..)?.split_first_chunk::<8>()?;
    Some((moment(*at), of))
}

/// A class's data. A name has no NUL, so a name never runs into the next one's version.
pub(crate) fn class(name: &ClassName, version: ClassVersion) -> Key {
    key(
        CLASS,
        &[name.as_str().as_bytes(), &[0], &version.0.to_be_bytes()],
    )
}

/// Whether a key is that of a class.
pub(crate) fn is_class(stored: &[u8]) -> bool {
    stored.first() == Some(&CLASS)
}

/// All classes.
pub(crate) fn classes() -> Key {
    key(CLASS, &[])
}

/// What is being erased, until no file has it any more.
pub(crate) fn erasing(run: RunId) -> Key {
    key(SYSTEM, &[b"erasing\0", run.as_bytes()])
}

/// All that is being erased.
pub(crate) fn all_erasing() -> Key {
    key(SYSTEM, &[b"erasing\0"])
}

/// That a run was erased, by whom and why.
pub(crate) fn erased(run: RunId) -> Key {
    key(SYSTEM, &[b"erased\0", run.as_bytes()])
}

/// Where the rows lie that belong to one run and go where it goes, its own row aside.
pub(crate) fn rows_of_run(run: RunId, drive: Drive) -> Vec<Key> {
    let mut prefixes = vec![driven(run), inbox_of(run), messages_of(run)];
    if let Drive::Parked { wake_at: Some(at) } = drive {
        prefixes.push(wake(at, run));
    }
    prefixes
}

/// The run that a row belongs to and goes where it goes; `None` for a row of no single run.
pub(crate) fn run_of_row(stored: &[u8]) -> Option<RunId> {
    match stored.first() {
        Some(&(INBOX | MESSAGE)) => run_in(stored),
        Some(&(DRIVEN | WAKE)) => run_at_end(stored),
        Some(_) | None => None,
    }
}

/// Whether a row under `stored` belongs to one run and goes where that goes.
pub(crate) fn is_of_run(stored: &[u8], run: RunId) -> bool {
    run_of_row(stored) == Some(run)
}

/// Whether a row under `stored` belongs to no single run.
pub(crate) fn is_shared(stored: &[u8]) -> bool {
    matches!(stored.first(), Some(&(EFFECT | START | WAITERS | ALERT)))
}

/// All rows that the log has, by kind: caches are not among them.
pub(crate) fn logged() -> Vec<Key> {
    let kinds = [
        META, RUN, DRIVEN, WAKE, INBOX, MESSAGE, EFFECT, START, WAITERS, ALERT, EXPIRY, CLASS,
        SYSTEM,
    ];
    kinds.map(|kind| vec![kind]).to_vec()
}

/// What kind of row lies under a key, in words.
pub(crate) fn about(stored: &[u8]) -> String {
    let kind = match stored.first() {
        Some(&META) => "a fact about the store",
        Some(&RUN) => "where a run stands",
        Some(&SNAPSHOT) => "a snapshot",
        Some(&PAYLOAD) => "a payload of a snapshot",
        Some(&DRIVEN) => "a run that is driven",
        Some(&WAKE) => "when a run wakes",
        Some(&INBOX) => "a waiting command",
        Some(&MESSAGE) => "a known message",
        Some(&EFFECT) => "an effect entry",
        Some(&START) => "a start key",
        Some(&WAITERS) => "runs that wait for a key",
        Some(&ALERT) => "an alert",
        Some(&EXPIRY) => "when a row expires",
        Some(&CLASS) => "a class",
        Some(&SYSTEM) => "a record of the store itself",
        Some(_) | None => "a row of a newer version",
    };
    kind.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_types::limits::{KEY_BYTES_MAX, NAME_BYTES_MAX};

    #[test]
    fn the_longest_names_make_keys_within_the_bound() {
        let name = ClassName::new("n".repeat(NAME_BYTES_MAX)).unwrap();
        assert!(class(&name, ClassVersion(u32::MAX)).len() <= TABLE_KEY_BYTES_MAX);
        let tenant = Tenant::new("t".repeat(KEY_BYTES_MAX)).unwrap();
        let start_key = StartKey::new("s".repeat(KEY_BYTES_MAX)).unwrap();
        assert_eq!(start(&tenant, &start_key).len(), 1 + HASH_BYTES);
    }

    #[test]
    fn tenant_and_start_key_do_not_run_into_each_other() {
        let of = |tenant: &str, text: &str| {
            start(&Tenant::new(tenant).unwrap(), &StartKey::new(text).unwrap())
        };
        assert_ne!(of("ab", "c"), of("a", "bc"));
    }

    #[test]
    fn wakes_sort_by_moment_whatever_its_sign_and_tell_it() {
        let moments = [i64::MIN, -1_000, -1, 0, 1, 1_796_000_000_000, i64::MAX];
        let run = RunId::from_bytes([7; 16]);
        let keys = moments.map(|ms| wake(Timestamp::from_millis(ms), run));
        assert!(keys.is_sorted());
        for (key, ms) in keys.iter().zip(moments) {
            assert_eq!(wake_in(key), Some((Timestamp::from_millis(ms), run)));
        }
        assert_eq!(wake_in(&keys[0][..20]), None);
    }

    #[test]
    fn an_expiry_tells_its_moment_and_whose_it_is() {
        let of = start(
            &Tenant::new("acme").unwrap(),
            &StartKey::new("m-1").unwrap(),
        );
        let at = Timestamp::from_millis(-5);
        assert_eq!(expiry_in(&expiry(at, &of)), Some((at, &of[..])));
    }
}
