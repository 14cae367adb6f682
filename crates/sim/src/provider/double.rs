//! A double as the engine sees it: one request or look-up, from its arrival to its reply.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;

use mainstay_dispatch::{AttemptContext, Found, Provider, RawAnswer, codes};
use mainstay_graph::EffectContract;
use mainstay_types::{BoxFuture, CostUnits, Failure, FailureKind, Millis, Payload, Sent};
use parking_lot::Mutex;

use super::kind::Kind;
use super::latency::lot;
use super::model::{Alter, Traits};
use super::outside::Outside;
use super::table::{Applied, Landing, Manner, Table};
use super::twist::{Arrival, Deed, Sight, Twist};

/// A dependency of one world. Clones are the same one.
#[derive(Clone)]
pub struct Double(Arc<Shared>);

struct Shared {
    name: String,
    traits: Traits,
    own: Arc<dyn Provider>,
    /// What its class promises of its effects; `None` for what is read.
    writes: Option<Writes>,
    outside: Outside,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct Writes {
    manner: Manner,
    bound: Millis,
}

#[derive(Default)]
struct State {
    requests: u64,
    look_ups: u64,
    arrivals: Vec<Arrival>,
    table: Table,
    /// When those that are being served are done.
    busy: VecDeque<Millis>,
}

/// How a request ends for its sender, and after how long; `None`: never.
type End = Option<(Millis, Result<Payload, Failure>)>;

impl Double {
    /// The double of `name` in the world of `outside`; `own` is the dependency that it stands for,
    /// `effect` what the class says of its effects, and whether it does one key once.
    #[must_use]
    pub fn new(
        name: &str,
        kind: &Kind,
        (own, effect): (&Arc<dyn Provider>, Option<(&EffectContract, bool)>),
        outside: &Outside,
    ) -> Self {
        let effect = effect.filter(|_| kind.is_write());
        let writes = effect.map(|(effect, once)| Writes {
            manner: Manner::of(effect.resolution, (once, effect.receiver_key_ttl)),
            bound: effect.receiver_bound,
        });
        Self(Arc::new(Shared {
            name: name.to_owned(),
            traits: kind.traits().clone(),
            own: Arc::clone(own),
            writes,
            outside: outside.clone(),
            state: Mutex::new(State::default()),
        }))
    }

    /// The dependency's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it changes the world.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.0.writes.is_some()
    }

    /// Whether it says what each attempt costs.
    #[must_use]
    pub fn names_its_price(&self) -> bool {
        self.0.traits.cost.is_some()
    }

    /// Every request and look-up, in the order of arrival.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.0.state.lock().arrivals.clone()
    }

    /// Every change it has made to the world by now, in order.
    #[must_use]
    pub fn applied(&self) -> Vec<Applied> {
        let mut state = self.0.state.lock();
        self.0.pass(&mut state);
        state.table.applied.clone()
    }
}

impl Shared {
    /// What has come by now has landed.
    fn pass(&self, state: &mut State) {
        if let Some(writes) = self.writes {
            state.table.pass(self.outside.now(), writes.manner);
        }
    }

    fn arrival(&self, nth: u64, is_look_up: bool, cx: &AttemptContext) -> Arrival {
        Arrival {
            dependency: self.name.clone(),
            nth,
            is_look_up,
            at: self.outside.now(),
            run: cx.run,
            tenant: cx.tenant.clone(),
            call: cx.call.clone(),
            attempt: cx.attempt,
            rung: cx.rung.get(),
            key: cx.effect_key.clone(),
            fence: cx.fence,
            time_left: cx.time_left,
            durable: self.outside.durable(cx.run),
            ends_at: None,
            twisted: false,
        }
    }

    /// A request arrives.
    fn arrives(&self, request: &Payload, cx: &AttemptContext) -> End {
        let mut state = self.state.lock();
        state.requests += 1;
        let nth = state.requests;
        let mut arrival = self.arrival(nth, false, cx);
        let twist = self.outside.twists.request(&arrival);
        arrival.twisted = twist != Twist::NONE;
        let place = state.arrivals.len();
        state.arrivals.push(arrival);
        let end = self.served(&mut state, (request, cx), (nth, twist));
        state.arrivals[place].ends_at = end.as_ref().map(|(takes, _)| self.outside.now() + *takes);
        end
    }

    /// What becomes of the `nth` request.
    fn served(
        &self,
        state: &mut State,
        (request, cx): (&Payload, &AttemptContext),
        (nth, twist): (u64, Twist),
    ) -> End {
        let now = self.outside.now();
        let takes = self.traits.spread.draw(self.outside.seed, &self.name, nth) + twist.delay;
        if let Some(full) = self.is_full(state, now, takes) {
            return Some((Millis::new(1), Err(full)));
        }
        self.pass(state);
        self.becomes(state, (request, cx), (takes, twist.deed))
    }

    /// What a request beyond the capacity is answered.
    fn is_full(&self, state: &mut State, now: Millis, takes: Millis) -> Option<Failure> {
        let capacity = self.traits.capacity?;
        state.busy.retain(|done| now < *done);
        if usize::try_from(capacity).is_ok_and(|capacity| capacity <= state.busy.len()) {
            return Some(self.traits.when_full.clone());
        }
        state.busy.push_back(now + takes);
        None
    }

    fn becomes(
        &self,
        state: &mut State,
        (request, cx): (&Payload, &AttemptContext),
        (takes, deed): (Millis, Deed),
    ) -> End {
        let reply = || self.traits.answers.reply(request, (&self.own, cx));
        let broken = || Failure::new(FailureKind::TransientTransport, Sent::MaybeSent);
        let mut done = |at: Millis, times: usize, in_part: bool| {
            self.does(state, (request, cx), (at, times, in_part))
        };
        let half = self.outside.now() + Millis::new(takes.get() / 2);
        let usual = half.min(self.latest(cx));
        match deed {
            Deed::Straight => Some((takes, done(usual, 1, false))),
            Deed::DoTwice => Some((takes, done(usual, 2, false))),
            Deed::Refuse => {
                let refused = Failure::new(FailureKind::TransientTransport, Sent::NotSent);
                Some((Millis::new(1), Err(refused.message("refused"))))
            }
            Deed::Answer(failure) => Some((takes, Err(failure))),
            Deed::LoseRequest => None,
            Deed::BreakOff => Some((takes, Err(broken().message("broken off")))),
            Deed::LoseReply => done(usual, 1, false).err().map(|error| (takes, Err(error))),
            Deed::DoAndBreakOff => Some((takes, done(usual, 1, false).and(Err(broken())))),
            Deed::DoLate(after) => {
                let at = self.latest(cx).min(self.outside.now() + after);
                let failed = done(at, 1, false).err();
                failed.map(|error| (takes, Err(error)))
            }
            Deed::DoInPart => done(usual, 1, true).err().map(|error| (takes, Err(error))),
            Deed::WrongShape => Some((takes, Err(wrong_shape()))),
            Deed::CutReply => Some((takes, reply().map(altered(self.traits.cut.as_ref())))),
            Deed::StaleReply => Some((takes, reply().map(altered(self.traits.stale.as_ref())))),
            Deed::Panic => Some((Millis::ZERO, Err(panicked()))),
        }
    }

    /// Does what is asked for, where it writes; the reply.
    fn does(
        &self,
        state: &mut State,
        (request, cx): (&Payload, &AttemptContext),
        (at, times, in_part): (Millis, usize, bool),
    ) -> Result<Payload, Failure> {
        let (Some(writes), Some(key)) = (self.writes, cx.effect_key.as_ref()) else {
            return self.traits.answers.reply(request, (&self.own, cx));
        };
        let known = state.table.known(key, at, writes.manner);
        let known = known.filter(|_| writes.manner.once);
        let reply = match known {
            Some(known) if !known.in_part => known.reply.clone(),
            Some(_) | None => self.traits.answers.reply(request, (&self.own, cx))?,
        };
        for _ in 0..times {
            let landing = Landing {
                key: key.clone(),
                run: cx.run,
                attempt: cx.attempt,
                request: request.clone(),
                reply: reply.clone(),
                in_part,
            };
            state.table.comes(at, landing);
        }
        Ok(reply)
    }

    /// The last moment at which a request that is sent now may land.
    fn latest(&self, cx: &AttemptContext) -> Millis {
        let bound = self.writes.map_or(Millis::ZERO, |writes| writes.bound);
        // The send window is used up: the request has left.
        self.outside.now() + (cx.time_left + bound).less(Millis::new(1))
    }

    fn is_looked_up(
        &self,
        cx: &AttemptContext,
    ) -> Option<(Millis, Result<Found<Payload>, Failure>)> {
        let mut state = self.state.lock();
        state.look_ups += 1;
        let nth = state.look_ups;
        let mut arrival = self.arrival(nth, true, cx);
        let (delay, sight) = self.outside.twists.look_up(&arrival);
        arrival.twisted = delay != Millis::ZERO || sight != Sight::Truth;
        state.arrivals.push(arrival);
        self.pass(&mut state);
        let of_its_own = lot(self.outside.seed ^ 1, &self.name, nth) % 20;
        let takes = delay + Millis::new(5 + of_its_own);
        let found = match sight {
            Sight::Truth => Ok(self.truth(&state, cx)),
            Sight::Blind => Ok(Found::CannotTell),
            Sight::InProgress => Ok(Found::InProgress),
            Sight::Fail(failure) => Err(failure),
            Sight::Nothing => return None,
        };
        Some((takes, found))
    }

    fn truth(&self, state: &State, cx: &AttemptContext) -> Found<Payload> {
        let (Some(writes), Some(key)) = (self.writes, cx.effect_key.as_ref()) else {
            return Found::CannotTell;
        };
        if writes.manner.is_mute {
            return Found::CannotTell;
        }
        let now = self.outside.now();
        match state.table.known(key, now, writes.manner) {
            Some(known) if known.in_part => Found::Partly,
            Some(known) => Found::Applied(known.reply.clone()),
            None => Found::NotFound,
        }
    }

    /// What the `nth` request costs, when it does not cost what the contract expects.
    fn cost(&self, nth: u64) -> Option<CostUnits> {
        let (low, high) = self.traits.cost?;
        let range = (high.less(low).as_micros()).saturating_add(1);
        let drawn = lot(self.outside.seed ^ 2, &self.name, nth) % range;
        Some(CostUnits::micros(low.as_micros().saturating_add(drawn)))
    }
}

impl Provider for Double {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn is_write(&self) -> bool {
        self.is_write()
    }

    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let Some((takes, end)) = shared.arrives(&request, &cx) else {
                return pending().await;
            };
            let nth = shared.state.lock().requests;
            shared.outside.sleep(takes).await;
            end.map(|value| RawAnswer {
                value,
                cost: shared.cost(nth),
                client_retries: 0,
            })
        })
    }

    fn look_up(
        &self,
        _: Payload,
        cx: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        self.0.writes?;
        let shared = Arc::clone(&self.0);
        Some(Box::pin(async move {
            let Some((takes, found)) = shared.is_looked_up(&cx) else {
                return pending().await;
            };
            shared.outside.sleep(takes).await;
            found
        }))
    }

    fn check_reply(&self, reply: &Payload) -> Result<(), Failure> {
        self.0.own.check_reply(reply)
    }
}

/// Another reply in place of one, where the double was told how.
fn altered(alter: Option<&Alter>) -> impl Fn(Payload) -> Payload {
    move |whole| alter.and_then(|alter| alter(&whole)).unwrap_or(whole)
}

fn wrong_shape() -> Failure {
    Failure::new(FailureKind::ResultInvalid, Sent::Answered)
        .message("the reply does not keep its schema")
}

/// What the engine makes of an adapter's panic.
fn panicked() -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent)
        .provider_code(codes::CODE_PANICKED)
        .message("the adapter panicked")
}
