//! Fixed little-endian fields of the few values that are only this backend's.
//!
//! Nothing here knows what a field means.

/// Reads fields from the front; every method is `None` when too little is left.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Bytes with their length in front; `None` also at the end.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u32()?).ok()?;
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `None` unless everything was read.
    pub(crate) fn end(&self) -> Option<()> {
        self.is_empty().then_some(())
    }
}

/// Appends bytes with their length in front.
pub(crate) fn push_counted(into: &mut Vec<u8>, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).expect("a record is at most RECORD_BYTES_MAX");
    into.extend_from_slice(&len.to_le_bytes());
    into.extend_from_slice(bytes);
}
