//! Orphans over the socket: what is asked, as HTTP, and how it is answered.

use mainstay_runtime::view::OrphanLine;
use mainstay_runtime::{Engine, OrphanFilter};
use mainstay_types::{AttemptNo, Millis, RunId, limits};
use serde::{Deserialize, Serialize};

use crate::answer::{Asker, Reply};
use crate::ask::{check_said, invalid};
use crate::failure::Failure;
use crate::query::Query;

/// Which orphans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrphansAsk {
    /// Only this run's.
    pub run: Option<RunId>,
    /// Only those of which nothing was heard in their time.
    pub overdue: bool,
    /// Only those of runs after this one, in the order of the listing.
    pub cursor: Option<RunId>,
}

/// What a person wants done about an orphan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanAsk {
    /// The run that gave it up.
    pub run: RunId,
    /// The path of the call.
    pub call: String,
    /// The attempt.
    pub attempt: AttemptNo,
    /// What.
    pub verb: OrphanVerb,
    /// Who asks, as they call themselves; who they are to the operating system is added. At most
    /// `limits::KEY_BYTES_MAX` bytes.
    pub by: String,
    /// Why. At most `limits::TEXT_BYTES_MAX` bytes.
    pub why: String,
}

/// What can be done about an orphan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrphanVerb {
    /// Take it over for so long.
    Adopt(Millis),
    /// Nobody waits for it.
    Close,
}

impl OrphanVerb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Adopt(_) => "adopt",
            Self::Close => "close",
        }
    }
}

/// The same, as a body has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    run_id: String,
    call: String,
    attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    for_ms: Option<u64>,
    by: String,
    why: String,
}

/// A page of orphans.
#[derive(Serialize)]
struct Orphans {
    orphans: Vec<OrphanLine>,
    /// What `cursor` takes for the next page; null when this is the last.
    next_cursor: Option<String>,
}

/// A wish that was taken: it is durable.
#[derive(Serialize)]
struct Taken {
    run_id: String,
    call: String,
    attempt: u32,
    /// `adopt` or `close`.
    wish: &'static str,
    by: String,
    why: String,
    /// Until when it is waited for; null for one that is closed.
    until: Option<String>,
}

impl OrphansAsk {
    pub(crate) fn query(self) -> Query {
        let mut query = Query::default();
        query.put("run", self.run);
        query.put("overdue", self.overdue.then_some(true));
        query.put("cursor", self.cursor);
        query
    }

    pub(crate) fn of(query: &mut Query) -> Result<Self, Failure> {
        Ok(Self {
            run: query.take("run", str::parse)?,
            overdue: query.take("overdue", str::parse)?.unwrap_or(false),
            cursor: query.take("cursor", str::parse)?,
        })
    }
}

impl OrphanAsk {
    pub(crate) fn target(&self) -> String {
        format!("/orphan/{}", self.verb.as_str())
    }

    pub(crate) fn body(&self) -> String {
        let wanted = Wanted {
            run_id: self.run.to_string(),
            call: self.call.clone(),
            attempt: self.attempt.get(),
            for_ms: match self.verb {
                OrphanVerb::Adopt(wait) => Some(wait.get()),
                OrphanVerb::Close => None,
            },
            by: self.by.clone(),
            why: self.why.clone(),
        };
        serde_json::to_string(&wanted).expect("texts and numbers are JSON")
    }

    pub(crate) fn of(verb: &str, body: &[u8]) -> Result<Self, Failure> {
        let wanted: Wanted = serde_json::from_slice(body).map_err(|error| {
            let hint = "the body is {\"run_id\": .., \"call\": .., \"attempt\": .., \"for_ms\": .., \
                        \"by\": \"who\", \"why\": \"why\"}";
            invalid(format!("the body cannot be read: {error}")).hint(hint)
        })?;
        let verb = match (verb, wanted.for_ms) {
            ("adopt", wait) => {
                OrphanVerb::Adopt(Millis::new(wait.unwrap_or(limits::ORPHAN_ADOPT_MS_DEFAULT)))
            }
            ("close", None) => OrphanVerb::Close,
            ("close", Some(_)) => return Err(invalid("`for_ms` is for adopt".to_owned())),
            (other, _) => {
                return Err(invalid(format!(
                    "an orphan takes adopt or close, not {other}"
                )));
            }
        };
        let run = wanted.run_id.parse::<RunId>();
        Ok(Self {
            run: run.map_err(|error| invalid(format!("`run_id`: {error}")))?,
            call: wanted.call,
            attempt: AttemptNo(wanted.attempt),
            verb,
            by: wanted.by,
            why: wanted.why,
        })
    }
}

pub(crate) async fn list(engine: &Engine, ask: OrphansAsk) -> Result<Reply, Failure> {
    let filter = OrphanFilter {
        run: ask.run,
        overdue: ask.overdue,
    };
    let page = engine.orphans(filter, ask.cursor).await?;
    Reply::of(&Orphans {
        orphans: page.rows.iter().map(OrphanLine::of).collect(),
        next_cursor: page.next.map(|run| run.to_string()),
    })
}

pub(crate) async fn want(engine: &Engine, ask: &OrphanAsk, who: Asker) -> Result<Reply, Failure> {
    check_said(&ask.by, &ask.why)?;
    let by = who.signs(&ask.by);
    let (which, said) = (
        (ask.call.as_str(), ask.attempt),
        (by.as_str(), ask.why.as_str()),
    );
    let until = match ask.verb {
        OrphanVerb::Adopt(wait) => {
            let row = engine.adopt_orphan(ask.run, which, wait, said).await?;
            Some(OrphanLine::of(&row).until)
        }
        OrphanVerb::Close => {
            engine.close_orphan(ask.run, which, said).await?;
            None
        }
    };
    Reply::of(&Taken {
        run_id: ask.run.to_string(),
        call: ask.call.clone(),
        attempt: ask.attempt.get(),
        wish: ask.verb.as_str(),
        by,
        why: ask.why.clone(),
        until,
    })
}
