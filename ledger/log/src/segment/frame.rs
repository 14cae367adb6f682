//! A frame's header: what proves that a frame is the one that belongs here, and that it is whole.
//!
//! | at | bytes | holds (little-endian) |
//! |---|---|---|
//! | 0 | 4 | magic |
//! | 4 | 1 | version |
//! | 5 | 1 | flags: 1 begins a segment |
//! | 6 | 2 | lag: how many frames right before this one were not known to be durable |
//! | 8 | 8 | store: the first half of its id |
//! | 16 | 8 | segment |
//! | 24 | 8 | number of the frame, dense over the whole log from 1 |
//! | 32 | 4 | length of the body |
//! | 36 | 4 | crc32 over bytes 0 to 36 and the body |
//!
//! Frames begin at multiples of 8. A body is never read before its length is within the segment.
//! A later frame that is whole proves that all frames before it less its lag were durable once: so
//! a bad frame among them is damage, and one after them may be torn.

use mainstay_types::limits;

use super::SegmentNo;
use crate::fields::Fields;
use crate::files::StoreId;

pub(super) const HEADER_BYTES: usize = 40;
pub(super) const ALIGN: usize = 8;

/// What the frame that begins a segment says: where the segment before it ends.
pub(super) const BEGIN_BODY_BYTES: usize = 8;
/// All of such a frame.
pub(crate) const BEGIN_BYTES: u32 = 48;

const MAGIC: [u8; 4] = [0x4d, 0x53, 0x4c, 0xa5];
const VERSION: u8 = 1;
const FLAG_BEGIN: u8 = 1;
const CRC_AT: usize = 36;

const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGN));
const _: () = assert!(BEGIN_BYTES as usize == HEADER_BYTES + BEGIN_BODY_BYTES);

/// Whose frames are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) store: StoreId,
    pub(super) segment: SegmentNo,
}

/// A frame's header, but for its length and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) owner: Owner,
    pub(super) begins: bool,
    pub(super) number: u64,
    pub(super) lag: u16,
}

/// A header that has its form, of this store and segment; its frame is not proven yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) begins: bool,
    pub(super) number: u64,
    pub(super) lag: u16,
    /// Length of the body.
    pub(super) body: usize,
    crc: u32,
}

/// Why a header is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoFrame {
    /// Nothing was written here.
    Zeros,
    /// Something else than a frame.
    Other(&'static str),
}

impl FrameHead {
    /// Fills in the header in front of a body.
    pub(super) fn seal(self, frame: &mut [u8]) {
        let (header, body) = frame
            .split_first_chunk_mut::<HEADER_BYTES>()
            .expect("whoever builds a frame leaves room for its header");
        let bytes = u32::try_from(body.len()).expect("a frame is far below 4 GiB");
        header[0..4].copy_from_slice(&MAGIC);
        header[4] = VERSION;
        header[5] = if self.begins { FLAG_BEGIN } else { 0 };
        header[6..8].copy_from_slice(&self.lag.to_le_bytes());
        header[8..16].copy_from_slice(&half(self.owner.store));
        header[16..24].copy_from_slice(&self.owner.segment.0.to_le_bytes());
        header[24..32].copy_from_slice(&self.number.to_le_bytes());
        header[32..36].copy_from_slice(&bytes.to_le_bytes());
        let crc = crc(&header[..CRC_AT], body);
        header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
    }
}

impl Claim {
    /// What a header claims.
    pub(super) fn read(owner: Owner, header: &[u8; HEADER_BYTES]) -> Result<Self, NoFrame> {
        if header.iter().all(|byte| *byte == 0) {
            return Err(NoFrame::Zeros);
        }
        Self::parse(owner, header).ok_or_else(|| {
            NoFrame::Other(match header.first_chunk::<4>() == Some(&MAGIC) {
                true => "a frame of another store, segment or version",
                false => "something that is no frame",
            })
        })
    }

    fn parse(owner: Owner, header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let mut fields = Fields(header);
        let magic: [u8; 4] = fields.array()?;
        let [version, flags] = fields.array()?;
        let lag = u16::from_le_bytes(fields.array()?);
        let store: [u8; 8] = fields.array()?;
        let segment = SegmentNo(fields.u64()?);
        let number = fields.u64()?;
        let body = usize::try_from(fields.u32()?).ok()?;
        let known = magic == MAGIC && version == VERSION && flags & !FLAG_BEGIN == 0;
        let ours = store == half(owner.store) && segment == owner.segment;
        (known && ours && HEADER_BYTES + body <= limits::LOG_FRAME_BYTES_MAX).then_some(Self {
            begins: flags & FLAG_BEGIN != 0,
            number,
            lag,
            body,
            crc: fields.u32()?,
        })
    }

    /// Whether `frame`, header and body, is what its header claims.
    pub(super) fn holds(self, frame: &[u8]) -> bool {
        frame
            .split_at_checked(HEADER_BYTES)
            .is_some_and(|(header, body)| crc(&header[..CRC_AT], body) == self.crc)
    }

    /// What the frame takes, padding included.
    pub(super) fn padded(self) -> u64 {
        (HEADER_BYTES + self.body).next_multiple_of(ALIGN) as u64
    }

    /// The newest frame that was durable when this one was written; it holds if the frame does.
    pub(super) fn durable(self) -> u64 {
        self.number
            .saturating_sub(1)
            .saturating_sub(u64::from(self.lag))
    }
}

/// Whether a header could begin here: cheap, for looking at every place.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    bytes.first_chunk::<4>() == Some(&MAGIC)
}

/// The frame that begins a segment; `previous` is where the one before it ends (0: there is none).
pub(super) fn begin(head: FrameHead, previous: u32) -> [u8; BEGIN_BYTES as usize] {
    let mut frame = [0; BEGIN_BYTES as usize];
    frame[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&previous.to_le_bytes());
    head.seal(&mut frame);
    frame
}

/// Where the segment before this one ends, from the frame that begins it.
pub(super) fn previous_end(frame: &[u8]) -> Option<u32> {
    let mut fields = Fields(frame.get(HEADER_BYTES..)?);
    let end = fields.u32()?;
    (fields.u32()? == 0 && fields.is_empty()).then_some(end)
}

fn half(store: StoreId) -> [u8; 8] {
    let mut half = [0; 8];
    half.copy_from_slice(&store.as_bytes()[..8]);
    half
}

fn crc(header: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(body);
    hasher.finalize()
}
