//! One event as it lies in storage: a 32-byte header, then the payload.
//!
//! The header names what the payload is, who wrote it and what came before it. A record that does
//! not prove itself is an error with the run and the place; it is never skipped, guessed at or
//! repaired here.
//!
//! | at | bytes | holds (little-endian) |
//! |---|---|---|
//! | 0 | 2 | magic |
//! | 2 | 1 | envelope version |
//! | 3 | 1 | codec (low half), flags (high half) |
//! | 4 | 2 | event kind |
//! | 6 | 2 | schema version of the kind |
//! | 8 | 4 | payload length |
//! | 12 | 8 | wall clock, milliseconds |
//! | 20 | 4 | epoch of the writer |
//! | 24 | 4 | chain: what the records before it come to |
//! | 28 | 4 | crc32 over run id, sequence number, bytes 0 to 28, payload |

use mainstay_types::{Epoch, RunId, Seq, Timestamp, limits};

use crate::codec::{self, Kind};
use crate::commit::Stamped;
use crate::error::LedgerError;
use crate::query::Recorded;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 32;

const MAGIC: [u8; 2] = [0x4d, 0xa7];
const ENVELOPE: u8 = 1;
/// The low half of the codec byte: bincode 2, standard configuration.
const CODEC_BINCODE: u8 = 1;
const CODEC_MASK: u8 = 0x0f;
/// The payload is encrypted and starts with a 16-byte key id.
const FLAG_SEALED: u8 = 0x80;
const CRC_AT: usize = 28;

const _: () = assert!(limits::RECORD_BYTES_MAX <= u32::MAX as usize);

/// What the records of a run so far come to: each record carries the value of those before it, so
/// that a missing, swapped, repeated or replaced record is noticed at the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u32);

impl Chain {
    /// The value before a run's first record. It depends on the run, so that one run's records do
    /// not pass as another's.
    #[must_use]
    pub fn start(run: RunId) -> Self {
        Self(crc(&[b"mainstay chain", run.as_bytes()]))
    }

    /// A value read back from storage.
    #[must_use]
    pub const fn from_u32(value: u32) -> Self {
        Self(value)
    }

    /// The stored value.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The value after a record with this checksum.
    fn after(self, record_crc: u32) -> Self {
        Self(crc(&[&self.0.to_le_bytes(), &record_crc.to_le_bytes()]))
    }
}

/// Where a record stands: whose, where, written by an owner of which epoch, after what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The run.
    pub run: RunId,
    /// The place in its log, from 1.
    pub seq: Seq,
    /// The epoch of its writer.
    pub epoch: Epoch,
    /// The chain value it carries.
    pub chain: Chain,
}

/// The record of `stamped` at `place`, and the chain value the next one carries.
///
/// Panics on an event that [`codec::fits`] refuses; [`crate::check::check`] lets none pass.
#[must_use]
pub fn seal(place: Place, stamped: &Stamped) -> (Vec<u8>, Chain) {
    let Place {
        run,
        seq,
        epoch,
        chain,
    } = place;
    let kind = Kind::of(&stamped.event);
    let mut bytes = vec![0; HEADER_BYTES];
    codec::encode_event(&stamped.event, &mut bytes);
    assert!(
        bytes.len() <= limits::RECORD_BYTES_MAX,
        "run {run}: a record beyond its bound"
    );
    let payload = u32::try_from(bytes.len() - HEADER_BYTES).expect("bounded by the assert above");
    bytes[0..2].copy_from_slice(&MAGIC);
    bytes[2] = ENVELOPE;
    bytes[3] = CODEC_BINCODE;
    bytes[4..6].copy_from_slice(&kind.number().to_le_bytes());
    bytes[6..8].copy_from_slice(&kind.version().to_le_bytes());
    bytes[8..12].copy_from_slice(&payload.to_le_bytes());
    bytes[12..20].copy_from_slice(&stamped.at.as_millis().to_le_bytes());
    bytes[20..24].copy_from_slice(&epoch.get().to_le_bytes());
    bytes[24..28].copy_from_slice(&chain.0.to_le_bytes());
    let crc = record_crc(run, seq, &bytes);
    bytes[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
    (bytes, chain.after(crc))
}

/// `bytes` with everything made right that keeps a record's payload from being read: where it
/// stands, its lengths, its checksum. For fuzzers; `None` when there is not even a header.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn mended((run, seq, chain): (RunId, Seq, Chain), bytes: &[u8]) -> Option<Vec<u8>> {
    let payload = u32::try_from(bytes.len().checked_sub(HEADER_BYTES)?).ok()?;
    let mut bytes = bytes.to_vec();
    bytes[0..2].copy_from_slice(&MAGIC);
    bytes[2] = ENVELOPE;
    bytes[8..12].copy_from_slice(&payload.to_le_bytes());
    bytes[24..28].copy_from_slice(&chain.0.to_le_bytes());
    let crc = record_crc(run, seq, &bytes);
    bytes[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
    Some(bytes)
}

/// The chain value that the record `seq` of `run` carries: what the records before it come to, as
/// it says itself. Its own bytes are proven by [`open`] with that value, those before it are not.
///
/// `CorruptRecord` when the bytes have not even the form of a record.
pub fn chain_of(run: RunId, seq: Seq, bytes: &[u8]) -> Result<Chain, LedgerError> {
    let corrupt = |detail: String| LedgerError::CorruptRecord { run, seq, detail };
    let (header, _) = split(bytes).map_err(corrupt)?;
    Ok(Chain(u32::from_le_bytes(part(header, 24))))
}

/// The event that `bytes` hold, when they are the record `seq` of `run` that follows `chain`; and
/// the chain value the next one must carry.
///
/// `CorruptRecord` when the bytes do not prove themselves, or when a newer version wrote them;
/// `CorruptChain` when they are whole but do not follow what came before.
pub fn open(
    run: RunId,
    seq: Seq,
    bytes: &[u8],
    chain: Chain,
) -> Result<(Recorded, Chain), LedgerError> {
    let corrupt = |detail: String| LedgerError::CorruptRecord { run, seq, detail };
    let (header, payload) = split(bytes).map_err(corrupt)?;
    let stored_crc = u32::from_le_bytes(part(header, CRC_AT));
    let crc = record_crc(run, seq, bytes);
    if stored_crc != crc {
        return Err(corrupt(format!(
            "its checksum is {crc:08x}, its header says {stored_crc:08x}"
        )));
    }
    let stored_chain = u32::from_le_bytes(part(header, 24));
    if stored_chain != chain.0 {
        let detail = format!(
            "it follows records that come to {stored_chain:08x}, those before it come to {:08x}",
            chain.0
        );
        return Err(LedgerError::CorruptChain { run, seq, detail });
    }
    readable(header[3]).map_err(corrupt)?;
    let kind = u16::from_le_bytes(part(header, 4));
    let version = u16::from_le_bytes(part(header, 6));
    let event =
        codec::decode_event(kind, version, payload).map_err(|error| corrupt(error.to_string()))?;
    let at = Timestamp::from_millis(i64::from_le_bytes(part(header, 12)));
    let epoch = Epoch(u32::from_le_bytes(part(header, 20)));
    Ok((
        Recorded {
            seq,
            at,
            epoch,
            event,
        },
        chain.after(crc),
    ))
}

/// Header and payload, when the bytes have the form of a record at all.
fn split(bytes: &[u8]) -> Result<(&[u8; HEADER_BYTES], &[u8]), String> {
    if limits::RECORD_BYTES_MAX < bytes.len() {
        return Err(format!(
            "it has {} bytes, more than a record may have",
            bytes.len()
        ));
    }
    let Some((header, payload)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(format!(
            "it has {} bytes, a header alone has {HEADER_BYTES}",
            bytes.len()
        ));
    };
    if header[0..2] != MAGIC {
        return Err("it does not begin as a record does".to_owned());
    }
    if header[2] != ENVELOPE {
        return Err(format!(
            "its envelope version is {}, this version reads {ENVELOPE}; a newer version wrote it, \
             or it is damaged",
            header[2]
        ));
    }
    let stored = u32::from_le_bytes(part(header, 8));
    if usize::try_from(stored) != Ok(payload.len()) {
        return Err(format!(
            "its payload has {} bytes, its header says {stored}",
            payload.len()
        ));
    }
    Ok((header, payload))
}

/// Refuses what this version cannot turn into an event, before it is taken for damage.
fn readable(codec_and_flags: u8) -> Result<(), String> {
    if codec_and_flags & FLAG_SEALED != 0 {
        return Err("its payload is sealed, and this version holds no keys to open it".to_owned());
    }
    if codec_and_flags & !CODEC_MASK != 0 {
        return Err(format!(
            "it has flags {codec_and_flags:#04x}: a newer version wrote it"
        ));
    }
    if codec_and_flags != CODEC_BINCODE {
        return Err(format!(
            "it has codec {codec_and_flags}: a newer version wrote it"
        ));
    }
    Ok(())
}

/// The checksum of a whole record: its key, its header without the checksum, its payload.
fn record_crc(run: RunId, seq: Seq, bytes: &[u8]) -> u32 {
    let key = seq.get().to_be_bytes();
    crc(&[
        run.as_bytes(),
        &key,
        &bytes[..CRC_AT],
        &bytes[HEADER_BYTES..],
    ])
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// `N` bytes of the header from `at`.
fn part<const N: usize>(header: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&header[at..at + N]);
    bytes
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
