//! What an engine answers: one call of it per question, and one JSON shape per view.
//!
//! A served engine and one that the command line opened over a free store answer through here, so
//! that they say the same. It decides nothing, and it shows payloads only where they are asked for.

use std::time::Duration;

use mainstay_ledger::{RunFilter, StoredClass};
use mainstay_runtime::view::{AlertRow, EffectLine, StatusView, SummaryRow, text};
use mainstay_runtime::{EffectFilter, Engine};
use mainstay_types::{AlertSeq, Code};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::ask::{
    AlertsAsk, Ask, ClassAsk, CommandAsk, CommandVerb, EffectAsk, EffectsAsk, Form, RunAsk,
    RunsAsk, SettleAsk, Verdict, WhyAsk, invalid,
};
use crate::failure::Failure;
use crate::orphans;
use crate::protocol::Version;
use crate::wire::More;

/// Who asks, as the operating system says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Their user number.
    pub uid: u32,
}

impl Asker {
    /// This process's own user.
    #[must_use]
    pub fn own() -> Self {
        Self {
            uid: crate::place::own_uid(),
        }
    }

    /// How a command records who asked: `anna (uid:1000)`.
    #[must_use]
    pub fn signs(self, name: &str) -> String {
        format!("{} (uid:{})", name.trim(), self.uid)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether it is one JSON value; text for people otherwise.
    pub is_json: bool,
    /// The whole of it.
    pub body: String,
}

impl Reply {
    pub(crate) const fn json(body: String) -> Self {
        Self {
            is_json: true,
            body,
        }
    }

    pub(crate) fn of(value: &impl Serialize) -> Result<Self, Failure> {
        match serde_json::to_string(value) {
            Ok(body) => Ok(Self::json(body)),
            Err(error) => {
                let message = format!("the answer is no JSON: {error}");
                Err(Failure::new(Code::SocketFailed, message).hint("report this"))
            }
        }
    }
}

/// A page of runs.
#[derive(Serialize)]
struct Listing {
    runs: Vec<SummaryRow>,
    /// What `cursor` takes for the next page; null when this is the last.
    next_cursor: Option<String>,
}

/// A command that was taken: it is durable.
#[derive(Serialize)]
struct Taken {
    run_id: String,
    command: &'static str,
    by: String,
    why: String,
    /// The lap that a `continue` opened.
    lap: Option<u32>,
    /// What the lap may spend after a `raise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<More>,
}

/// What was said of an effect, and is durable.
#[derive(Serialize)]
struct Settled {
    key: String,
    ruling: &'static str,
    /// How the effect stands by that.
    state: &'static str,
    /// The key of what undoes it, when that was asked for.
    undone_by: Option<String>,
    by: String,
    why: String,
}

/// An engine and the process it is in.
#[derive(Serialize)]
struct Status {
    mainstay: String,
    pid: u32,
    #[serde(flatten)]
    status: StatusView,
}

/// A page of alerts.
#[derive(Serialize)]
struct Alerts {
    alerts: Vec<AlertRow>,
    /// What `after` takes for the next page, also when this is the last for now.
    next_after: u64,
    /// Whether there are more already.
    more: bool,
}

/// A page of effects.
#[derive(Serialize)]
struct Effects {
    effects: Vec<EffectLine>,
    /// What `cursor` takes for the next page; null when this is the last.
    next_cursor: Option<String>,
}

/// The stored classes by name.
#[derive(Serialize)]
struct Classes {
    classes: Vec<ClassName>,
}

#[derive(Serialize)]
struct ClassName {
    name: String,
    version: u32,
    fingerprint: String,
}

/// A stored class.
#[derive(Serialize)]
struct Class {
    name: String,
    version: u32,
    fingerprint: String,
    /// The stored form.
    class: Box<RawValue>,
}

/// Answers `ask`, asked by `who`.
///
/// Not cancel safe: a command may have been taken. Failures of the engine, and INVALID_INPUT.
pub async fn answer(engine: &Engine, ask: &Ask, who: Asker) -> Result<Reply, Failure> {
    match ask {
        Ask::Status => status(engine),
        Ask::Runs(ask) => runs(engine, ask).await,
        Ask::Run(ask) => run(engine, *ask).await,
        Ask::Why(ask) => why(engine, *ask).await,
        Ask::Command(ask) => command(engine, ask, who).await,
        Ask::Alerts(ask) => alerts(engine, *ask).await,
        Ask::Effects(ask) => effects(engine, *ask).await,
        Ask::Effect(ask) => effect(engine, ask).await,
        Ask::Settle(ask) => settle(engine, ask, who).await,
        Ask::Orphans(ask) => orphans::list(engine, *ask).await,
        Ask::Orphan(ask) => orphans::want(engine, ask, who).await,
        Ask::Classes => classes(engine).await,
        Ask::Class(ask) => class(engine, ask).await,
    }
}

async fn runs(engine: &Engine, ask: &RunsAsk) -> Result<Reply, Failure> {
    let filter = RunFilter {
        tenant: ask.tenant.clone(),
        class: ask.class.clone(),
        state: ask.state,
        outcome: ask.outcome,
        in_doubt: ask.in_doubt,
    };
    let page = engine.runs(filter, ask.cursor).await?;
    let more = page.more || ask.limit < page.rows.len();
    let rows = page.rows.iter().take(ask.limit);
    let runs: Vec<SummaryRow> = rows.map(SummaryRow::of).collect();
    let next_cursor = runs.last().filter(|_| more).map(|row| row.run_id.clone());
    Reply::of(&Listing { runs, next_cursor })
}

async fn run(engine: &Engine, ask: RunAsk) -> Result<Reply, Failure> {
    let mut view = engine.view(ask.run).await?;
    if !ask.payloads {
        view = view.without_payloads();
    }
    match ask.form {
        Form::Json => Reply::of(&view),
        Form::Text => Ok(Reply {
            is_json: false,
            body: text::render(&view),
        }),
    }
}

async fn why(engine: &Engine, ask: WhyAsk) -> Result<Reply, Failure> {
    let view = engine.why(ask.run).await?;
    match ask.form {
        Form::Json => Reply::of(&view),
        Form::Text => Ok(Reply {
            is_json: false,
            body: text::render_why(&view),
        }),
    }
}

async fn command(engine: &Engine, ask: &CommandAsk, who: Asker) -> Result<Reply, Failure> {
    ask.check()?;
    let (run, why) = (ask.run, ask.why.as_str());
    let by = who.signs(&ask.by);
    let mut budget = None;
    let lap = match ask.verb {
        CommandVerb::Cancel => {
            engine.cancel(run, &by, why).await?;
            None
        }
        CommandVerb::Terminate => {
            engine.terminate(run, &by, why).await?;
            None
        }
        CommandVerb::Continue => Some(engine.continue_run(run, &by, why).await?.get()),
        CommandVerb::Raise => {
            let more = ask.more.unwrap_or(More::default().budget());
            budget = Some(More::of(engine.raise(run, more, (&by, why)).await?));
            None
        }
    };
    Reply::of(&Taken {
        run_id: run.to_string(),
        command: ask.verb.as_str(),
        by,
        why: ask.why.clone(),
        lap,
        budget,
    })
}

fn status(engine: &Engine) -> Result<Reply, Failure> {
    let Version { mainstay, pid, .. } = Version::own();
    Reply::of(&Status {
        mainstay,
        pid,
        status: StatusView::of(&engine.status()),
    })
}

async fn alerts(engine: &Engine, ask: AlertsAsk) -> Result<Reply, Failure> {
    let after = AlertSeq(ask.after);
    let mut page = engine.alerts(after).await?;
    if page.rows.is_empty() && 0 < ask.wait_ms {
        let wait = Duration::from_millis(ask.wait_ms);
        if let Ok(come) = tokio::time::timeout(wait, engine.alerted(after)).await {
            page = come?;
        }
    }
    let alerts: Vec<AlertRow> = page.rows.iter().take(ask.limit).map(AlertRow::of).collect();
    Reply::of(&Alerts {
        next_after: alerts.last().map_or(ask.after, |alert| alert.seq),
        more: page.more || alerts.len() < page.rows.len(),
        alerts,
    })
}

async fn effects(engine: &Engine, ask: EffectsAsk) -> Result<Reply, Failure> {
    let filter = EffectFilter {
        run: ask.run,
        in_doubt: ask.in_doubt,
    };
    let page = engine.effects(filter, ask.cursor).await?;
    Reply::of(&Effects {
        effects: page.rows.iter().map(EffectLine::of).collect(),
        next_cursor: page.next.map(|run| run.to_string()),
    })
}

async fn effect(engine: &Engine, ask: &EffectAsk) -> Result<Reply, Failure> {
    let mut view = engine.effect(&ask.key).await?;
    if !ask.payloads {
        view = view.without_payloads();
    }
    match ask.form {
        Form::Json => Reply::of(&view),
        Form::Text => Ok(Reply {
            is_json: false,
            body: text::render_effect(&view),
        }),
    }
}

async fn settle(engine: &Engine, ask: &SettleAsk, who: Asker) -> Result<Reply, Failure> {
    ask.check()?;
    let by = who.signs(&ask.by);
    let (key, who) = (&ask.key, (by.as_str(), ask.why.as_str()));
    let status = match ask.verdict {
        Verdict::Settled(ruling) => {
            let said = (ruling, ask.result.clone());
            engine.settle_effect(key, said, who).await?
        }
        Verdict::Compensate if ask.result.is_some() => {
            return Err(invalid("only what was applied has a result".to_owned()));
        }
        Verdict::Compensate => engine.compensate_effect(key, who).await?,
    };
    // Somebody may have said it before: then it is their word that stands.
    let stands = engine.effect(key).await?;
    let recorded = match ask.verdict {
        Verdict::Settled(_) => stands.call.effect.and_then(|effect| effect.settled_by),
        Verdict::Compensate => None,
    };
    let (by, why) = recorded.map_or_else(|| (by, ask.why.clone()), |said| (said.by, said.why));
    Reply::of(&Settled {
        key: ask.key.to_string(),
        ruling: ask.verdict.as_str(),
        state: status.as_str(),
        undone_by: stands.undone_by.map(|other| other.key),
        by,
        why,
    })
}

async fn classes(engine: &Engine) -> Result<Reply, Failure> {
    let stored = engine.classes().await?;
    let name = |stored: &StoredClass| ClassName {
        name: stored.class.name.to_string(),
        version: stored.class.version.0,
        fingerprint: stored.fingerprint.to_string(),
    };
    Reply::of(&Classes {
        classes: stored.iter().map(name).collect(),
    })
}

async fn class(engine: &Engine, ask: &ClassAsk) -> Result<Reply, Failure> {
    let stored = engine.classes().await?;
    let fits = |stored: &&StoredClass| {
        stored.class.name == ask.name
            && ask
                .version
                .is_none_or(|version| stored.class.version.0 == version)
    };
    let newest = stored
        .iter()
        .filter(fits)
        .max_by_key(|stored| stored.class.version);
    let Some(found) = newest else {
        let version = ask
            .version
            .map_or_else(String::new, |version| format!(" v{version}"));
        let message = format!("no such task class [{}{version}]", ask.name);
        return Err(Failure::new(Code::ClassUnknown, message));
    };
    let form = found.class.to_json().to_canonical();
    let form = RawValue::from_string(form).expect("canonical JSON is JSON");
    Reply::of(&Class {
        name: found.class.name.to_string(),
        version: found.class.version.0,
        fingerprint: found.fingerprint.to_string(),
        class: form,
    })
}
