//! One case: how its writes are resolved, what their receivers do, and where the process dies.
//!
//! A case is a line of text, so that one that fails can be run again alone; it must never depend on
//! anything that is not in it.

use std::fmt;
use std::str::FromStr;

use mainstay_dispatch::Resolution;
use mainstay_types::{Failure, FailureKind};

use crate::world::script::{maybe_sent, refused};
use crate::world::{Ask, Does, Moment};

/// The ways in which a write without an answer is resolved.
pub(crate) const RESOLUTIONS: [Resolution; 6] = [
    Resolution::ByKey,
    Resolution::ByStatus,
    Resolution::ByBusinessKey,
    Resolution::ByUpsert,
    Resolution::ByLedger,
    Resolution::ByHuman,
];

pub(crate) const MOMENTS: [Moment; 3] = [Moment::Before, Moment::Durable, Moment::Acknowledged];

/// What becomes of the first request of a write that arrives. What is sent after it is answered,
/// but for [`Fate::Away`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Done, then answered.
    Done,
    /// Done, and the answer is lost.
    DoneLost,
    /// Answered, and done some time after it.
    Later,
    /// Done some time after its connection broke.
    LaterLost,
    /// Half of it is done, and the receiver says that something went wrong.
    Partly,
    /// Half of it is done, and nothing comes back.
    PartlyLost,
    /// Refused.
    Never,
    /// It never arrives, and nobody is told.
    NeverLost,
    /// The same, whatever is sent.
    Away,
}

impl Fate {
    pub(crate) const ALL: [Self; 9] = [
        Self::Done,
        Self::DoneLost,
        Self::Later,
        Self::LaterLost,
        Self::Partly,
        Self::PartlyLost,
        Self::Never,
        Self::NeverLost,
        Self::Away,
    ];

    const fn letter(self) -> char {
        match self {
            Self::Done => 'D',
            Self::DoneLost => 'd',
            Self::Later => 'L',
            Self::LaterLost => 'l',
            Self::Partly => 'P',
            Self::PartlyLost => 'p',
            Self::Never => 'N',
            Self::NeverLost => 'n',
            Self::Away => 'a',
        }
    }

    /// What the receiver does with a request of the write.
    pub(crate) fn does(self, ask: &Ask) -> Does {
        let broken = || maybe_sent(FailureKind::TransientTransport);
        let is_first = ask.nth == 1;
        // Apart, so that what comes of each is an append of its own.
        let reply = match ask.call.as_str() {
            "aside" => REPLY_ASIDE_MS,
            _ => REPLY_MS,
        };
        match self {
            Self::Done => Does::Answer(reply),
            Self::Away => Does::Fail(reply, broken()),
            Self::DoneLost if is_first => Does::LandAndFail(0, reply, broken()),
            Self::Later if is_first => Does::LandLater(LATER_MS, reply),
            Self::LaterLost if is_first => Does::LandAndFail(LATER_MS, reply, broken()),
            Self::Partly if is_first => Does::LandInPart(reply, went_wrong()),
            Self::PartlyLost if is_first => Does::LandInPart(reply, broken()),
            Self::Never if is_first => Does::Fail(reply, refused(FailureKind::InvalidInput)),
            Self::NeverLost if is_first => Does::Fail(reply, broken()),
            Self::DoneLost
            | Self::Later
            | Self::LaterLost
            | Self::Partly
            | Self::PartlyLost
            | Self::Never
            | Self::NeverLost => Does::Answer(reply),
        }
    }

    /// Whether a machine brings it to an end that lets its run complete.
    pub(crate) const fn completes(self) -> bool {
        match self {
            Self::Done | Self::DoneLost | Self::Later | Self::LaterLost | Self::NeverLost => true,
            Self::Partly | Self::PartlyLost | Self::Never | Self::Away => false,
        }
    }
}

const REPLY_MS: u64 = 20;
const REPLY_ASIDE_MS: u64 = 32;
/// Inside of the two seconds that the receiver promises.
const LATER_MS: u64 = 1_500;

fn went_wrong() -> Failure {
    refused(FailureKind::EffectUnknown)
}

/// What becomes of the three writes: the first, the one after it, the one beside them.
pub(crate) type Fates = [Fate; 3];

/// Where the process dies: at the how-manieth append, and when.
pub(crate) type Crash = (usize, Moment);

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) resolution: Resolution,
    pub(crate) fates: Fates,
    pub(crate) crash: Option<Crash>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fates: String = self.fates.iter().map(|fate| fate.letter()).collect();
        write!(f, "{}:{fates}", self.resolution.as_str())?;
        match self.crash {
            Some((append, moment)) => write!(f, ":{append}:{}", word(moment)),
            None => Ok(()),
        }
    }
}

const fn word(moment: Moment) -> &'static str {
    match moment {
        Moment::Before => "before",
        Moment::Durable => "durable",
        Moment::Acknowledged => "acknowledged",
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("{text}: resolution:fates[:append:moment], as by_key:DdN:3:durable");
        let words: Vec<&str> = text.split(':').collect();
        let (resolution, fates, crash) = match words[..] {
            [resolution, fates] => (resolution, fates, None),
            [resolution, fates, append, moment] => (resolution, fates, Some((append, moment))),
            _ => return Err(form()),
        };
        let named = |wanted: &Resolution| wanted.as_str() == resolution;
        let fate = |letter: char| Fate::ALL.into_iter().find(|fate| fate.letter() == letter);
        let fates: Option<Vec<Fate>> = fates.chars().map(fate).collect();
        let crash = match crash {
            None => None,
            Some((append, moment)) => {
                let known = MOMENTS.into_iter().find(|known| word(*known) == moment);
                let append = append.parse().ok();
                Some(append.zip(known).ok_or_else(form)?)
            }
        };
        Ok(Self {
            resolution: RESOLUTIONS.into_iter().find(named).ok_or_else(form)?,
            fates: fates.and_then(|f| f.try_into().ok()).ok_or_else(form)?,
            crash,
        })
    }
}

/// The fates that are tried: each write has each while the others are as they should be, all have
/// the same, and each pair that hides most meets. With `whole`, all there are.
pub(crate) fn fates(whole: bool) -> Vec<Fates> {
    let mut found = Vec::new();
    for first in Fate::ALL {
        for second in Fate::ALL {
            for aside in Fate::ALL {
                let fates = [first, second, aside];
                if whole || is_telling(fates) {
                    found.push(fates);
                }
            }
        }
    }
    found
}

fn is_telling([first, second, aside]: Fates) -> bool {
    let all = [first, second, aside].into_iter();
    let well = all.filter(|fate| *fate == Fate::Done);
    let are_same = first == second && second == aside;
    // What is done later than it is said to be, beside what goes wrong meanwhile.
    let hides = first == Fate::LaterLost && second == Fate::Done && !aside.completes();
    2 <= well.count() || are_same || hides
}
