//! Questions as HTTP: one table from question to request, and one back.
//!
//! What passed here is valid inside. A name in a query that no question has is refused: a filter
//! that is misspelt must not show everything.

use hyper::{Method, Uri};
use mainstay_runtime::Budget;
use mainstay_runtime::view::{OutcomeKind, RunState};
use mainstay_types::{ClassName, CostUnits, EffectKey, Payload, RunId, Tenant, Tokens, limits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ask::{
    AlertsAsk, Ask, ClassAsk, CommandAsk, CommandVerb, EffectAsk, EffectsAsk, Form, OrphanAsk,
    OrphansAsk, ROWS_DEFAULT, RunAsk, RunsAsk, SettleAsk, WhyAsk, invalid, outcome, rows, state,
    verdict,
};
use crate::failure::Failure;
use crate::query::Query;

/// Who and why, as a command's body has them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    by: String,
    why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    more: Option<More>,
}

/// A lap's limits, or by how much they grow.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct More {
    retry_tokens: u32,
    concurrency_tokens: u32,
    cost_micros: u64,
}

impl More {
    pub(crate) const fn of(budget: Budget) -> Self {
        Self {
            retry_tokens: budget.retry_tokens.get(),
            concurrency_tokens: budget.concurrency_tokens.get(),
            cost_micros: budget.cost_units.as_micros(),
        }
    }

    pub(crate) const fn budget(self) -> Budget {
        Budget {
            retry_tokens: Tokens::new(self.retry_tokens),
            concurrency_tokens: Tokens::new(self.concurrency_tokens),
            cost_units: CostUnits::micros(self.cost_micros),
        }
    }
}

/// What a person says of an effect, as a body has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settling {
    key: String,
    ruling: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    by: String,
    why: String,
}

/// A question as HTTP.
pub(crate) struct Sent {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) body: String,
}

impl Ask {
    pub(crate) fn to_http(&self) -> Sent {
        let target = match self {
            Self::Status => "/status".to_owned(),
            Self::Runs(ask) => ask.query().after("/runs"),
            Self::Run(ask) => ask.query().after(&format!("/runs/{}", ask.run)),
            Self::Why(ask) => ask.query().after(&format!("/runs/{}/why", ask.run)),
            Self::Command(ask) => format!("/runs/{}/{}", ask.run, ask.verb.as_str()),
            Self::Alerts(ask) => ask.query().after("/alerts"),
            Self::Effects(ask) => ask.query().after("/effects"),
            Self::Effect(ask) => ask.query().after("/effect"),
            Self::Settle(_) => "/effect/settle".to_owned(),
            Self::Orphans(ask) => ask.query().after("/orphans"),
            Self::Orphan(ask) => ask.target(),
            Self::Classes => "/classes".to_owned(),
            Self::Class(ask) => ask.query().after(&format!("/classes/{}", ask.name)),
        };
        let (method, body) = match self {
            Self::Command(ask) => (Method::POST, ask.body()),
            Self::Settle(ask) => (Method::POST, ask.body()),
            Self::Orphan(ask) => (Method::POST, ask.body()),
            Self::Status
            | Self::Runs(_)
            | Self::Run(_)
            | Self::Why(_)
            | Self::Alerts(_)
            | Self::Effects(_)
            | Self::Effect(_)
            | Self::Orphans(_)
            | Self::Classes
            | Self::Class(_) => (Method::GET, String::new()),
        };
        Sent {
            method,
            target,
            body,
        }
    }

    /// The question of a request. `INVALID_INPUT` names what cannot be understood.
    pub(crate) fn of_http(method: &Method, uri: &Uri, body: &[u8]) -> Result<Self, Failure> {
        let parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
        let mut query = Query::of(uri.query().unwrap_or_default())?;
        let ask = match (method.as_str(), parts.as_slice()) {
            ("GET", ["status"]) => Self::Status,
            ("GET", ["runs"]) => Self::Runs(RunsAsk::of(&mut query)?),
            ("GET", ["runs", id]) => Self::Run(RunAsk::of(run_id(id)?, &mut query)?),
            ("GET", ["runs", id, "why"]) => Self::Why(WhyAsk::of(run_id(id)?, &mut query)?),
            ("POST", ["runs", id, verb]) => Self::Command(CommandAsk::of(run_id(id)?, verb, body)?),
            ("GET", ["alerts"]) => Self::Alerts(AlertsAsk::of(&mut query)?),
            ("GET", ["effects"]) => Self::Effects(EffectsAsk::of(&mut query)?),
            ("GET", ["effect"]) => Self::Effect(EffectAsk::of(&mut query)?),
            ("POST", ["effect", "settle"]) => Self::Settle(SettleAsk::of(body)?),
            ("GET", ["orphans"]) => Self::Orphans(OrphansAsk::of(&mut query)?),
            ("POST", ["orphan", verb]) => Self::Orphan(OrphanAsk::of(verb, body)?),
            ("GET", ["classes"]) => Self::Classes,
            ("GET", ["classes", name]) => Self::Class(ClassAsk::of(name, &mut query)?),
            (method, _) => {
                let message = format!("nothing is asked by {method} {}", uri.path());
                return Err(invalid(message).hint(PATHS));
            }
        };
        query.end()?;
        Ok(ask)
    }
}

const PATHS: &str = "GET /version /status /runs /runs/ID /runs/ID/why /alerts /effects /effect?key=KEY /orphans \
                     /classes /classes/NAME, POST /runs/ID/cancel /runs/ID/terminate /runs/ID/continue \
                     /runs/ID/raise /effect/settle /orphan/adopt /orphan/close";

impl RunsAsk {
    fn query(&self) -> Query {
        let mut query = Query::default();
        query.put("tenant", self.tenant.as_ref());
        query.put("class", self.class.as_ref());
        query.put("state", self.state.map(RunState::as_str));
        query.put("outcome", self.outcome.map(OutcomeKind::as_str));
        query.put("in_doubt", self.in_doubt);
        query.put("cursor", self.cursor);
        query.put("limit", Some(self.limit));
        query
    }

    fn of(query: &mut Query) -> Result<Self, Failure> {
        Ok(Self {
            tenant: query.take("tenant", |text| Tenant::new(text))?,
            class: query.take("class", |text| ClassName::new(text))?,
            state: query.take("state", state)?,
            outcome: query.take("outcome", outcome)?,
            in_doubt: query.take("in_doubt", str::parse)?,
            cursor: query.take("cursor", str::parse)?,
            limit: query.take("limit", rows)?.unwrap_or(ROWS_DEFAULT),
        })
    }
}

impl RunAsk {
    fn query(self) -> Query {
        let mut query = Query::default();
        query.put("payloads", self.payloads.then_some(true));
        self.form.put(&mut query);
        query
    }

    fn of(run: RunId, query: &mut Query) -> Result<Self, Failure> {
        Ok(Self {
            run,
            payloads: query.take("payloads", str::parse)?.unwrap_or(false),
            form: Form::of(query)?,
        })
    }
}

impl WhyAsk {
    fn query(self) -> Query {
        let mut query = Query::default();
        self.form.put(&mut query);
        query
    }

    fn of(run: RunId, query: &mut Query) -> Result<Self, Failure> {
        let form = Form::of(query)?;
        Ok(Self { run, form })
    }
}

impl Form {
    fn put(self, query: &mut Query) {
        query.put("form", (self == Self::Text).then_some("text"));
    }

    fn of(query: &mut Query) -> Result<Self, Failure> {
        let form = query.take("form", |text| match text {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("a form is one of json, text"),
        })?;
        Ok(form.unwrap_or(Self::Json))
    }
}

impl CommandAsk {
    fn body(&self) -> String {
        let told = Told {
            by: self.by.clone(),
            why: self.why.clone(),
            more: self.more.map(More::of),
        };
        serde_json::to_string(&told).expect("texts and numbers are JSON")
    }

    fn of(run: RunId, verb: &str, body: &[u8]) -> Result<Self, Failure> {
        let verb = CommandVerb::ALL
            .into_iter()
            .find(|known| known.as_str() == verb)
            .ok_or_else(|| invalid(format!("no such command [{verb}]")).hint(PATHS))?;
        let told: Told = serde_json::from_slice(body).map_err(|error| {
            let hint = "the body is {\"by\": \"who\", \"why\": \"why\"}";
            invalid(format!("the body cannot be read: {error}")).hint(hint)
        })?;
        Ok(Self {
            run,
            verb,
            by: told.by,
            why: told.why,
            more: told.more.map(More::budget),
        })
    }
}

impl EffectAsk {
    fn query(&self) -> Query {
        let mut query = Query::default();
        query.put("key", Some(&self.key));
        query.put("payloads", self.payloads.then_some(true));
        self.form.put(&mut query);
        query
    }

    fn of(query: &mut Query) -> Result<Self, Failure> {
        let key = query.take("key", str::parse::<EffectKey>)?;
        let payloads = query.take("payloads", str::parse)?.unwrap_or(false);
        Ok(Self {
            key: key.ok_or_else(|| invalid("`key` says which effect".to_owned()))?,
            payloads,
            form: Form::of(query)?,
        })
    }
}

impl SettleAsk {
    fn body(&self) -> String {
        // What is no JSON is told by who reads it, as the text that it is.
        let raw = |result: &Payload| {
            let text = String::from_utf8_lossy(result.as_bytes()).into_owned();
            RawValue::from_string(text).ok()
        };
        let settling = Settling {
            key: self.key.to_string(),
            ruling: self.verdict.as_str().to_owned(),
            result: self.result.as_ref().and_then(raw),
            by: self.by.clone(),
            why: self.why.clone(),
        };
        serde_json::to_string(&settling).expect("texts and JSON are JSON")
    }

    fn of(body: &[u8]) -> Result<Self, Failure> {
        let told: Settling = serde_json::from_slice(body).map_err(|error| {
            let hint = "the body is {\"key\": .., \"ruling\": \"applied\", \"not_applied\" or \"compensate\", \
                        \"result\": .., \"by\": \"who\", \"why\": \"why\"}";
            invalid(format!("the body cannot be read: {error}")).hint(hint)
        })?;
        let key = told.key.parse::<EffectKey>();
        Ok(Self {
            key: key.map_err(|error| invalid(format!("`key`: {error}")))?,
            verdict: verdict(&told.ruling)
                .map_err(|error| invalid(format!("`ruling`: {error}")))?,
            result: told.result.map(|result| Payload::from(result.get())),
            by: told.by,
            why: told.why,
        })
    }
}

impl AlertsAsk {
    fn query(self) -> Query {
        let mut query = Query::default();
        query.put("after", Some(self.after));
        query.put("limit", Some(self.limit));
        query.put("wait_ms", (self.wait_ms != 0).then_some(self.wait_ms));
        query
    }

    fn of(query: &mut Query) -> Result<Self, Failure> {
        let wait_ms: u64 = query.take("wait_ms", str::parse)?.unwrap_or(0);
        Ok(Self {
            after: query.take("after", str::parse)?.unwrap_or(0),
            limit: query.take("limit", rows)?.unwrap_or(ROWS_DEFAULT),
            wait_ms: wait_ms.min(limits::SOCKET_ALERT_WAIT_MS_MAX),
        })
    }
}

impl EffectsAsk {
    fn query(self) -> Query {
        let mut query = Query::default();
        query.put("run", self.run);
        query.put("in_doubt", self.in_doubt.then_some(true));
        query.put("cursor", self.cursor);
        query
    }

    fn of(query: &mut Query) -> Result<Self, Failure> {
        Ok(Self {
            run: query.take("run", str::parse)?,
            in_doubt: query.take("in_doubt", str::parse)?.unwrap_or(false),
            cursor: query.take("cursor", str::parse)?,
        })
    }
}

impl ClassAsk {
    fn query(&self) -> Query {
        let mut query = Query::default();
        query.put("version", self.version);
        query
    }

    fn of(name: &str, query: &mut Query) -> Result<Self, Failure> {
        let name = ClassName::new(name).map_err(|error| invalid(error.to_string()))?;
        Ok(Self {
            name,
            version: query.take("version", str::parse)?,
        })
    }
}

fn run_id(text: &str) -> Result<RunId, Failure> {
    text.parse()
        .map_err(|_| invalid(format!("no run has such an id [{text}]")))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
