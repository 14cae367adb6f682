//! The outside world: dependencies that do what the script says, and a receiver that keeps effects.
//!
//! A request that has arrived goes on landing, whatever becomes of who sent it: effects are kept
//! with the moment from which they are in the world, and no task of an engine is needed for that.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Read, Resolution, Write};
use mainstay_sim::VirtualTimers;
use mainstay_types::{Clock, Failure, Millis, Timers};
use parking_lot::Mutex;

use super::classes::{NewTicket, Question, Ticket, Told};
use super::script::{Ask, Does, Find};

type Script<T> = Box<dyn FnMut(&Ask) -> T + Send>;

/// A script that may leave it to the one below.
type Beyond = Box<dyn FnMut(&Ask) -> Option<Does> + Send>;

/// Everything outside of the engine.
pub(crate) struct Outside {
    timers: VirtualTimers,
    ticks: Arc<AtomicU64>,
    state: Mutex<State>,
}

struct State {
    does: Script<Does>,
    patience: Option<Beyond>,
    finds: Script<Find>,
    asks: Vec<Ask>,
    effects: Vec<Effect>,
    dedupe: bool,
    /// The dependency whose answers differ each time.
    fickle: Option<&'static str>,
    /// Requests whose adapter is still at it.
    open: usize,
}

/// Something that is, or will be, in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) key: String,
    /// Whose request made it.
    pub(crate) run: String,
    pub(crate) body: String,
    /// From which millisecond of the world on.
    pub(crate) lands_at: u64,
    pub(crate) ticket: String,
    /// Only a part of it was done.
    pub(crate) is_part: bool,
}

impl Outside {
    pub(super) fn new(timers: &VirtualTimers, ticks: Arc<AtomicU64>) -> Arc<Self> {
        let state = State {
            does: Box::new(|_| Does::Answer(10)),
            patience: None,
            finds: Box::new(|_| Find::Truth(5)),
            asks: Vec::new(),
            effects: Vec::new(),
            dedupe: true,
            fickle: None,
            open: 0,
        };
        Arc::new(Self {
            timers: timers.clone(),
            ticks,
            state: Mutex::new(state),
        })
    }

    /// From now on requests are treated like this.
    pub(crate) fn script(&self, does: impl FnMut(&Ask) -> Does + Send + 'static) {
        let mut state = self.state.lock();
        (state.does, state.patience) = (Box::new(does), None);
    }

    /// Until the next script, what this one knows is treated as it says.
    pub(crate) fn patience(&self, does: impl FnMut(&Ask) -> Option<Does> + Send + 'static) {
        self.state.lock().patience = Some(Box::new(does));
    }

    /// From now on look-ups are treated like this.
    pub(crate) fn finds(&self, finds: impl FnMut(&Ask) -> Find + Send + 'static) {
        self.state.lock().finds = Box::new(finds);
    }

    /// The receiver does not look at keys.
    pub(crate) fn ignore_keys(&self) {
        self.state.lock().dedupe = false;
    }

    /// Whoever reads from this dependency is told something else each time, as a model does.
    pub(crate) fn fickle(&self, dependency: &'static str) {
        self.state.lock().fickle = Some(dependency);
    }

    /// All requests that arrived, in order, look-ups among them.
    pub(crate) fn asks(&self) -> Vec<Ask> {
        self.state.lock().asks.clone()
    }

    /// All requests that arrived for this dependency, look-ups left out.
    pub(crate) fn requests(&self, dependency: &str) -> Vec<Ask> {
        let asks = self.asks().into_iter();
        asks.filter(|ask| ask.dependency == dependency && ask.look_up == 0)
            .collect()
    }

    /// All look-ups that arrived.
    pub(crate) fn look_ups(&self) -> Vec<Ask> {
        self.asks()
            .into_iter()
            .filter(|ask| 0 < ask.look_up)
            .collect()
    }

    /// How many requests an adapter is still at.
    pub(crate) fn open(&self) -> usize {
        self.state.lock().open
    }

    /// All effects, landed or on their way.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.state.lock().effects.clone()
    }

    fn now(&self) -> u64 {
        self.timers.clock().monotonic().get()
    }

    fn sleep(&self, ms: u64) -> impl Future<Output = ()> + Send + use<> {
        self.timers.sleep(Millis::new(ms))
    }

    fn note(&self, dependency: &str, body: String, cx: &AttemptContext) -> Ask {
        let mut state = self.state.lock();
        let run = cx.run.to_string();
        let same = state
            .asks
            .iter()
            .filter(|ask| ask.run == run && ask.call == cx.call);
        let (look_ups, requests): (Vec<_>, Vec<_>) = same.partition(|ask| 0 < ask.look_up);
        let (look_up, nth) = match cx.control {
            true => (look_ups.len() + 1, requests.len()),
            false => (0, requests.len() + 1),
        };
        let ask = Ask {
            tick: self.ticks.fetch_add(1, Ordering::SeqCst),
            at: self.now(),
            dependency: dependency.to_owned(),
            run,
            call: cx.call.clone(),
            attempt: cx.attempt.get(),
            nth,
            look_up,
            key: cx.effect_key.as_ref().map(ToString::to_string),
            fence: cx.fence.get(),
            time_left: cx.time_left.get(),
            traceparent: cx.traceparent.clone(),
            body,
        };
        state.asks.push(ask.clone());
        ask
    }

    /// Somebody does by hand what is missing of the effects under the key; the ticket of the last.
    pub(crate) fn complete(&self, key: &str) -> Option<String> {
        let mut state = self.state.lock();
        let same = state.effects.iter_mut().filter(|effect| effect.key == key);
        let whole = same.map(|effect| {
            effect.is_part = false;
            effect.ticket.clone()
        });
        whole.last()
    }

    /// Somebody undoes by hand what there is under the key.
    pub(crate) fn undo(&self, key: &str) {
        let mut state = self.state.lock();
        state.effects.retain(|effect| effect.key != key);
    }

    /// The request's effect is in the world from `after` milliseconds on; a key that is honoured
    /// has one.
    fn land(&self, ask: &Ask, after: u64) -> Ticket {
        self.land_as(ask, after, false)
    }

    /// The same, of the whole or of a part.
    fn land_as(&self, ask: &Ask, after: u64, is_part: bool) -> Ticket {
        let mut state = self.state.lock();
        let key = ask.key.clone().expect("a write has an effect key");
        let known = state
            .effects
            .iter()
            .find(|effect| state.dedupe && effect.key == key);
        if let Some(known) = known {
            return Ticket {
                id: known.ticket.clone(),
            };
        }
        let ticket = format!("T-{}", state.effects.len() + 1);
        let lands_at = self.now() + after;
        let effect = Effect {
            key,
            run: ask.run.clone(),
            body: ask.body.clone(),
            lands_at,
            ticket: ticket.clone(),
            is_part,
        };
        state.effects.push(effect);
        Ticket { id: ticket }
    }

    /// The newest of what the receiver knows under the key by now.
    fn known(&self, ask: &Ask) -> Found<Ticket> {
        let (now, state) = (self.now(), self.state.lock());
        let landed = state
            .effects
            .iter()
            .rev()
            .filter(|effect| effect.lands_at <= now);
        let mut known = landed.filter(|effect| Some(&effect.key) == ask.key.as_ref());
        match known.next() {
            None => Found::NotFound,
            Some(effect) if effect.is_part => Found::Partly,
            Some(effect) => Found::Applied(Ticket {
                id: effect.ticket.clone(),
            }),
        }
    }

    fn told(&self, dependency: &str, asked: &Question) -> Vec<String> {
        let is_fickle = self.state.lock().fickle == Some(dependency);
        let nth = self.requests(dependency).len();
        let told = asked.actions.iter().map(|action| match is_fickle {
            true => format!("{action}, as told the {nth}. time"),
            false => action.clone(),
        });
        told.collect()
    }

    /// `answer` is given after how many milliseconds its effect is in the world.
    async fn treat<T>(
        &self,
        ask: &Ask,
        answer: impl FnOnce(u64) -> T,
    ) -> Result<Answer<T>, Failure> {
        let does = {
            let mut state = self.state.lock();
            let put_off = state.patience.as_mut().and_then(|script| script(ask));
            put_off.unwrap_or_else(|| (state.does)(ask))
        };
        let _open = Open::new(self);
        match does {
            Does::Answer(after) => {
                let answer = answer(0);
                self.sleep(after).await;
                Ok(answer.into())
            }
            Does::Bill(after, cost, client_retries) => {
                let answer = Answer::new(answer(0)).cost(cost);
                self.sleep(after).await;
                Ok(answer.client_retries(client_retries))
            }
            Does::Fail(after, failure) => {
                self.sleep(after).await;
                Err(failure)
            }
            Does::Panic(after) => {
                self.sleep(after).await;
                panicked(format!("the adapter of {} panicked", ask.dependency));
            }
            Does::Hang => pending().await,
            Does::Lose(after) => {
                self.land(ask, after);
                pending().await
            }
            Does::LandAndFail(lands_after, after, failure) => {
                self.land(ask, lands_after);
                self.sleep(after).await;
                Err(failure)
            }
            Does::LandLater(lands_after, after) => {
                let answer = answer(lands_after);
                self.sleep(after).await;
                Ok(answer.into())
            }
            Does::LandInPart(after, failure) => {
                self.land_as(ask, 0, true);
                self.sleep(after).await;
                Err(failure)
            }
        }
    }

    /// A dependency that is read.
    pub(crate) fn read(self: &Arc<Self>, name: &'static str) -> Reads {
        let promise = Promise::new()
            .timeout(Millis::from_secs(3))
            .estimate(Millis::new(500));
        Reads {
            name,
            outside: Arc::clone(self),
            promise,
        }
    }

    /// A dependency that is written; the receiver acts on what it accepted within two seconds.
    pub(crate) fn write(self: &Arc<Self>, name: &'static str) -> Writes {
        let promise = Promise::new()
            .timeout(Millis::from_secs(3))
            .estimate(Millis::new(500))
            .cost(mainstay_types::CostUnits::milli(100))
            .receiver_bound(Millis::from_secs(2))
            .honours_keys(None);
        Writes {
            name,
            outside: Arc::clone(self),
            promise,
        }
    }
}

/// An adapter at work; dropping it is what dropping the attempt's future is.
struct Open<'a>(&'a Outside);

impl<'a> Open<'a> {
    fn new(outside: &'a Outside) -> Self {
        outside.state.lock().open += 1;
        Self(outside)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state.lock().open -= 1;
    }
}

/// A scripted read.
#[derive(Clone)]
pub(crate) struct Reads {
    name: &'static str,
    outside: Arc<Outside>,
    pub(crate) promise: Promise,
}

impl Read for Reads {
    type Request = Question;
    type Reply = Told;

    fn name(&self) -> &str {
        self.name
    }

    async fn call(&self, asked: Question, cx: &AttemptContext) -> Result<Answer<Told>, Failure> {
        let ask = self.outside.note(self.name, text(&asked), cx);
        let told = |_| Told {
            by: self.name.to_owned(),
            actions: self.outside.told(self.name, &asked),
        };
        self.outside.treat(&ask, told).await
    }

    fn promise(&self) -> Promise {
        self.promise.clone()
    }
}

/// A scripted write.
#[derive(Clone)]
pub(crate) struct Writes {
    name: &'static str,
    outside: Arc<Outside>,
    pub(crate) promise: Promise,
}

impl Write for Writes {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        self.name
    }

    async fn send(&self, made: NewTicket, cx: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        let ask = self.outside.note(self.name, text(&made), cx);
        self.outside
            .treat(&ask, |after| self.outside.land(&ask, after))
            .await
    }

    async fn find(&self, made: NewTicket, cx: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        let ask = self.outside.note(self.name, text(&made), cx);
        let find = (self.outside.state.lock().finds)(&ask);
        let (after, found) = match find {
            Find::Truth(after) => {
                self.outside.sleep(after).await;
                return Ok(self.outside.known(&ask));
            }
            Find::NotFound(after) => (after, Found::NotFound),
            Find::InProgress(after) => (after, Found::InProgress),
            Find::Partly(after) => (after, Found::Partly),
            Find::CannotTell(after) => (after, Found::CannotTell),
            Find::Hang => pending().await,
            Find::Panic => panicked("the adapter panicked while it looked up".to_owned()),
        };
        self.outside.sleep(after).await;
        Ok(found)
    }

    fn promise(&self) -> Promise {
        self.promise.clone()
    }
}

/// A panic that leaves no trace in the test's output: it is meant.
pub(crate) fn panicked(message: String) -> ! {
    std::panic::resume_unwind(Box::new(message))
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}
