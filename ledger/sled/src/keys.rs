//! Where things stand in sled: one tree, a prefix byte, big-endian numbers.
//!
//! A prefix never gets a second meaning, and no key is longer than `limits::SLED_KEY_BYTES_MAX`.

use mainstay_types::limits::SLED_KEY_BYTES_MAX;
use mainstay_types::{
    AlertSeq, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq, StartKey, Tenant,
    Timestamp,
};

/// Bytes of a blake3 digest that name something; the full name is stored and compared.
pub(crate) const HASH_BYTES: usize = 16;

const META: u8 = 0x00;
const RECORDS: u8 = 0x10;
const SUMMARY: u8 = 0x12;
const HEAD: u8 = 0x13;
const DRIVEN: u8 = 0x20;
const WAKE: u8 = 0x21;
const PARKED: u8 = 0x22;
const INBOX: u8 = 0x23;
const MESSAGE: u8 = 0x24;
const INBOX_COUNT: u8 = 0x25;
const EFFECT: u8 = 0x30;
const START: u8 = 0x31;
const WAITERS: u8 = 0x34;
const ALERT: u8 = 0x40;
const PIECE: u8 = 0x60;
const CLASS: u8 = 0x80;

/// Runs are not spread over shards yet; the key has room for it.
const SHARD: [u8; 2] = [0, 0];

/// A key of the tree.
pub(crate) type Key = Vec<u8>;

fn key(prefix: u8, parts: &[&[u8]]) -> Key {
    let mut key = Vec::with_capacity(SLED_KEY_BYTES_MAX);
    key.push(prefix);
    for part in parts {
        key.extend_from_slice(part);
    }
    assert!(
        key.len() <= SLED_KEY_BYTES_MAX,
        "a key of {} bytes",
        key.len()
    );
    key
}

fn hash(bytes: &[u8]) -> [u8; HASH_BYTES] {
    let mut short = [0; HASH_BYTES];
    short.copy_from_slice(&Digest::of(bytes).as_bytes()[..HASH_BYTES]);
    short
}

/// Format and identity of the store.
pub(crate) fn format() -> Key {
    key(META, &[b"format"])
}

/// The newest group and the newest time.
pub(crate) fn position() -> Key {
    key(META, &[b"position"])
}

/// The records of one append; `first` is the sequence number of the first.
pub(crate) fn records(run: RunId, first: Seq) -> Key {
    key(RECORDS, &[run.as_bytes(), &first.get().to_be_bytes()])
}

/// All records of a run.
pub(crate) fn records_of(run: RunId) -> Key {
    key(RECORDS, &[run.as_bytes()])
}

/// The first sequence number in a key made by [`records`].
pub(crate) fn first_of_records(stored: &[u8]) -> Option<Seq> {
    let (_, number) = stored.split_at_checked(1 + 16)?;
    Some(Seq(u64::from_be_bytes(number.try_into().ok()?)))
}

/// A run's row in listings.
pub(crate) fn summary(run: RunId) -> Key {
    key(SUMMARY, &[run.as_bytes()])
}

/// All rows of listings.
pub(crate) fn summaries() -> Key {
    key(SUMMARY, &[])
}

/// A run's newest sequence number, epoch and chain.
pub(crate) fn head(run: RunId) -> Key {
    key(HEAD, &[run.as_bytes()])
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
    let at = i64::from_be_bytes(*at) ^ i64::MIN;
    let run = RunId::from_bytes(run.try_into().ok()?);
    Some((Timestamp::from_millis(at), run))
}

/// Bytes that sort as moments do: the sign comes first and the other way round.
fn sortable(at: Timestamp) -> [u8; 8] {
    (at.as_millis() ^ i64::MIN).to_be_bytes()
}

/// When a parked run wakes, so that the row in [`wakes`] can be found from the run.
pub(crate) fn parked(run: RunId) -> Key {
    key(PARKED, &[run.as_bytes()])
}

/// The run at the end of a key made by [`summary`] or [`driven`].
pub(crate) fn run_at_end(stored: &[u8]) -> Option<RunId> {
    stored
        .last_chunk::<16>()
        .map(|bytes| RunId::from_bytes(*bytes))
}

/// A waiting inbox command, by order of arrival.
pub(crate) fn inbox(run: RunId, arrival: u64) -> Key {
    key(INBOX, &[run.as_bytes(), &arrival.to_be_bytes()])
}

/// All waiting inbox commands, by run.
pub(crate) fn inboxes() -> Key {
    key(INBOX, &[])
}

/// The run in a key made by [`inbox`].
pub(crate) fn run_of_inbox(stored: &[u8]) -> Option<RunId> {
    let (run, _) = stored.get(1..)?.split_first_chunk::<16>()?;
    Some(RunId::from_bytes(*run))
}

/// A run's waiting inbox.
pub(crate) fn inbox_of(run: RunId) -> Key {
    key(INBOX, &[run.as_bytes()])
}

/// Whether a message is waiting or was taken.
pub(crate) fn message(run: RunId, message: MessageId) -> Key {
    key(MESSAGE, &[run.as_bytes(), message.as_bytes()])
}

/// How many messages of a run arrived and wait.
pub(crate) fn inbox_count(run: RunId) -> Key {
    key(INBOX_COUNT, &[run.as_bytes()])
}

/// An effect entry. The printed key is unique, so its hash stands for it.
pub(crate) fn effect(effect: &EffectKey) -> Key {
    key(EFFECT, &[&hash(effect.to_string().as_bytes())])
}

/// The runs that wait for an effect key.
pub(crate) fn waiters(effect: &EffectKey) -> Key {
    key(WAITERS, &[&hash(effect.to_string().as_bytes())])
}

/// The number of the newest alert.
pub(crate) fn newest_alert() -> Key {
    key(META, &[b"alerts"])
}

/// An alert, by its number.
pub(crate) fn alert(seq: AlertSeq) -> Key {
    key(ALERT, &[&SHARD, &seq.get().to_be_bytes()])
}

/// All alerts.
pub(crate) fn alerts() -> Key {
    key(ALERT, &[&SHARD])
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

/// Piece `number` of the value `id` under `owner`.
pub(crate) fn piece(owner: &[u8], id: [u8; 8], number: u32) -> Key {
    key(PIECE, &[&hash(owner), &id, &number.to_be_bytes()])
}

/// Whether a key is that of a piece.
pub(crate) fn is_piece(stored: &[u8]) -> bool {
    stored.first() == Some(&PIECE)
}

/// Whether the value under a key may be cut into pieces whatever its size: those that are written
/// once, or replaced and cleared together with their pieces. The others are small.
pub(crate) fn may_be_cut(stored: &[u8]) -> bool {
    matches!(
        stored.first(),
        Some(&(RECORDS | INBOX | EFFECT | START | WAITERS | ALERT | CLASS))
    )
}

/// A class's data. A name has no NUL, so a name never runs into the next one's version.
pub(crate) fn class(name: &ClassName, version: ClassVersion) -> Key {
    key(
        CLASS,
        &[name.as_str().as_bytes(), &[0], &version.0.to_be_bytes()],
    )
}

/// All classes.
pub(crate) fn classes() -> Key {
    key(CLASS, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_types::limits::{KEY_BYTES_MAX, NAME_BYTES_MAX};

    #[test]
    fn the_longest_names_make_keys_within_the_bound() {
        let name = ClassName::new("n".repeat(NAME_BYTES_MAX)).unwrap();
        assert!(class(&name, ClassVersion(u32::MAX)).len() <= SLED_KEY_BYTES_MAX);
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
    fn records_sort_by_number_and_tell_it() {
        let run = RunId::from_bytes([7; 16]);
        let (early, late) = (records(run, Seq(255)), records(run, Seq(256)));
        assert!(early < late);
        assert_eq!(first_of_records(&late), Some(Seq(256)));
        assert_eq!(first_of_records(&late[..20]), None);
    }
}
