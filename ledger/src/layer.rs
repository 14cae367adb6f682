//! A ledger on top of another: for what watches, delays or spoils some questions and has nothing to
//! say to the others.

use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    AlertSeq, BoxFuture, ClassName, ClassVersion, Digest, EffectKey, MessageId, RunId, Seq,
    StartKey, Tenant, Timestamp, WorkerId,
};

use crate::{
    CommitRequest, Driving, Enqueued, InboxCommand, InboxMessage, Knocks, Ledger, LedgerError,
    Loaded, Mark, Page, Recorded, RunFilter, Snapshot, StoredAlert, StoredClass, Verdict,
};

/// The methods once, for the trait that passes them on and for the ledger that it makes: they
/// cannot come apart, and a new one of [`Ledger`] that is missing here does not build.
macro_rules! passed_on {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        /// Whatever implements this is a [`Ledger`]: what it does not answer itself goes to the one
        /// below, as it is.
        pub trait Layer: Send + Sync {
            /// The ledger that this one stands on.
            fn below(&self) -> &dyn Ledger;

            $(
                #[doc = concat!("What is said to [`Ledger::", stringify!($name), "`].")]
                fn $name(&self, $($arg: $type),*) $(-> $out)? {
                    self.below().$name($($arg),*)
                }
            )*
        }

        impl<L: Layer> Ledger for L {
            $(
                fn $name(&self, $($arg: $type),*) $(-> $out)? {
                    Layer::$name(self, $($arg),*)
                }
            )*
        }
    };
}

type Answer<'a, T> = BoxFuture<'a, Result<T, LedgerError>>;

passed_on! {
    fn commit(requests: Vec<CommitRequest>) -> Answer<'_, Vec<Verdict>>;
    fn enqueue(run: RunId, message: MessageId, command: InboxCommand) -> Answer<'_, Enqueued>;
    fn load(run: RunId) -> Answer<'_, Option<Loaded>>;
    fn history(run: RunId, after: Seq) -> Answer<'_, Option<Page<Recorded>>>;
    fn keep(run: RunId, snapshot: Snapshot);
    fn driven(cursor: Option<RunId>) -> Answer<'_, Page<Driving>>;
    fn driving(run: RunId) -> Answer<'_, Option<Driving>>;
    fn inbox(run: RunId) -> Answer<'_, Vec<InboxMessage>>;
    fn wakes(cursor: Option<(Timestamp, RunId)>) -> Answer<'_, Page<(Timestamp, RunId)>>;
    fn inboxes(cursor: Option<RunId>) -> Answer<'_, Page<RunId>>;
    fn lease(worker: WorkerId, until: Option<Timestamp>) -> Answer<'_, ()>;
    fn summary(run: RunId) -> Answer<'_, Option<Summary>>;
    fn runs(filter: RunFilter, cursor: Option<RunId>) -> Answer<'_, Page<Summary>>;
    fn alerts(after: AlertSeq) -> Answer<'_, Page<StoredAlert>>;
    fn effect(key: EffectKey) -> Answer<'_, Option<(EffectEntry, u64)>>;
    fn start_key(tenant: Tenant, key: StartKey) -> Answer<'_, Option<(RunId, Digest)>>;
    fn class(name: ClassName, version: ClassVersion) -> Answer<'_, Option<StoredClass>>;
    fn classes() -> Answer<'_, Vec<StoredClass>>;
    fn last_time() -> Answer<'_, Option<Timestamp>>;
    fn knocks() -> Knocks;
    fn mark(run: RunId) -> Mark;
    fn aborted() -> Answer<'_, Vec<(RunId, u32)>>;
    fn appends() -> u64;
}
