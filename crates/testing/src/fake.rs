//! Scripted receivers: they answer, fail, hang or lose what they answered, and keep what they did.
//!
//! A fake is the outside world of a test: it outlives every crash of the engine. It must never
//! do anything that its script does not say, and never forget an effect.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mainstay_dispatch::{decode, encode};
use mainstay_types::{DependencyName, Failure, FailureKind, Millis, Payload, Sent};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::asked::{Applied, Asked};

/// A fake for the dependency of this name, whether the class reads or writes it.
///
/// # Panics
/// When the name breaks the rules of `DependencyName`.
#[track_caller]
#[must_use]
pub fn fake(dependency: &str) -> Fake {
    let name = DependencyName::new(dependency);
    let name = name.unwrap_or_else(|error| panic!("fake(\"{dependency}\"): {error}"));
    Fake(Arc::new(Shared {
        name,
        state: Mutex::new(State::new()),
    }))
}

/// A scripted receiver. Clones are the same one, so a test can keep a handle and change the script
/// while runs are open.
///
/// What is said about *the next* request or look-up waits in a queue, in the order it was said;
/// when the queue is empty the fake answers. Without an answer it fails PERMANENT_PROVIDER and says
/// that none was given. It takes no time unless told so. A repeated effect key changes its world
/// once.
#[derive(Clone)]
pub struct Fake(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) name: DependencyName,
    pub(crate) state: Mutex<State>,
}

/// Makes a reply's bytes from a request's.
pub(crate) type Answers = Arc<dyn Fn(&Payload) -> Result<Payload, Failure> + Send + Sync>;

/// What becomes of one request.
#[derive(Clone)]
pub(crate) enum Deed {
    /// It is done and answered.
    Answer(Answers),
    /// It is not done.
    Fail(Failure),
    /// It is done, and the failure comes back all the same.
    DoAndFail(Failure),
    /// It is done, and nothing comes back.
    LoseTheReply,
    /// It is not done, and nothing comes back.
    Hang,
    /// The adapter panics before anything is done.
    Panic,
}

/// What becomes of one look-up that is not answered with the truth.
#[derive(Clone, Copy)]
pub(crate) enum Finding {
    InProgress,
    Partly,
    CannotTell,
}

pub(crate) struct State {
    pub(crate) answers: Answers,
    pub(crate) takes: Millis,
    pub(crate) deeds: VecDeque<Deed>,
    pub(crate) findings: VecDeque<Finding>,
    pub(crate) requests: Vec<Asked>,
    pub(crate) look_ups: Vec<Asked>,
    pub(crate) applied: Vec<Applied>,
}

impl State {
    fn new() -> Self {
        Self {
            answers: Arc::new(|_| Err(without_an_answer())),
            takes: Millis::ZERO,
            deeds: VecDeque::new(),
            findings: VecDeque::new(),
            requests: Vec::new(),
            look_ups: Vec::new(),
            applied: Vec::new(),
        }
    }
}

/// The script.
impl Fake {
    /// Answers every request with this reply.
    ///
    /// # Panics
    /// When it has no canonical JSON.
    #[track_caller]
    pub fn answers(&self, reply: impl Serialize) -> Self {
        let answers = fixed(&reply);
        self.scripted(|state| state.answers = answers)
    }

    /// Answers every request with what `reply` makes of it. A request that is no `Q` fails as
    /// INVALID_INPUT. For a write it is asked once per effect.
    pub fn answers_with<Q: DeserializeOwned, R: Serialize>(
        &self,
        reply: impl Fn(Q) -> R + Send + Sync + 'static,
    ) -> Self {
        let answers: Answers = Arc::new(move |request| {
            let request = decode(request).map_err(unreadable)?;
            encode(&reply(request)).map_err(unreadable)
        });
        self.scripted(|state| state.answers = answers)
    }

    /// Answers the next request with this reply.
    ///
    /// # Panics
    /// When it has no canonical JSON.
    #[track_caller]
    pub fn answers_once(&self, reply: impl Serialize) -> Self {
        self.next(Deed::Answer(fixed(&reply)), 1)
    }

    /// Fails the next `times` requests: nothing is done. A failure of the transport, an unknown
    /// effect and a used-up time are "maybe sent", every other kind is the receiver's answer.
    pub fn fails(&self, kind: FailureKind, times: usize) -> Self {
        self.fails_as(Failure::new(kind, sent(kind)), times)
    }

    /// Fails the next `times` requests like this: nothing is done.
    pub fn fails_as(&self, failure: Failure, times: usize) -> Self {
        self.next(Deed::Fail(failure), times)
    }

    /// Does what the next request asks for, and fails it all the same, "maybe sent".
    pub fn does_it_and_fails(&self, kind: FailureKind) -> Self {
        self.next(Deed::DoAndFail(Failure::new(kind, Sent::MaybeSent)), 1)
    }

    /// Does what the next request asks for; its reply never comes.
    pub fn loses_the_reply(&self) -> Self {
        self.next(Deed::LoseTheReply, 1)
    }

    /// Does nothing about the next `times` requests, and no reply comes.
    pub fn hangs(&self, times: usize) -> Self {
        self.next(Deed::Hang, times)
    }

    /// The adapter panics at the next request, before anything is done.
    pub fn panics(&self) -> Self {
        self.next(Deed::Panic, 1)
    }

    /// Takes so long for every answer, failure and look-up from now on.
    pub fn takes(&self, time: Millis) -> Self {
        self.scripted(|state| state.takes = time)
    }

    /// Cannot say at the next `times` look-ups what became of the request.
    pub fn cannot_tell(&self, times: usize) -> Self {
        self.finds(Finding::CannotTell, times)
    }

    /// Is still at it at the next `times` look-ups.
    pub fn is_still_at_it(&self, times: usize) -> Self {
        self.finds(Finding::InProgress, times)
    }

    /// Has done only a part of it at the next look-up: a person has to look.
    pub fn did_only_a_part(&self) -> Self {
        self.finds(Finding::Partly, 1)
    }

    fn next(&self, deed: Deed, times: usize) -> Self {
        self.scripted(|state| state.deeds.extend(std::iter::repeat_n(deed, times)))
    }

    fn finds(&self, finding: Finding, times: usize) -> Self {
        self.scripted(|state| state.findings.extend(std::iter::repeat_n(finding, times)))
    }

    fn scripted(&self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.0.state.lock());
        self.clone()
    }
}

/// What happened.
impl Fake {
    /// The dependency's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Every request that arrived, in order, without look-ups.
    #[must_use]
    pub fn requests(&self) -> Vec<Asked> {
        self.0.state.lock().requests.clone()
    }

    /// Every look-up that arrived, in order.
    #[must_use]
    pub fn look_ups(&self) -> Vec<Asked> {
        self.0.state.lock().look_ups.clone()
    }

    /// How often it changed the world. Always 0 for what is read.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.0.state.lock().applied.len()
    }

    /// Every change it made to the world, in order.
    #[must_use]
    pub fn effects(&self) -> Vec<Applied> {
        self.0.state.lock().applied.clone()
    }

    /// What was scripted for next requests and look-ups and has not happened: a test whose script
    /// was not used up tests something else than it says.
    #[must_use]
    pub fn unused(&self) -> usize {
        let state = self.0.state.lock();
        state.deeds.len() + state.findings.len()
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state.lock();
        f.debug_struct("Fake")
            .field("name", &self.name())
            .field("requests", &state.requests.len())
            .field("look_ups", &state.look_ups.len())
            .field("applied", &state.applied.len())
            .finish_non_exhaustive()
    }
}

#[track_caller]
fn fixed(reply: &impl Serialize) -> Answers {
    let bytes = encode(reply).unwrap_or_else(|error| panic!("the fake's reply: {error}"));
    Arc::new(move |_| Ok(bytes.clone()))
}

fn unreadable(error: impl fmt::Display) -> Failure {
    Failure::new(FailureKind::InvalidInput, Sent::NotSent)
        .message(format!("the fake's answers_with: {error}"))
}

fn without_an_answer() -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::Answered)
        .message("the fake was given no answer: say .answers(..)")
}

/// What is known of the sending after a failure of this kind.
const fn sent(kind: FailureKind) -> Sent {
    match kind {
        FailureKind::InvalidInput
        | FailureKind::Unauthorized
        | FailureKind::RateLimited
        | FailureKind::Overloaded
        | FailureKind::PermanentProvider
        | FailureKind::ResultInvalid
        | FailureKind::Canceled => Sent::Answered,
        FailureKind::TransientTransport
        | FailureKind::EffectUnknown
        | FailureKind::DeadlineExhausted => Sent::MaybeSent,
    }
}
