//! A frame in the making: entries are encoded once, into the buffer that is written.
//!
//! It is used again for the next group. It also keeps what the index needs of each entry, so that
//! nothing that was just written has to be read again.

use mainstay_types::{RunId, limits};

use super::entry::{
    CLOSED_HEAD_BYTES, ENTRY_HEADER_BYTES, Entry, FLAG_CARRIED, KIND_CLOSED, KIND_GONE,
    KIND_PRUNED, KIND_RECORDS, KIND_ROW, RECORDS_HEAD_BYTES, Records, is_counted,
};
use super::footer;
use super::frame::{ALIGN, FrameHead, HEADER_BYTES};
use super::index::{Item, What};

/// Entries of one group, in order. Make one and use it again ([`FrameBuilder::clear`]).
#[derive(Clone, Debug)]
pub(crate) struct FrameBuilder {
    /// Room for the header, then the entries.
    bytes: Vec<u8>,
    /// What the index has to know, with places from the start of the frame.
    items: Vec<Item>,
}

impl Default for FrameBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameBuilder {
    /// A frame without entries.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; HEADER_BYTES],
            items: Vec::new(),
        }
    }

    /// Takes all entries out again and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(HEADER_BYTES);
        self.items.clear();
    }

    /// What the frame takes in the log, in bytes, header and padding included.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len().next_multiple_of(ALIGN)
    }

    /// Adds an entry. At most `limits::LOG_FRAME_BYTES_MAX` bytes in all, or the append refuses it.
    ///
    /// Panics on a key beyond `limits::LOG_KEY_BYTES_MAX`, on records that are not counted as they
    /// say, and on an entry of 4 GiB.
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let begins = self.bytes.len();
        let what = match *entry {
            Entry::Records(records) => Some(self.push_records(&records)),
            Entry::Row { key, value } => {
                self.head(KIND_ROW, 0, key.len(), value.len());
                self.bytes.extend_from_slice(key);
                self.bytes.extend_from_slice(value);
                None
            }
            Entry::Gone { key } => {
                self.head(KIND_GONE, 0, key.len(), 0);
                self.bytes.extend_from_slice(key);
                None
            }
            Entry::Closed {
                run,
                expires_at,
                row,
            } => {
                self.head(KIND_CLOSED, 0, 0, CLOSED_HEAD_BYTES + row.len());
                self.bytes.extend_from_slice(run.as_bytes());
                let expiry = expires_at.as_millis().to_le_bytes();
                self.bytes.extend_from_slice(&expiry);
                self.bytes.extend_from_slice(row);
                Some((run, What::Closed { expires_at }))
            }
            Entry::Pruned { run } => {
                self.head(KIND_PRUNED, 0, 0, run.as_bytes().len());
                self.bytes.extend_from_slice(run.as_bytes());
                Some((run, What::Pruned))
            }
        };
        if let Some((run, what)) = what {
            self.items.push(Item {
                run,
                offset: small(begins),
                bytes: small(self.bytes.len() - begins),
                what,
            });
        }
    }

    /// What the index learns of the frame.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The most that the footer of the segment grows by this frame, in bytes.
    pub(super) fn footer_bytes(&self) -> u64 {
        self.items.len() as u64 * footer::ITEM_BYTES_MAX
    }

    /// The frame as it is written: with this header, checksum and padding.
    pub(super) fn seal(&mut self, head: FrameHead) -> Sealed<'_> {
        let end = self.bytes.len();
        head.seal(&mut self.bytes);
        self.bytes.resize(end.next_multiple_of(ALIGN), 0);
        Sealed { builder: self, end }
    }

    fn push_records(&mut self, records: &Records<'_>) -> (RunId, What) {
        let Records {
            run,
            first,
            count,
            prev,
            carried,
            bytes,
        } = *records;
        assert!(is_counted(bytes, count), "run {run}: records miscounted");
        let flags = if carried { FLAG_CARRIED } else { 0 };
        self.head(KIND_RECORDS, flags, 0, RECORDS_HEAD_BYTES + bytes.len());
        let prev_no = prev.map_or(0, |prev| prev.0);
        self.bytes.extend_from_slice(run.as_bytes());
        self.bytes.extend_from_slice(&first.get().to_le_bytes());
        self.bytes.extend_from_slice(&count.to_le_bytes());
        self.bytes.extend_from_slice(&prev_no.to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        let what = What::Records {
            first,
            count,
            prev,
            carried,
        };
        (run, what)
    }

    fn head(&mut self, kind: u8, flags: u8, key: usize, rest: usize) {
        assert!(
            key <= limits::LOG_KEY_BYTES_MAX,
            "a key of {key} bytes is beyond its bound"
        );
        let key_bytes = u16::try_from(key).expect("bounded by the assert above");
        let mut header = [0; ENTRY_HEADER_BYTES];
        header[0] = kind;
        header[1] = flags;
        header[2..4].copy_from_slice(&key_bytes.to_le_bytes());
        header[4..8].copy_from_slice(&small(key + rest).to_le_bytes());
        self.bytes.extend_from_slice(&header);
    }
}

/// A sealed frame; what was done to seal it is undone when this is dropped.
pub(super) struct Sealed<'a> {
    builder: &'a mut FrameBuilder,
    end: usize,
}

impl Sealed<'_> {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.builder.bytes
    }
}

impl Drop for Sealed<'_> {
    fn drop(&mut self) {
        self.builder.bytes.truncate(self.end);
    }
}

fn small(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("an entry is far below 4 GiB")
}
