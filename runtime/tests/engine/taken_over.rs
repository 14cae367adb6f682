//! Keys that go from run to run: however many took one over, it is as old as its first request, and
//! whoever had it before hears what became of it.

use mainstay_class::{Budget, Class, TaskClass, days, mins, secs};
use mainstay_dispatch::Keys;
use mainstay_machine::{OutcomeKind, Ruling};
use mainstay_runtime::EffectFilter;
use mainstay_types::{Code, EffectKey, Millis, Payload, RunId};

use crate::undo::{key_of, state_of};
use crate::world::classes::NewTicket;
use crate::world::{Does, Find, Life, Minutes, Ticket, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is in their list");

/// The same order under the same business id, in a class of this name.
pub(crate) fn ordering(world: &World, name: &str, ttl: Option<Millis>) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define(name, 1);
    g.budget(Budget::new().answer_by(mins(60)).doubt_wait(days(1)));
    let mut orders = world.outside.write("orders");
    if let Some(ttl) = ttl {
        orders.promise.receiver_key_ttl = Some(ttl);
        orders.promise.keys = Keys::Honoured;
    }
    let order = g
        .write("order", &orders, (), |m, ()| NewTicket {
            title: m.actions[0].clone(),
        })
        .business_id(|m: &Minutes| &m.id)
        .compensate_with(&world.outside.write("cancels"), |m, _| NewTicket {
            title: format!("undo {}", m.id),
        })
        .add();
    g.finish(order, |_, ticket| ticket.clone())
        .expect("a valid class")
}

fn stands(life: &Life, run: RunId) -> (String, Option<String>) {
    let view = life.block_on(life.engine.view(run)).unwrap();
    (view.state.to_owned(), view.outcome.map(str::to_owned))
}

/// A request lands, and the receiver has forgotten its key 10 minutes later. So many runs take the
/// key over, one after the other and each gone before it knows anything; the last one asks when the
/// key is forgotten.
fn forgotten_after(owners: usize) {
    let world = World::new();
    world.outside.ignore_keys();
    world.outside.script(|ask| match ask.at {
        at if at < 100 => Does::Lose(0),
        _ => Does::Answer(10),
    });
    world.outside.finds(|ask| match ask.at {
        at if at < 660_000 => Find::CannotTell(5),
        _ => Find::NotFound(5),
    });
    let first = ordering(&world, "owner-0", Some(mins(10)));
    let life = world.live(&[first.erased()]);
    life.start(&first, minutes("M", 1));
    life.run_for(50);
    life.crash();
    for owner in 1..=owners {
        world.timers.advance(secs(90));
        let next = ordering(&world, &format!("owner-{owner}"), Some(mins(10)));
        let life = world.live(&[next.erased()]);
        life.start(&next, minutes("M", 1));
        life.run_for(30_000);
        life.crash();
    }
    world.timers.advance(Millis::new(720_000 - world.elapsed()));
    let last = ordering(&world, "last", Some(mins(10)));
    let life = world.live(&[last.erased()]);
    life.start(&last, minutes("M", 1));
    life.run_for(1_200_000);
    let sent: Vec<u64> = world
        .outside
        .requests("orders")
        .iter()
        .map(|r| r.at)
        .collect();
    assert_eq!(sent.len(), 1, "{owners} owners between: sent at {sent:?}");
    world.must_be_sound();
}

#[test]
fn a_key_is_as_old_as_its_first_request_however_many_took_it_over() {
    for owners in 0..=4 {
        forgotten_after(owners);
    }
}

/// What becomes known of a write that another run has taken over, before its first owner is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Applied,
    NotApplied,
    Undone,
    Nothing,
}

/// A run with a write in doubt loses its code, another one takes the key over, and the first one's
/// code is there again; nobody but a person can tell anything.
struct Back {
    world: World,
    one: RunId,
    two: RunId,
    key: EffectKey,
}

impl Back {
    fn after(known: Known) -> (Self, Life) {
        let world = World::new();
        world.outside.script(|ask| match ask.at {
            at if at < 100 => Does::Lose(0),
            _ => Does::Answer(10),
        });
        world.outside.finds(|_| Find::CannotTell(5));
        let [a, b] = ["a", "b"].map(|name| ordering(&world, name, None));
        let life = world.live(&[a.erased()]);
        let one = life.start(&a, minutes("M", 1)).id();
        life.run_for(50);
        life.crash();
        let life = world.live(&[b.erased()]);
        let two = life.start(&b, minutes("M", 1)).id();
        life.run_for(20_000);
        let key = key_of(&life, two, "order");
        let back = Self {
            world,
            one,
            two,
            key,
        };
        match known {
            Known::Applied => back.rules(&life, Ruling::Applied),
            Known::NotApplied => back.rules(&life, Ruling::NotApplied),
            Known::Undone => {
                let wanted = life.block_on(life.engine.compensate_effect(&back.key, ANNA));
                wanted.unwrap();
            }
            Known::Nothing => {}
        }
        life.run_for(20_000);
        life.crash();
        let life = back.world.live(&[a.erased(), b.erased()]);
        life.run_for(200_000);
        (back, life)
    }

    fn rules(&self, life: &Life, ruling: Ruling) {
        let result = Payload::from(r#"{"id":"T-1"}"#);
        let result = (ruling == Ruling::Applied).then_some(result);
        let told = life.engine.settle_effect(&self.key, (ruling, result), ANNA);
        life.block_on(told).unwrap();
    }

    fn in_doubt(&self, life: &Life) -> Vec<RunId> {
        let filter = EffectFilter {
            run: None,
            in_doubt: true,
        };
        let page = life.block_on(life.engine.effects(filter, None)).unwrap();
        page.rows.iter().map(|row| row.run).collect()
    }
}

#[test]
fn an_owner_that_is_back_takes_what_is_known_by_the_one_that_took_its_key() {
    let ended = |kind: OutcomeKind| ("closed".to_owned(), Some(kind.as_str().to_owned()));
    for (known, kind) in [
        (Known::Applied, OutcomeKind::Completed),
        (Known::NotApplied, OutcomeKind::Completed),
        (Known::Undone, OutcomeKind::HandedOff),
    ] {
        let (back, life) = Back::after(known);
        let story = || back.world.describe(back.one);
        assert_eq!(
            stands(&life, back.one),
            ended(kind),
            "{known:?} {}",
            story()
        );
        assert_eq!(back.in_doubt(&life), [], "{known:?} {}", story());
        let orders = back.world.outside.requests("orders").len();
        assert!(orders <= 2, "{known:?}: {orders} requests {}", story());
        back.world.no_effect_twice();
    }
}

#[test]
fn an_owner_that_is_back_takes_no_result_of_another_request() {
    let world = World::new();
    world.outside.script(|ask| match ask.at {
        at if at < 100 => Does::Lose(0),
        _ => Does::Answer(10),
    });
    world.outside.finds(|_| Find::CannotTell(5));
    world.outside.ignore_keys();
    let [a, b, c] = ["a", "b", "c"].map(|name| ordering(&world, name, None));
    let life = world.live(&[a.erased()]);
    let one = life.start(&a, minutes("M", 1)).id();
    life.run_for(50);
    life.crash();
    let life = world.live(&[b.erased()]);
    let two = life.start(&b, minutes("M", 1)).id();
    life.run_for(20_000);
    let key = key_of(&life, two, "order");
    life.crash();
    // Its code is not there, so it sends nothing once a person has said that nothing came in.
    let life = world.live(&[c.erased()]);
    let told = life
        .engine
        .settle_effect(&key, (Ruling::NotApplied, None), ANNA);
    life.block_on(told).unwrap();
    let mut other = minutes("M", 1);
    other.actions = vec!["something else".to_owned()];
    let made = life.outcome(&life.start(&c, other));
    assert_eq!(made.kind, OutcomeKind::Completed);
    life.crash();
    let life = world.live(&[a.erased()]);
    life.run_for(200_000);
    let (state, outcome) = stands(&life, one);
    let story = world.describe(one);
    assert_eq!(
        (state.as_str(), outcome.as_deref()),
        ("closed", Some("handed_off")),
        "{story}"
    );
    let orders = world.outside.requests("orders");
    assert_eq!(orders.len(), 2, "nothing more is sent {story}");
}

#[test]
fn an_owner_that_is_back_asks_nobody_while_the_one_that_took_its_key_finds_out() {
    let (back, life) = Back::after(Known::Nothing);
    assert_eq!(back.in_doubt(&life), [back.two]);
    let asked = back.world.outside.look_ups().into_iter();
    let by_one = asked.filter(|ask| ask.run == back.one.to_string()).count();
    assert_eq!(stands(&life, back.one).1, None);
    back.rules(&life, Ruling::Applied);
    life.run_for(1_000);
    assert_eq!(stands(&life, back.one).0, "closed");
    assert_eq!(state_of(&life, &back.key), "applied");
    let asked = back.world.outside.look_ups().into_iter();
    let by_one_now = asked.filter(|ask| ask.run == back.one.to_string()).count();
    assert_eq!(by_one_now, by_one, "it asks nobody any more");
    back.world.must_be_sound();
}

#[test]
fn a_refused_undo_says_who_has_the_key_and_that_its_class_does_not_say_how() {
    let world = World::new();
    world.outside.script(|ask| match ask.at {
        at if at < 100 => Does::Lose(0),
        _ => Does::Answer(10),
    });
    let (a, b) = (ordering(&world, "a", None), for_good(&world));
    let life = world.live(&[a.erased()]);
    life.start(&a, minutes("M", 1));
    life.run_for(50);
    life.crash();
    let life = world.live(&[b.erased()]);
    let two = life.start(&b, minutes("M", 1)).id();
    life.run_for(60_000);
    let key = key_of(&life, two, "order");
    life.crash();
    let life = world.live(&[a.erased(), b.erased()]);
    life.run_for(400_000);
    let wanted = life.block_on(life.engine.compensate_effect(&key, ANNA));
    let refused = wanted.unwrap_err();
    assert_eq!(refused.code(), Code::CannotBeUndone);
    let words = refused.to_string();
    for part in [
        two.to_string().as_str(),
        "class for-good",
        "undo it by hand",
    ] {
        assert!(words.contains(part), "{words}");
    }
}

/// The same order in a class that does not say how it is undone.
fn for_good(world: &World) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define("for-good", 1);
    g.budget(Budget::new().answer_by(mins(60)).doubt_wait(days(1)));
    let order = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            NewTicket {
                title: m.actions[0].clone(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .add();
    g.finish(order, |_, ticket| ticket.clone())
        .expect("a valid class")
}
