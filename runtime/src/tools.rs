//! A model's calls of tools: what whoever talks to a model asks a run for, and is told.
//!
//! A model's call is a command in the run's inbox before anything is done about it, and its answer
//! is definite: done, not done, or handed to a person. What the model was told is known here, since
//! here is where it is told, and goes with the next call; what cannot be known after a restart
//! counts as not told, so that a call made again gets the recorded answer and no second effect.

use std::collections::VecDeque;
use std::sync::Arc;

use mainstay_ledger::InboxCommand;
use mainstay_machine::{
    AskTool, Call, Command, EffectStatus, Phase, Prepared, Run, ToolCallId, ToolsAsked,
};
use mainstay_types::{
    CallId, Code, EffectKey, FailureKind, Payload, Reason, Refusal, RunId, json, limits,
};
use parking_lot::Mutex;

use crate::answer::{load_run, wait_for};
use crate::control::{refused_after_all, taken};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::mailbox::{Left, Question};
use crate::marked::marked;
use crate::outgoing::bounded;
use crate::poison::caught;
use crate::registry::Registered;
use crate::shared::Shared;

/// As many calls as a model may make.
const TOLD_MAX: usize = limits::TOOL_CALLS_MAX as usize;

/// What a model may ask a run for, and what it was told. For one model at a time.
pub struct Tools {
    shared: Arc<Shared>,
    run: RunId,
    tools: CallId,
    code: Arc<Registered>,
    input: Payload,
    brief: Payload,
    told: Mutex<VecDeque<ToolCallId>>,
}

/// A tool as a model is told of it: nothing in it names a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does, in words.
    pub about: String,
    /// The JSON Schema of its arguments, as canonical JSON.
    pub arguments: String,
}

/// What a model is told of its call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolAnswer {
    /// It is done, with this answer.
    Done(Payload),
    /// It is not done, and nothing of it is on its way.
    NotDone {
        /// The kind of its last failure.
        kind: FailureKind,
        /// Why nothing more is tried.
        reason: Reason,
    },
    /// Nobody knows yet whether it is done: a person finds out, and the model must not try again.
    HandedOver {
        /// The effect a person will look for.
        key: Option<EffectKey>,
    },
}

impl ToolAnswer {
    /// Whether a model that was told this may mean another by its next call: what is done, or was
    /// done and undone. After "not done" it is the same intent again.
    const fn opens_another(&self) -> bool {
        match self {
            Self::Done(_) => true,
            Self::NotDone { reason, .. } => matches!(reason, Reason::Compensated),
            Self::HandedOver { .. } => false,
        }
    }

    /// What a model reads: one JSON object with a `status` of `done`, `not_done` or `handed_over`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let text = |text: &str| json::Value::Text(text.to_owned());
        let object = match self {
            Self::Done(result) => {
                let read = std::str::from_utf8(result.as_bytes()).ok();
                let read = read.and_then(|read| json::parse(read).ok());
                let result = read.unwrap_or(json::Value::Null);
                json::Value::object([("status", text("done")), ("result", result)])
            }
            Self::NotDone { kind, reason } => json::Value::object([
                ("status", text("not_done")),
                ("error", text(kind.as_str())),
                ("reason", text(reason.as_str())),
            ]),
            Self::HandedOver { .. } => json::Value::object([
                ("status", text("handed_over")),
                ("note", text("nobody knows yet; a person finds out")),
            ]),
        };
        object.to_canonical()
    }
}

impl Engine {
    /// What the call `name` of a run offers to a model, once the run has come to it.
    ///
    /// Cancel safe. `RUN_UNKNOWN`, `CALL_UNKNOWN` for a name that offers no tools, `RUN_ENDED` when
    /// the run's lap ended before it, `WAITING_FOR_CODE` when its class is not registered here.
    pub async fn tools(&self, run: RunId, name: &str) -> Result<Tools, EngineError> {
        Tools::of(self.shared(), run, name).await
    }
}

impl Tools {
    async fn of(shared: &Arc<Shared>, id: RunId, name: &str) -> Result<Self, EngineError> {
        let loaded = load_run(shared, id).await?;
        let head = loaded.run.head();
        let head = head.ok_or_else(|| Refusal::new(Code::RunUnknown))?;
        let input = head.input.clone();
        let code = shared.registry.find(&head.class).ok_or_else(|| {
            let about = format!("{} {}", head.class.name, head.class.version);
            Refusal::new(Code::WaitingForCode).about(about)
        })?;
        let offers = |node: &mainstay_graph::Node| !node.offers().is_empty();
        let found = loaded
            .run
            .class()
            .find(name)
            .filter(|(_, node)| offers(node));
        let unknown = || Refusal::new(Code::CallUnknown).about(format!("{name} offers no tools"));
        let (node, _) = found.ok_or_else(unknown)?;
        let tools = CallId(u32::from(node.get()));
        let question = Question::Offers(tools);
        let run = wait_for(shared, (id, &Left::default()), question).await?;
        let call = run.calls().get(tools);
        let opened = call.filter(|call| call.asked.is_some());
        let opened = opened.and_then(|call| call.prepared.as_ref());
        let brief = opened.map(|made| made.request.clone());
        Ok(Self {
            shared: Arc::clone(shared),
            run: id,
            tools,
            code,
            input,
            brief: brief.ok_or_else(|| Refusal::new(Code::RunEnded).about(id.to_string()))?,
            told: Mutex::default(),
        })
    }

    /// What the class gives whoever talks to the model, as canonical JSON.
    #[must_use]
    pub const fn brief(&self) -> &Payload {
        &self.brief
    }

    /// The tools, as a model is told of them.
    #[must_use]
    pub fn schemas(&self) -> Vec<ToolSchema> {
        let class = &self.code.class.data;
        let nodes = class.ids().filter(|(id, _)| self.offered().contains(id));
        let schema = |node: &mainstay_graph::Node| {
            let tool = node.tool.as_ref()?;
            Some(ToolSchema {
                name: node.name.to_string(),
                about: tool.about.clone(),
                arguments: tool.arguments.0.to_string(),
            })
        };
        nodes.filter_map(|(_, node)| schema(node)).collect()
    }

    fn offered(&self) -> &[mainstay_types::NodeId] {
        let node = u16::try_from(self.tools.get()).expect("a node's own call");
        self.code
            .class
            .data
            .node(mainstay_types::NodeId(node))
            .offers()
    }

    /// Says that the model was told the outcomes of these calls, for whoever goes on with a
    /// conversation that another process led. Those that this one gave are known.
    ///
    /// Of more ids than a model may make calls (`limits::TOOL_CALLS_MAX`) the newest count; what no
    /// call can have is no id.
    pub fn was_told<'a>(&self, ids: impl IntoIterator<Item = &'a str>) {
        let mut told = self.told.lock();
        for id in ids {
            let is_one = (1..=limits::TOOL_CALL_ID_BYTES_MAX).contains(&id.len());
            if !is_one || told.iter().any(|known| known == id) {
                continue;
            }
            if told.len() == TOLD_MAX {
                told.pop_front();
            }
            told.push_back(id.to_owned());
        }
    }

    /// A model's call: its id, the tool's name, its arguments as JSON. Waits for a definite answer;
    /// one that is not there when the lap has its outcome is a person's.
    ///
    /// The call is durable before anything is sent for it. Cancel safe: a dropped future may have
    /// asked, and the model counts as not told; the same id again waits for the same answer.
    /// `INVALID_INPUT` for a tool that is not offered and for arguments that do not fit it,
    /// `IDEMPOTENCY_MISMATCH` for other arguments than the model gave before it was told,
    /// `EFFECT_IN_DOUBT` while another intent of the same effect is open, `CAP_REACHED` beyond what
    /// the class allows, `RUN_ENDED` after the lap's outcome.
    pub async fn call(
        &self,
        id: &str,
        tool: &str,
        arguments: &str,
    ) -> Result<ToolAnswer, EngineError> {
        let ask = self.ask(id, tool, arguments)?;
        let message = InboxCommand::ToolCall(Box::new(ask.clone()));
        let run = taken(&self.shared, self.run, message).await?;
        // What stands under the model's id may be another call, which this one was refused for.
        let recorded = self.asked(&run).and_then(|asked| asked.call(id));
        let recorded = recorded.filter(|&call| is_of(&run, call, &ask));
        let Some(call) = recorded else {
            let command = Command::ToolCall(Box::new(ask));
            return Err(refused_after_all(&self.shared, &run, command));
        };
        let question = Question::Call(call);
        let run = match question.is_answered(&run) {
            true => run,
            false => wait_for(&self.shared, (self.run, &Left::default()), question).await?,
        };
        let made = run.calls().get(call);
        let answer = made.map(|made| answer(&run, made));
        let answer = answer.ok_or_else(|| Refusal::new(Code::CallUnknown))?;
        if answer.opens_another() {
            // Here the model is told: nothing is awaited any more.
            self.was_told([id]);
        }
        Ok(answer)
    }

    /// The model is done: the run goes on once everything it asked for is over.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked.
    pub async fn done(&self) -> Result<(), EngineError> {
        let call = self.tools;
        let run = taken(&self.shared, self.run, InboxCommand::ToolsDone { call }).await?;
        match self.asked(&run) {
            Some(asked) if asked.done => Ok(()),
            Some(_) | None => {
                let command = Command::ToolsDone { call };
                Err(refused_after_all(&self.shared, &run, command))
            }
        }
    }

    fn asked<'a>(&self, run: &'a Run) -> Option<&'a ToolsAsked> {
        run.calls().get(self.tools)?.asked.as_ref()
    }

    /// The command of a model's call; the class's own code makes its request.
    fn ask(&self, id: &str, tool: &str, arguments: &str) -> Result<AskTool, EngineError> {
        let invalid = |what: String| -> EngineError {
            Refusal::new(Code::InvalidInput).about(bounded(what)).into()
        };
        let class = &self.code.class;
        let found = class.data.find(tool);
        let found = found.filter(|(node, _)| self.offered().contains(node));
        let (node, _) = found.ok_or_else(|| invalid(format!("there is no tool {tool}")))?;
        if limits::PAYLOAD_BYTES_MAX < arguments.len() {
            return Err(invalid(format!("{tool}: its arguments are too large")));
        }
        let parsed = json::parse(arguments);
        let parsed = parsed.map_err(|error| invalid(format!("{tool}: no JSON: {error}")))?;
        let arguments = Payload::from(parsed.to_canonical());
        let code = || class.requested(node, &self.input, &arguments);
        let made = marked(&self.shared, self.run, || caught(Code::ClassPanicked, code));
        let made = made.map_err(|poison| invalid(format!("{tool}: {poison}")))?;
        let made = made.map_err(|failure| invalid(failure.message.unwrap_or_default()))?;
        Ok(AskTool {
            tools: self.tools,
            id: id.to_owned(),
            tool: node,
            prepared: Prepared {
                request: made.request,
                fingerprint: made.fingerprint,
                business_id: made.business_id,
            },
            told: self.told.lock().iter().cloned().collect(),
        })
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools")
            .field("run", &self.run)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

/// Whether the call was made for what is asked for.
fn is_of(run: &Run, call: CallId, ask: &AskTool) -> bool {
    let made = run.calls().get(call);
    made.is_some_and(|made| {
        let prepared = made.prepared.as_ref();
        let same = |made: &Prepared| made.fingerprint == ask.prepared.fingerprint;
        made.node == ask.tool && prepared.is_some_and(same)
    })
}

/// What a model is told of a call that is over, or of whose lap is.
fn answer(run: &Run, call: &Call) -> ToolAnswer {
    let effect = call.effect.as_ref();
    let is_partly = effect.is_some_and(|effect| effect.status == EffectStatus::PartlyApplied);
    let key = || effect.map(|effect| effect.key.clone());
    match &call.phase {
        _ if call.is_undone() => ToolAnswer::NotDone {
            kind: FailureKind::Canceled,
            reason: Reason::Compensated,
        },
        Phase::Settled { result, .. } => ToolAnswer::Done(result.clone()),
        Phase::Failed { .. } if is_partly => ToolAnswer::HandedOver { key: key() },
        Phase::Failed { kind, reason } => ToolAnswer::NotDone {
            kind: *kind,
            reason: *reason,
        },
        // One that waits to be sent goes on in a next lap, or once a quarantine is lifted.
        Phase::InFlight(_) | Phase::InDoubt | Phase::Ready { .. }
            if run.class().node(call.node).effect().is_some() =>
        {
            ToolAnswer::HandedOver { key: key() }
        }
        // A read whose answer nobody waits for any more.
        Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Waiting
        | Phase::Preparing
        | Phase::Items
        | Phase::Omitted { .. }
        | Phase::Skipped => ToolAnswer::NotDone {
            kind: FailureKind::DeadlineExhausted,
            reason: Reason::DeadlineExhausted,
        },
    }
}
