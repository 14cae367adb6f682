//! Dependencies in this process: retrieval, its snapshot, the local stand-in, the summariser.
//!
//! Each answers or says what failed. None retries, waits or reads a clock of its own.

use std::path::Path;
use std::sync::Arc;

use mainstay::dispatch::{Answer, AttemptContext, Promise, Read};
use mainstay::types::Clock;
use mainstay::{CostUnits, Failure, FailureKind, Millis, Sent};

use crate::minutes::Meeting;
use crate::policy::{MaxAge, PolicyEvidence, PolicyIndex, PolicyQuery, Snapshot, SnapshotError};
use crate::summarise::{Draft, Extras, local_summary, summarise};
use crate::wire::{DraftRequest, SpecialistReply, SpecialistRequest};

/// How old an approved snapshot may be. Source: mission A26.
pub const SNAPSHOT_AGE_MAX: Millis = Millis::from_mins(20);

fn wall_ms(clock: &dyn Clock) -> u64 {
    u64::try_from(clock.wall().as_millis()).unwrap_or(0)
}

/// Searches the policies, and keeps what it found as the approved snapshot.
pub struct PolicySearch {
    index: PolicyIndex,
    snapshot: Snapshot,
    clock: Arc<dyn Clock>,
}

impl PolicySearch {
    /// Retrieval over `index` that keeps its snapshot at `snapshot`.
    #[must_use]
    pub fn new(index: PolicyIndex, snapshot: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            index,
            snapshot: Snapshot::at(snapshot),
            clock,
        }
    }
}

impl Read for PolicySearch {
    type Request = PolicyQuery;
    type Reply = PolicyEvidence;

    fn name(&self) -> &str {
        "policy_search"
    }

    async fn call(
        &self,
        query: PolicyQuery,
        _: &AttemptContext,
    ) -> Result<Answer<PolicyEvidence>, Failure> {
        let now_ms = wall_ms(&*self.clock);
        let found = self.index.search(&query, now_ms).map_err(|error| {
            Failure::new(FailureKind::PermanentProvider, Sent::Answered)
                .provider_code("POLICY_SEARCH")
                .message(error.to_string())
        })?;
        // The evidence stands without its snapshot; the next run just has nothing to fall back on.
        if let Err(error) = self.snapshot.write(&found, &query, now_ms) {
            tracing::warn!(%error, "the policy snapshot was not written");
        }
        Ok(found.into())
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .operation("retrieve_policy_evidence")
            .timeout(Millis::new(2_500))
            .estimate(Millis::new(400))
            .cost(CostUnits::units(1))
    }
}

/// The approved snapshot of an earlier retrieval.
pub struct PolicySnapshot {
    snapshot: Snapshot,
    clock: Arc<dyn Clock>,
}

impl PolicySnapshot {
    /// The snapshot at `path`.
    #[must_use]
    pub fn new(path: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            snapshot: Snapshot::at(path),
            clock,
        }
    }
}

impl Read for PolicySnapshot {
    type Request = PolicyQuery;
    type Reply = PolicyEvidence;

    fn name(&self) -> &str {
        "policy_snapshot"
    }

    async fn call(
        &self,
        query: PolicyQuery,
        _: &AttemptContext,
    ) -> Result<Answer<PolicyEvidence>, Failure> {
        let age = MaxAge {
            max_age_ms: SNAPSHOT_AGE_MAX.get(),
            now_ms: wall_ms(&*self.clock),
        };
        let found = self.snapshot.read(&query, age).map_err(|error| {
            let code = match &error {
                SnapshotError::Missing => "SNAPSHOT_MISSING",
                SnapshotError::TooOld { .. } => "SNAPSHOT_TOO_OLD",
                SnapshotError::FromTheFuture { .. }
                | SnapshotError::Damaged { .. }
                | SnapshotError::NotLive
                | SnapshotError::File { .. } => "SNAPSHOT_UNUSABLE",
            };
            Failure::new(FailureKind::PermanentProvider, Sent::Answered)
                .provider_code(code)
                .message(error.to_string())
        })?;
        Ok(found.into())
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .operation("read_policy_snapshot")
            .timeout(Millis::new(500))
            .estimate(Millis::new(50))
            .min_useful(Millis::new(20))
            .cost(CostUnits::milli(10))
    }
}

/// Stands in for the specialist when it is away.
pub struct LocalSpecialist;

impl Read for LocalSpecialist {
    type Request = SpecialistRequest;
    type Reply = SpecialistReply;

    fn name(&self) -> &str {
        "local_summary"
    }

    async fn call(
        &self,
        request: SpecialistRequest,
        _: &AttemptContext,
    ) -> Result<Answer<SpecialistReply>, Failure> {
        let meeting = Meeting {
            name: "minutes".to_owned(),
            text: request.minutes,
        };
        Ok(SpecialistReply::from_summary(&local_summary(&meeting.minutes())).into())
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .operation("summarise_locally")
            .timeout(Millis::new(1_500))
            .estimate(Millis::new(200))
            .cost(CostUnits::milli(100))
    }
}

/// The dependency that drafts: [`Summariser`], or a model in its place.
pub const SUMMARISER: &str = "summariser";

/// The extractive summariser: pulls decisions and actions out of the text.
pub struct Summariser;

impl Read for Summariser {
    type Request = DraftRequest;
    type Reply = Draft;

    fn name(&self) -> &str {
        SUMMARISER
    }

    async fn call(
        &self,
        request: DraftRequest,
        _: &AttemptContext,
    ) -> Result<Answer<Draft>, Failure> {
        let specialist = request.specialist.as_ref().map(SpecialistReply::to_summary);
        let extras = Extras {
            related: &request.related,
            specialist: specialist.as_ref(),
        };
        Ok(summarise(&request.meeting.minutes(), extras).into())
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .operation("draft")
            // Far beyond its own need: a model that stands in for it takes as long as it talks.
            .timeout(Millis::new(6_000))
            .estimate(Millis::new(800))
            .cost(CostUnits::units(4))
    }
}
