//! What is different about one request or look-up, said by whoever plans faults.

use mainstay_types::{AttemptNo, EffectKey, Epoch, Failure, Millis, RunId, Seq, Tenant};

/// A request, or a look-up, as it reached a double.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The dependency's name.
    pub dependency: String,
    /// The how-manieth request (or look-up) to it, from 1.
    pub nth: u64,
    /// Whether it only asks what became of an earlier one.
    pub is_look_up: bool,
    /// When, since the world began.
    pub at: Millis,
    /// For which run.
    pub run: RunId,
    /// Whose run.
    pub tenant: Tenant,
    /// The call's path.
    pub call: String,
    /// The how-manieth attempt; of a look-up: of the attempt it is about.
    pub attempt: AttemptNo,
    /// The rung: 0 for the primary.
    pub rung: u8,
    /// The effect's key; `None` for a read.
    pub key: Option<EffectKey>,
    /// The epoch of the run's owner.
    pub fence: Epoch,
    /// How long the attempt may take.
    pub time_left: Millis,
    /// How far the run's log had come on the disk.
    pub durable: Seq,
    /// When its sender hears the end of it, if that sender still lives; `None`: never.
    pub ends_at: Option<Millis>,
    /// Whether a fault befell it.
    pub twisted: bool,
}

/// What is different about a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Twist {
    /// So much later than usual, whatever happens then.
    pub delay: Millis,
    /// What happens.
    pub deed: Deed,
}

impl Twist {
    /// Nothing is different.
    pub const NONE: Self = Self {
        delay: Millis::ZERO,
        deed: Deed::Straight,
    };
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// What usually does.
    Straight,
    /// It never leaves: the connection is refused.
    Refuse,
    /// The receiver says this, and does nothing.
    Answer(Failure),
    /// It is lost on the way: nothing is done, no reply comes.
    LoseRequest,
    /// The connection breaks: nothing is done.
    BreakOff,
    /// It is done, and no reply comes.
    LoseReply,
    /// It is done, and the connection breaks.
    DoAndBreakOff,
    /// It is done so long after it was sent, though never beyond the receiver's bound, and the
    /// sender hears nothing.
    DoLate(Millis),
    /// It reaches the receiver twice.
    DoTwice,
    /// A part of it is done, and no reply comes.
    DoInPart,
    /// The reply is none that the dependency may give.
    WrongShape,
    /// The reply is there in part only, as the double was told to cut it.
    CutReply,
    /// The reply is one that was right some time ago, as the double was told.
    StaleReply,
    /// The adapter panics before anything leaves.
    Panic,
}

/// What a look-up sees.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// The truth.
    Truth,
    /// The receiver cannot tell.
    Blind,
    /// The receiver is still at it.
    InProgress,
    /// The question itself fails.
    Fail(Failure),
    /// No reply comes.
    Nothing,
}

/// Who says what is different; asked once per arrival, in the order of arrivals.
pub trait Twists: Send + Sync {
    /// About a request.
    fn request(&self, arrival: &Arrival) -> Twist;

    /// About a look-up, with what it takes longer than usual.
    fn look_up(&self, arrival: &Arrival) -> (Millis, Sight);
}

/// Nothing is ever different.
#[derive(Clone, Copy, Debug)]
pub struct NoTwists;

impl Twists for NoTwists {
    fn request(&self, _: &Arrival) -> Twist {
        Twist::NONE
    }

    fn look_up(&self, _: &Arrival) -> (Millis, Sight) {
        (Millis::ZERO, Sight::Truth)
    }
}
