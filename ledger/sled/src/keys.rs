//! Where things stand in sled: one tree, a prefix byte, big-endian numbers.
//!
//! A prefix never gets a second meaning, and no key is longer than `limits::SLED_KEY_BYTES_MAX`.

use mainstay_types::limits::SLED_KEY_BYTES_MAX;
use mainstay_types::{ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq};
use mainstay_types::{StartKey, Tenant};

/// Bytes of a blake3 digest that name something; the full name is stored and compared.
pub(crate) const HASH_BYTES: usize = 16;

const META: u8 = 0x00;
const RECORDS: u8 = 0x10;
const SUMMARY: u8 = 0x12;
const HEAD: u8 = 0x13;
const DRIVEN: u8 = 0x20;
const INBOX: u8 = 0x23;
const MESSAGE: u8 = 0x24;
const INBOX_COUNT: u8 = 0x25;
const EFFECT: u8 = 0x30;
const START: u8 = 0x31;
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
        Some(&(RECORDS | INBOX | EFFECT | START | CLASS))
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
    fn records_sort_by_number_and_tell_it() {
        let run = RunId::from_bytes([7; 16]);
        let (early, late) = (records(run, Seq(255)), records(run, Seq(256)));
        assert!(early < late);
        assert_eq!(first_of_records(&late), Some(Seq(256)));
        assert_eq!(first_of_records(&late[..20]), None);
    }
}
