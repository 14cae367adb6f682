//! The row of a run: where its log ends, how it is driven, what waits for it, what listings show.
//!
//! It says nothing that the run's events do not say or cause; the events are in the log. It must
//! never be the only place of a fact about the run.

use mainstay_ledger::check::Head;
use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::codec::{DecodeError, decode_summary, encode_summary};
use mainstay_ledger::{Drive, LedgerError, record::Chain};
use mainstay_machine::{RunState, Summary};
use mainstay_types::{Epoch, RunId, Seq, Timestamp, WorkerId};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::segment::SegmentNo;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunRow {
    /// Where its log ends.
    pub(crate) head: Head,
    /// The newest segment with records of it.
    pub(crate) newest: SegmentNo,
    /// How it is driven.
    pub(crate) drive: Drive,
    /// How many inbox commands arrived.
    pub(crate) arrived: u64,
    /// How many of them wait.
    pub(crate) waiting: u64,
    /// Its row in listings.
    pub(crate) summary: Option<Summary>,
}

const DRIVE_OFF: u8 = 0;
const DRIVE_DRIVEN: u8 = 1;
const DRIVE_PARKED: u8 = 2;
const DRIVE_WAKES: u8 = 3;

impl RunRow {
    /// A run without any record yet.
    pub(crate) fn unborn(run: RunId) -> Self {
        Self {
            head: Head {
                seq: Seq(0),
                epoch: Epoch(0),
                chain: Chain::start(run),
            },
            newest: SegmentNo(0),
            drive: Drive::Off,
            arrived: 0,
            waiting: 0,
            summary: None,
        }
    }

    /// Whether the run is closed and nothing waits for it: then its row rests in the archive, and
    /// costs the table nothing.
    pub(crate) fn rests(&self) -> bool {
        let closed = self.summary.as_ref().map(|summary| summary.state) == Some(RunState::Closed);
        closed && self.waiting == 0 && self.drive == Drive::Off
    }

    /// The value of the run's row.
    pub(crate) fn encode(&self, run: RunId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + 160);
        bytes.extend_from_slice(&self.head.seq.get().to_le_bytes());
        bytes.extend_from_slice(&self.head.epoch.get().to_le_bytes());
        bytes.extend_from_slice(&self.head.chain.as_u32().to_le_bytes());
        bytes.extend_from_slice(&self.newest.0.to_le_bytes());
        bytes.extend_from_slice(&self.arrived.to_le_bytes());
        bytes.extend_from_slice(&self.waiting.to_le_bytes());
        match &self.drive {
            Drive::Off => bytes.push(DRIVE_OFF),
            Drive::Driven { worker } => {
                bytes.push(DRIVE_DRIVEN);
                bytes.extend_from_slice(worker.as_bytes());
            }
            Drive::Parked { wake_at: None } => bytes.push(DRIVE_PARKED),
            Drive::Parked { wake_at: Some(at) } => {
                bytes.push(DRIVE_WAKES);
                bytes.extend_from_slice(&at.as_millis().to_le_bytes());
            }
        }
        if let Some(summary) = &self.summary {
            bytes.extend_from_slice(&encode_summary(&[], summary));
        }
        seal_value(&keys::run(run), &bytes)
    }

    /// The row in the value of `run`'s row; an error names the run.
    pub(crate) fn decode(run: RunId, value: &[u8]) -> Result<Self, LedgerError> {
        let row = open_value(&keys::run(run), value).and_then(Self::parse);
        row.map_err(|error| fault::of_run(run, "its row", &error))
    }

    fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields(bytes);
        let fixed = Self::fixed(&mut fields);
        let row = fixed.ok_or_else(|| DecodeError::Form {
            detail: "its fixed fields are cut short or not known".to_owned(),
        })?;
        let summary = match fields.is_empty() {
            true => None,
            false => Some(decode_summary(&[], fields.0)?),
        };
        Ok(Self { summary, ..row })
    }

    fn fixed(fields: &mut Fields<'_>) -> Option<Self> {
        let head = Head {
            seq: Seq(fields.u64()?),
            epoch: Epoch(fields.u32()?),
            chain: Chain::from_u32(fields.u32()?),
        };
        Some(Self {
            head,
            newest: SegmentNo(fields.u64()?),
            arrived: fields.u64()?,
            waiting: fields.u64()?,
            drive: match fields.array()? {
                [DRIVE_OFF] => Drive::Off,
                [DRIVE_DRIVEN] => Drive::Driven {
                    worker: WorkerId::from_bytes(fields.array()?),
                },
                [DRIVE_PARKED] => Drive::Parked { wake_at: None },
                [DRIVE_WAKES] => Drive::Parked {
                    wake_at: Some(Timestamp::from_millis(fields.i64()?)),
                },
                [_] => return None,
            },
            summary: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_ledger::sample;

    #[test]
    fn a_row_comes_back_as_it_was_whatever_drives_the_run() {
        let run = sample::run(7);
        let worker = sample::worker(9);
        let at = Timestamp::from_millis(-3);
        for drive in [
            Drive::Off,
            Drive::Driven { worker },
            Drive::Parked { wake_at: None },
            Drive::Parked { wake_at: Some(at) },
        ] {
            for summary in [None, Some(sample::summary(7, RunState::Waiting))] {
                let row = RunRow {
                    newest: SegmentNo(4),
                    drive,
                    arrived: 3,
                    waiting: 1,
                    summary,
                    ..RunRow::unborn(run)
                };
                let value = row.encode(run);
                assert_eq!(RunRow::decode(run, &value), Ok(row));
                let other = sample::run(8);
                assert!(RunRow::decode(other, &value).is_err(), "whose row it is");
            }
        }
    }
}
