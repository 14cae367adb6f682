//! Chaos with people in it: runs that are continued, canceled, terminated and lifted at random, run
//! into the doubts and waits of a failing world, leave memory and come back, while processes die.
//!
//! A failing seed is in the message; `MAINSTAY_SEED` runs that one alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_class::{Class, Extend, TaskClass, hours, mins, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Engine;
use mainstay_sim::SeededRng;
use mainstay_types::{Code, Millis, RunId};

use crate::chaos::{chaotic, draw, seeds};
use crate::world::classes::{Question, Report, meeting_as, walkthrough};
use crate::world::outside::panicked;
use crate::world::script::busy;
use crate::world::{Does, Find, Life, Minutes, Moment, World, minutes};

const SEEDS: u64 = 60;
const ACTIONS: usize = 3;

/// The meeting, with little time and few tokens, so that laps are handed off.
fn meeting(world: &World) -> Class<Minutes, Report> {
    meeting_as(&world.outside, |g| {
        let budget = walkthrough().answer_by(secs(6)).retries(3).cost(18);
        g.budget(budget.doubt_wait(secs(20)))
            .on_downtime(Extend(hours(1)));
    })
}

/// A read that may be put off for minutes, and code that panics while it is `broken`.
fn patient(world: &World, broken: &Arc<AtomicBool>) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("patient", 1);
    g.budget(
        mainstay_class::Budget::new()
            .answer_by(mins(30))
            .retries(20),
    );
    g.on_downtime(Extend(hours(1)));
    let question = |m: &Minutes, ()| -> Question { m.question() };
    let told = g
        .read("told", &world.outside.read("patience"), (), question)
        .add();
    let broken = Arc::clone(broken);
    let again = g.read(
        "again",
        &world.outside.read("patience"),
        told,
        move |m, _| {
            if broken.load(Ordering::SeqCst) {
                panicked("the code is broken".to_owned());
            }
            m.question()
        },
    );
    let again = again.add();
    g.finish(again, |_, told| told.by.clone())
        .expect("a valid class")
}

/// Everything a seed needs.
struct Play {
    world: World,
    meeting: Class<Minutes, Report>,
    patient: Class<Minutes, String>,
    broken: Arc<AtomicBool>,
    rng: SeededRng,
    /// What people did and it was taken.
    done: BTreeMap<&'static str, u32>,
}

impl Play {
    fn new(seed: u64) -> Self {
        let world = chaotic(seed);
        let broken = Arc::new(AtomicBool::new(seed.is_multiple_of(2)));
        let (meeting, patient) = (meeting(&world), patient(&world, &broken));
        let rng = SeededRng::stream(seed, "operators");
        Self {
            world,
            meeting,
            patient,
            broken,
            rng,
            done: BTreeMap::new(),
        }
    }

    fn life(&self) -> Life {
        let one = self.meeting.erased();
        self.world.live(&[one, self.patient.erased()])
    }

    fn count(&mut self, what: &'static str, taken: bool) {
        *self.done.entry(what).or_default() += u32::from(taken);
    }

    /// Starts what has not started.
    fn start(&self, life: &Life) {
        let (engine, meeting, patient) = (&life.engine, &self.meeting, &self.patient);
        life.block_on(async {
            for key in ["A", "B"] {
                let start = engine.start(meeting, minutes(key, ACTIONS)).key(key);
                start.or_continue().await.expect("it is not refused");
            }
            let start = engine.start(patient, minutes("P", 0)).key("P");
            start.await.expect("it is not refused");
        });
    }

    /// Somebody does something to one of the runs.
    fn act(&mut self, engine: &Engine, life: &Life) {
        let runs = self.world.runs();
        let run = runs[usize::try_from(draw(&self.rng, runs.len() as u64)).unwrap()];
        match draw(&self.rng, 8) {
            0..4 => {
                let lap = life.block_on(engine.continue_run(run, "me", "on"));
                let taken = self.is_taken(lap.map(drop));
                self.count("continue", taken);
            }
            4 => {
                let end = life.block_on(engine.cancel(run, "me", "no more"));
                let taken = self.is_taken(end);
                self.count("cancel", taken);
            }
            5 => {
                let end = life.block_on(engine.terminate(run, "me", "no more"));
                let taken = self.is_taken(end);
                self.count("terminate", taken);
            }
            _ => {
                let broken = self.broken.load(Ordering::SeqCst);
                self.broken.store(!broken, Ordering::SeqCst);
            }
        }
    }

    /// Whether it was taken; it may be refused, and nothing else.
    fn is_taken(&self, end: Result<(), mainstay_runtime::EngineError>) -> bool {
        let Err(error) = end else { return true };
        let refusals = [Code::ContinueRefused, Code::RunEnded, Code::RunQuarantined];
        assert!(
            refusals.contains(&error.code()),
            "seed {}: {error}",
            self.world.seed
        );
        false
    }

    /// One life: people act, time passes, and in the end the process is killed.
    fn live(&mut self) {
        let life = self.life();
        self.start(&life);
        for _ in 0..1 + draw(&self.rng, 6) {
            let long = draw(&self.rng, 6) == 0;
            let max = if long { 400_000 } else { 4_000 };
            life.run_for(draw(&self.rng, max));
            let engine = life.engine.clone();
            self.act(&engine, &life);
        }
        // Killed in the middle of an append, as likely as not.
        let moment = [Moment::Before, Moment::Durable, Moment::Acknowledged];
        let moment = moment[usize::try_from(draw(&self.rng, 3)).unwrap()];
        match draw(&self.rng, 3) {
            0 => {}
            1 => self.world.ledger.trap_parking(moment),
            _ => {
                let append = 1 + usize::try_from(draw(&self.rng, 4)).unwrap();
                self.world.ledger.trap(append, moment);
            }
        }
        life.run_for(draw(&self.rng, 600));
        life.crash();
        self.world.ledger.disarm();
        self.world.must_be_sound();
        let down = draw(&self.rng, 20_000);
        self.world.timers.advance(Millis::new(down));
    }

    /// No more faults: whatever is quarantined is lifted, whatever can be gone on from is.
    fn finish(&mut self) {
        self.world.outside.script(|_| Does::Answer(10));
        self.world.outside.finds(|_| Find::Truth(5));
        self.broken.store(false, Ordering::SeqCst);
        let life = self.life();
        for run in self.world.runs() {
            self.end(&life, run);
        }
        let (world, runs) = (&self.world, self.world.runs());
        let closed = || {
            runs.iter()
                .all(|&id| world.state(id).head().unwrap().closed)
        };
        // A doubt of an ended lap is asked about once an hour.
        assert!(
            life.until(10_000_000, closed),
            "seed {}: {}",
            world.seed,
            all(world)
        );
        life.run_for(10);
        assert_eq!(life.in_memory(), 0, "seed {}", world.seed);
        assert!(life.engine.not_driven().is_empty(), "seed {}", world.seed);
    }

    fn end(&self, life: &Life, run: RunId) {
        let seed = self.world.seed;
        for _ in 0..6 {
            let lap = life.block_on(life.engine.continue_run(run, "me", "on"));
            self.is_taken(lap.map(drop));
            let is_over = || {
                let head = self.world.state(run).head().unwrap().clone();
                head.lap.outcome.map(|outcome| outcome.kind)
            };
            life.until(4_000_000, || is_over().is_some());
            let kind = is_over().unwrap_or_else(|| panic!("seed {seed}: {}", all(&self.world)));
            match kind {
                OutcomeKind::Completed | OutcomeKind::Canceled | OutcomeKind::Terminated => return,
                OutcomeKind::Degraded
                | OutcomeKind::HandedOff
                | OutcomeKind::Failed
                | OutcomeKind::Rejected => {}
            }
        }
    }
}

fn all(world: &World) -> String {
    world.runs().iter().map(|&id| world.describe(id)).collect()
}

#[test]
fn whatever_people_do_and_wherever_it_crashes_no_effect_is_twice_and_every_run_ends() {
    let (mut kinds, mut done) = (BTreeMap::new(), BTreeMap::new());
    let (mut laps, mut parked, mut lifted) = (0, 0, 0);
    for seed in seeds(SEEDS) {
        let mut play = Play::new(seed);
        play.world.outside.patience(busy_for(seed));
        for _ in 0..1 + draw(&play.rng, 4) {
            play.live();
        }
        play.finish();
        play.world.must_be_sound();
        for run in play.world.runs() {
            let head = play.world.state(run).head().unwrap().clone();
            let kind = head.lap.outcome.unwrap().kind;
            let written = play.world.outside.effects();
            let mine = written
                .iter()
                .filter(|effect| effect.run == run.to_string())
                .count();
            let is_meeting = head.class.name.as_str() == "meeting";
            if is_meeting && kind == OutcomeKind::Completed {
                assert_eq!(mine, ACTIONS, "seed {seed}: {}", play.world.describe(run));
            }
            *kinds.entry(kind).or_insert(0) += 1;
        }
        laps += play.world.ledger.count("LapStarted");
        lifted += play.world.ledger.count("QuarantineLifted");
        parked += play.world.ledger.parked();
        for (what, count) in play.done {
            *done.entry(what).or_insert(0) += count;
        }
    }
    println!("{kinds:?}, {done:?}, {laps} laps, {parked} parked, {lifted} lifted");
    if std::env::var("MAINSTAY_SEED").is_err() {
        let many = usize::try_from(SEEDS).unwrap();
        assert!(many / 2 < laps && many / 2 < parked, "it went on and left");
        assert!(5 < lifted, "it was lifted");
        assert!(done.values().all(|&count| 5 < count), "{done:?}");
        assert!(
            SEEDS < kinds[&OutcomeKind::Completed],
            "most come through: {kinds:?}"
        );
    }
}

/// How often a seed's patient read is put off, and for how long.
fn busy_for(seed: u64) -> impl FnMut(&crate::world::Ask) -> Option<Does> + Send + 'static {
    let rng = SeededRng::stream(seed, "patience");
    move |ask| {
        let put_off = ask.dependency == "patience" && draw(&rng, 2) == 0;
        put_off.then(|| Does::Fail(10, busy(70_000 + draw(&rng, 200_000))))
    }
}
