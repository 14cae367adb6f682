//! What a scenario's lines do: commands, and what happens in the world around the run.
//!
//! Each line's expectations are checked right after it; a verb that is not known fails.

use std::sync::Arc;

use mainstay_graph::{Budget, TaskClass};
use mainstay_machine::{
    Action, AskCompensate, AskOrphan, AskRaise, AskSettle, AskTool, Command, Evidence, Finding,
    Forecast, LookedUp, OrphanWish, Quarantine, Ruling, Settle, SettleEnd, compensate, effect,
    may_start, pending,
};
use mainstay_types::{
    AttemptNo, CallId, Code, Failure, FailureKind, LapNo, Millis, Payload, Refusal, Sent,
    Timestamp, Tokens,
};

use super::code;
use super::elsewhere;
use super::expect;
use super::parse::{Line, Script, millis};
use super::world::{Facts, ORIGIN, World};

/// A scenario that is being played live.
pub(crate) struct Play<'a> {
    script: &'a Script,
    pub(super) world: World,
}

/// What a line came to.
pub(crate) struct Came {
    /// Where the line's events begin in the log.
    pub(crate) mark: usize,
    pub(crate) refusal: Option<Refusal>,
}

impl<'a> Play<'a> {
    pub(crate) fn new(script: &'a Script, class: Arc<TaskClass>) -> Self {
        Self {
            script,
            world: World::new(class, Facts::default()),
        }
    }

    /// Plays every line.
    pub(crate) fn run(mut self) -> World {
        for line in &self.script.lines {
            let mark = self.world.log.len();
            self.world.refusal = None;
            self.play(line);
            let came = Came {
                mark,
                refusal: self.world.refusal.clone(),
            };
            expect::check(&self.world, line, &came);
        }
        self.world
    }

    fn play(&mut self, line: &Line) {
        match line.verb.as_str() {
            "list" | "say" | "break" | "hold" | "release" | "unassemblable" | "gates" | "code"
            | "observed" => {
                self.fact(line);
            }
            "start" => {
                self.start(line);
            }
            "answer" | "fail" | "lose" => self.settle(line),
            "find" | "told" | "look" => self.hear(line),
            "dispatch" => {
                let call = self.call(line.word(0));
                self.turn(self.world.authorize(call));
            }
            "may" => {
                let (run, call) = (&self.world.run, self.call(line.word(0)));
                self.world.refusal = may_start(run, call, self.world.now).err();
            }
            "at" => self.world.pass_until(ORIGIN + millis(line.word(0))),
            "crash" => self.world.take_over(),
            "retake" => {
                let worker = self.world.run.head().expect("started").worker;
                let downtime = Millis::from_secs(1);
                self.turn(Command::TakeOver { worker, downtime });
            }
            "down" => {
                self.world.now = self.world.now + millis(line.word(0));
                self.world.take_over();
            }
            "cancel" => {
                let (by, why) = ("ann".to_owned(), "not needed".to_owned());
                self.turn(Command::Cancel { by, why });
            }
            "freed" => {
                let id = self.call(line.word(0));
                let call = self.world.run.calls().get(id).expect("found by its path");
                let key = effect::key(&self.world.run, id, call).expect("it wants a key");
                self.turn(Command::KeySettled { key });
            }
            "continue" => {
                line.only(&["from"]);
                let newest = self.world.run.head().expect("started").lap.no;
                let from = line.number("from").map_or(newest, LapNo);
                let (by, why) = ("ann".to_owned(), "mended".to_owned());
                self.turn(Command::Continue { from, by, why });
            }
            "raise" => self.raise(line),
            "settle" => self.settle_by_hand(line),
            "compensate" => self.compensate(line),
            "adopt" | "close" => self.orphan(line),
            "ask" => self.ask(line),
            "done" => self.done(line),
            "terminate" => {
                let (by, why) = ("ann".to_owned(), "wedged".to_owned());
                self.turn(Command::Terminate { by, why });
            }
            "quarantine" => {
                let (code, words) = line.words.split_first().expect("a code, then words");
                let message = words.join(" ");
                let code = Code::from_text(code).expect("a code of the engine's");
                self.turn(Command::Quarantine(Quarantine { code, message }));
            }
            other => assert!(
                self.world.run.head().is_none(),
                "`{}`: there is no verb {other}",
                line.text
            ),
        }
    }

    /// `ask TOOLS ID TOOL ARGUMENT [told=ID,..]`: a model asks for a tool.
    fn ask(&mut self, line: &Line) {
        line.only(&["told"]);
        let tools = self.call(line.word(0));
        let class = self.world.run.class();
        let (tool, node) = class.find(line.word(2)).expect("a tool of the class");
        let told = line.option("told").into_iter();
        let told = told.flat_map(|ids| ids.split(',')).map(str::to_owned);
        let ask = AskTool {
            tools,
            id: line.word(1).to_owned(),
            tool,
            prepared: code::prepared(node, line.word(3)),
            told: told.collect(),
        };
        self.turn(Command::ToolCall(Box::new(ask)));
    }

    /// `done TOOLS`: the model asks for nothing more.
    fn done(&mut self, line: &Line) {
        let call = self.call(line.word(0));
        self.turn(Command::ToolsDone { call });
    }

    /// What a person says of a write; `of` names an attempt that is not the newest.
    fn settle_by_hand(&mut self, line: &Line) {
        line.only(&["of"]);
        let id = self.call(line.word(0));
        let call = self.world.run.calls().get(id).expect("found by its path");
        let newest = call.attempts.last().map_or(AttemptNo(0), |made| made.no);
        let ruling = match line.word(1) {
            "applied" => Ruling::Applied,
            "not_applied" => Ruling::NotApplied,
            other => panic!("`{}`: there is no ruling {other}", line.text),
        };
        self.turn(Command::SettleByHand(AskSettle {
            call: id,
            attempt: line.number("of").map_or(newest, AttemptNo),
            ruling,
            result: Payload::from(r#"{"id":"by hand"}"#),
            by: "ann".to_owned(),
            why: "it is in their list".to_owned(),
        }));
    }

    /// Somebody wants a write undone; `after` names an earlier wish than the newest.
    fn compensate(&mut self, line: &Line) {
        line.only(&["after"]);
        let call = self.call(line.word(0));
        let undo = compensate::of(&self.world.run, call).and_then(|(_, undo)| undo.undoes);
        let after = line.number("after");
        self.turn(Command::Compensate(AskCompensate {
            call,
            after: after.unwrap_or(undo.map_or(0, |undoes| undoes.wanted)),
            by: "ann".to_owned(),
            why: "the customer changed their mind".to_owned(),
        }));
    }

    /// `adopt PATH/N [for=TIME] [by=WHO] [after=N]`, `close PATH/N [by=WHO] [after=N]`: what a
    /// person wants done about an orphan as they see it; `after`: how often it was taken over.
    fn orphan(&mut self, line: &Line) {
        line.only(&["for", "by", "after"]);
        let (call, attempt) = self.attempt(line.word(0));
        let found = self.world.run.calls().get(call);
        let made = found.and_then(|found| found.attempt(attempt));
        let seen = made.and_then(|made| made.orphan());
        let wish = match line.verb.as_str() {
            "adopt" => OrphanWish::Adopt {
                until: self.world.now + line.time("for").unwrap_or(Millis::from_mins(60)),
            },
            _ => OrphanWish::Close,
        };
        let after = line.number("after");
        self.turn(Command::Orphan(AskOrphan {
            call,
            attempt,
            wish,
            after: after.unwrap_or(seen.map_or(0, |orphan| orphan.adoptions)),
            by: line.option("by").unwrap_or("ann").to_owned(),
            why: "it is ours".to_owned(),
        }));
    }

    fn start(&mut self, line: &Line) {
        let facts = &mut self.world.facts;
        facts.gates_closed = line.option("gates") == Some("closed");
        facts.within = line.time("within");
        facts.keyless = line.option("key") == Some("none");
        let seen = line
            .option("slow")
            .into_iter()
            .flat_map(|text| text.split(','));
        let class = self.world.run.class();
        let seen = seen.map(|word| {
            let (name, time) = word.split_once(':').expect("slow=NAME:TIME,..");
            (class.find(name).expect("a node").0, millis(time))
        });
        self.world.facts.forecast = Forecast {
            queue: line.time("queue").unwrap_or_default(),
            calls: seen.collect(),
            takes_later: line.option("takes") == Some("later"),
        };
        self.world.begin();
    }

    fn raise(&mut self, line: &Line) {
        line.only(&["retries", "concurrency", "cost"]);
        let tokens = |name| Tokens::new(line.number(name).unwrap_or(0));
        let more = Budget {
            retry_tokens: tokens("retries"),
            concurrency_tokens: tokens("concurrency"),
            cost_units: line.cost("cost").unwrap_or_default(),
        };
        self.turn(raise(&self.world, more));
    }

    pub(super) fn turn(&mut self, command: Command) {
        self.world.turn(Some(command));
    }

    fn fact(&mut self, line: &Line) {
        let name = || line.word(0).to_owned();
        let facts = &mut self.world.facts;
        match line.verb.as_str() {
            "list" => drop(
                facts
                    .lists
                    .insert(name(), line.word(1).parse().expect("a number")),
            ),
            "say" => drop(facts.says.insert(name(), line.word(1).to_owned())),
            "break" => drop(facts.broken.insert(name(), kind(line.word(1)))),
            "hold" => drop(
                facts
                    .held
                    .insert(name(), elsewhere::held(line, line.word(1))),
            ),
            "release" => drop(facts.held.remove(line.word(0))),
            "unassemblable" => facts.unassemblable = true,
            "code" => facts.code_absent = line.word(0) == "absent",
            "observed" => facts.observed_cost = line.cost("cost"),
            _ => facts.gates_closed = line.word(0) == "closed",
        }
        if self.world.run.head().is_some() && line.verb != "list" {
            self.world.turn(None);
        }
    }

    pub(super) fn call(&self, path: &str) -> CallId {
        self.world
            .find(path)
            .unwrap_or_else(|| panic!("there is no call {path}"))
    }

    /// The call and the attempt meant by `path` (the newest) or `path/2`.
    fn attempt(&self, word: &str) -> (CallId, AttemptNo) {
        let (path, no) = word.split_once('/').unwrap_or((word, ""));
        let id = self.call(path);
        let call = self.world.run.calls().get(id).expect("found by its path");
        let newest = u32::try_from(call.attempts.len()).expect("few attempts");
        (id, AttemptNo(no.parse().unwrap_or(newest)))
    }

    fn settle(&mut self, line: &Line) {
        line.only(&[
            "cost",
            "retries",
            "retry_after",
            "draw",
            "capacity",
            "quota",
            "ratio",
            "predicted",
            "held",
            "with",
        ]);
        let (call, attempt) = self.attempt(line.word(0));
        let client_retries = line.number("retries").unwrap_or(0);
        let end = match line.verb.as_str() {
            "answer" => SettleEnd::Answered {
                result: Payload::from(format!(
                    "\"{}\"",
                    line.option("with").unwrap_or(line.word(0))
                )),
                cost: line.cost("cost"),
                client_retries,
            },
            "lose" => SettleEnd::Failed(Failure {
                cost: line.cost("cost"),
                ..Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent)
            }),
            _ => SettleEnd::Failed(Failure {
                cost: line.cost("cost"),
                retry_after: line.time("retry_after"),
                client_retries,
                ..Failure::new(kind(line.word(1)), sent(line.words.get(2)))
            }),
        };
        let evidence = Evidence {
            draw: line.number("draw").unwrap_or(0),
            dependency_capacity: line.number("capacity"),
            tenant_quota: line.number("quota"),
            global_ratio: line.number("ratio"),
            predicted: line.time("predicted"),
            predicted_cost: None,
        };
        let report = Settle {
            call,
            attempt,
            end,
            evidence,
        };
        let command = self.in_view_of_held(line, report);
        self.turn(command);
    }

    fn hear(&mut self, line: &Line) {
        match line.verb.as_str() {
            "find" => self.find(line),
            _ => self.elsewhere(line),
        }
    }

    fn find(&mut self, line: &Line) {
        line.only(&["draw", "number"]);
        let call = self.call(line.word(0));
        let finding = match line.word(1) {
            "applied" => Finding::Applied(Payload::from("\"found\"")),
            "partly" => Finding::Partly,
            "in_progress" => Finding::InProgress,
            "absent" => Finding::NotFound,
            "cannot_tell" => Finding::CannotTell,
            other => panic!("`{}`: there is no finding {other}", line.text),
        };
        let due = look_up(&self.world, call);
        let number = line.number("number").or(due.map(|(number, _)| number));
        let number = number.unwrap_or_else(|| panic!("`{}`: nobody asks", line.text));
        let early = due.is_some_and(|(_, at)| self.world.now < at);
        assert!(!early, "`{}`: asked before it is due", line.text);
        let evidence = Evidence {
            draw: line.number("draw").unwrap_or(0),
            ..Evidence::default()
        };
        let asked_at = self.world.now;
        self.turn(Command::LookedUp(LookedUp {
            call,
            number,
            asked_at,
            finding,
            evidence,
        }));
    }
}

/// More for the newest lap, as somebody asks for it who sees the run now.
pub(crate) fn raise(world: &World, more: Budget) -> Command {
    let lap = &world.run.head().expect("started").lap;
    Command::Raise(AskRaise {
        lap: lap.no,
        after: u32::try_from(lap.raises.len()).expect("few"),
        more,
        by: "ann".to_owned(),
        why: "worth it".to_owned(),
    })
}

/// The look-up the core wants for a call: its number, and when.
pub(crate) fn look_up(world: &World, call: CallId) -> Option<(u32, Timestamp)> {
    pending(&world.run, world.now)
        .into_iter()
        .find_map(|action| {
            let Action::LookUp {
                call: asked,
                number,
                at,
            } = action
            else {
                return None;
            };
            (asked == call).then_some((number, at))
        })
}

fn kind(word: &str) -> FailureKind {
    FailureKind::from_code(word).unwrap_or_else(|| panic!("there is no failure kind {word}"))
}

fn sent(word: Option<&String>) -> Sent {
    match word.map(String::as_str) {
        Some("not_sent") => Sent::NotSent,
        Some("maybe_sent") => Sent::MaybeSent,
        None | Some("answered") => Sent::Answered,
        Some(other) => panic!("sent is not {other}"),
    }
}
