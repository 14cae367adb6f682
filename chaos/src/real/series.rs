//! One store through all its lives: what callers were told of it, what was done to it, and how it
//! stands in the end.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use mainstay_fault_disk::{Dice, Filler, Image, Journal, Mounted, Shim, Volume};
use mainstay_types::{Millis, RunId};
use tempfile::TempDir;
use tokio::task::block_in_place;

use super::judge::{self, Past};
use super::life::Life;
use super::plan::{Ground, LifePlan, SeriesPlan, Trouble};
use super::process::Process;
use super::report::{Breached, Figures, Meter, Skipped, Tally};
use super::service::Service;
use super::speech::{Ask, Errand, Heard, Say};
use super::{Options, RealError};
use crate::campaign::Plan;
use crate::fault::Kind;
use crate::guarantee::Breach;
use crate::world::book::{Book, Told};
use crate::world::injector::Hit;

/// Runs of one store, at most: what comes after is only waited for.
const ORDERS_MAX: usize = 600;
/// Small segments are filled, sealed and freed again soon.
const SEGMENT_BYTES: u32 = 256 << 10;
/// Above the room that a store wants before it begins a run.
const VOLUME_BYTES: u64 = 320 << 20;
/// One run in so many percent is canceled once it has begun.
const CANCEL_PERCENT: u64 = 6;
/// Files whose syncs an acknowledgement is about, by what is in their names.
const LOG: &str = "log/";

/// See the module.
pub(super) struct Series<'a> {
    pub(super) options: &'a Options,
    pub(super) plan: SeriesPlan,
    pub(super) dice: Dice,
    seed: u64,
    class: &'a Plan,
    service: Service,
    book: Arc<Book>,
    since: Instant,
    /// Orders whose callers do not have their outcomes.
    open: BTreeSet<usize>,
    next: usize,
    /// How far the wall clock is from the system's, in ms.
    pub(super) clock_ms: i64,
    lives: Vec<Millis>,
    hits: Vec<Hit>,
    kinds: Vec<Kind>,
    pub(super) tally: Tally,
    breaches: Vec<Breach>,
    place: Place,
}

/// Where the store is.
struct Place {
    store: PathBuf,
    /// The store as the last loss of power left it.
    base: Image,
    /// With the folder that it is in.
    shim: Option<(Shim, TempDir)>,
    // Before the folder that it is mounted in.
    volume: Option<(PathBuf, Mounted)>,
    folder: TempDir,
}

/// Why a store has no place.
enum NoPlace {
    /// This machine cannot hurt it in the way that is planned.
    NotHere(String),
    System(io::Error),
}

impl From<io::Error> for NoPlace {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl Place {
    fn of(options: &Options, plan: &SeriesPlan) -> Result<Self, NoPlace> {
        let not_here = |error: &dyn std::fmt::Display| NoPlace::NotHere(error.to_string());
        // A name that says whose it is, for whoever finds one that a kill has left.
        let folder = tempfile::Builder::new()
            .prefix(&format!("mainstay-chaos-{}-", plan.no))
            .tempdir_in(&options.folder)?;
        // The shim knows folders by their real names.
        let real = folder.path().canonicalize()?;
        let mut place = Self {
            store: real.join("store"),
            base: Image::default(),
            shim: None,
            volume: None,
            folder,
        };
        match plan.ground {
            Ground::Folder => {}
            Ground::Told => {
                // Where stores are may have a name that nothing can be loaded from.
                let own = tempfile::tempdir()?;
                let shim = Shim::build(own.path()).map_err(|error| not_here(&error))?;
                place.shim = Some((shim, own));
            }
            Ground::Volume => {
                let at = real.join("volume");
                let mounted = Mounted::at(&at, VOLUME_BYTES).map_err(|error| not_here(&error))?;
                place.store = at.join("store");
                place.volume = Some((at, mounted));
            }
        }
        Ok(place)
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    /// Keeps what did not hold, and says where; a volume goes with the process.
    fn kept(self) -> String {
        let path = self.folder.keep();
        if let Some((volume, _mounted)) = &self.volume {
            Image::read(volume).write(&path.join("kept"));
        }
        path.display().to_string()
    }
}

impl<'a> Series<'a> {
    /// Lets a store live through all that is planned; what came out.
    pub(super) async fn run(
        class: &'a Plan,
        (options, plan): (&'a Options, SeriesPlan),
        meter: &Meter,
    ) -> Result<Tally, RealError> {
        let place = match Place::of(options, &plan) {
            Ok(place) => place,
            // Said aloud instead: what cannot be tried here is not said to hold.
            Err(NoPlace::NotHere(why)) => return Ok(not_tried(&plan, why)),
            Err(NoPlace::System(error)) => return Err(error.into()),
        };
        let seed = options
            .seed
            .wrapping_mul(1_000_003)
            .wrapping_add(plan.no as u64);
        let mut series = Self {
            options,
            plan,
            dice: Dice::of(seed, "series"),
            seed,
            class,
            service: Service::start(&class.setup, seed).await?,
            book: Arc::default(),
            since: Instant::now(),
            open: BTreeSet::new(),
            next: 0,
            clock_ms: 0,
            lives: Vec::new(),
            hits: Vec::new(),
            kinds: Vec::new(),
            tally: Tally::default(),
            breaches: Vec::new(),
            place,
        };
        for _ in 0..plan.deaths {
            let life = LifePlan::draw(&series.dice, plan.ground, &options.without);
            Life::of(&mut series, life).await?;
            meter.died();
            if series.plan.ground == Ground::Told {
                series.loses_power();
            }
            // One store that does not go on has said enough.
            if !series.breaches.is_empty() {
                break;
            }
        }
        series.ends().await
    }

    pub(super) fn errand(&self) -> Errand {
        let small = self.plan.ground != Ground::Folder || self.seed.is_multiple_of(2);
        Errand {
            class: self.class.setup.class.data.name.to_string(),
            store: self.place.store.clone(),
            outside: self.service.url(),
            seed: self.seed,
            clock_ms: self.clock_ms,
            segment_bytes: small.then_some(SEGMENT_BYTES),
        }
    }

    /// A worker of this store.
    pub(super) fn worker(&mut self) -> Result<Process, RealError> {
        let now = self.now();
        self.lives.push(now);
        let mut environment = Vec::new();
        if let Some((shim, _)) = &self.place.shim {
            let journal = self.place.journal();
            // It is not there before the first life.
            let _ = std::fs::remove_file(&journal);
            environment.extend(shim.environment(&self.place.store, &journal));
            if self.options.without_syncs {
                environment.push(("ORDEAL_LIE", PathBuf::from(LOG)));
            }
        }
        Ok(Process::start(self.options, &self.errand(), environment)?)
    }

    /// Another process that wants the same store.
    pub(super) fn rival(&self) -> Result<Process, RealError> {
        Ok(Process::start(self.options, &self.errand(), Vec::new())?)
    }

    /// Takes all room of the store's volume.
    pub(super) fn filler(&self) -> Option<Filler> {
        let (volume, _) = self.place.volume.as_ref()?;
        Some(block_in_place(|| Filler::of(volume)))
    }

    fn now(&self) -> Millis {
        Millis::new(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Something that must not be.
    pub(super) fn breach(&mut self, property: &str, what: String) {
        self.breaches.push(Breach {
            property: property.to_owned(),
            what,
        });
    }

    /// The wall clock jumps.
    pub(super) fn jumps(&mut self, ms: i64) {
        let kind = match ms < 0 {
            true => Kind::ClockBack,
            false => Kind::ClockForward,
        };
        self.clock_ms += ms;
        self.tally.figures.clock_jumps += 1;
        self.kinds.push(kind);
        self.hits.push(Hit {
            fault: self.kinds.len() - 1,
            at: self.now(),
            call: String::new(),
            state: "driven",
        });
    }

    /// Asks a worker that has just begun for everything that is open.
    pub(super) async fn calls_open(&mut self, worker: &mut Process) -> Result<(), RealError> {
        for order in &self.open {
            worker.ask(&Ask::Call { order: *order }).await?;
        }
        Ok(())
    }

    pub(super) fn has_all_outcomes(&self) -> bool {
        self.open.is_empty()
    }

    /// Asks for new runs until so many are open.
    pub(super) async fn calls_more(
        &mut self,
        worker: &mut Process,
        open: usize,
    ) -> Result<(), RealError> {
        while self.open.len() < open && self.next < ORDERS_MAX {
            self.calls_one_more(worker).await?;
        }
        Ok(())
    }

    /// Asks for one new run.
    pub(super) async fn calls_one_more(&mut self, worker: &mut Process) -> Result<(), RealError> {
        let order = self.next;
        self.next += 1;
        self.open.insert(order);
        worker.ask(&Ask::Call { order }).await?;
        Ok(())
    }

    /// Writes down what a caller was told; a run that is to be canceled.
    pub(super) fn told(&mut self, order: usize, heard: Heard) -> Option<RunId> {
        let Some(told) = heard.told() else {
            self.breach("speech", "a worker says what nobody understands".to_owned());
            return None;
        };
        let name = match &told {
            Told::Started(_) => "starts",
            Told::Ready(..) | Told::Later => "answers",
            Told::Outcome(..) => "outcomes",
            Told::Canceled => "cancels",
        };
        let times = self.tally.figures.acknowledged.entry(name.to_owned());
        *times.or_default() += 1;
        let is_new = self.book.run_of(order).is_none();
        let begun = told.run().filter(|_| is_new);
        if matches!(told, Told::Outcome(..)) {
            self.open.remove(&order);
        }
        self.book.write(order, self.now(), told);
        let may = !self.options.without.contains(&Trouble::Cancel);
        begun.filter(|_| may && self.dice.percent(CANCEL_PERCENT))
    }

    /// What a process had said before it was killed counts.
    pub(super) fn heard_late(&mut self, said: Vec<Say>) {
        for say in said {
            if let Say::Told { order, told } = say {
                let _ = self.told(order, told);
            }
        }
    }

    /// Of what the dead process wrote the disk has what was synced, and any part of the rest.
    fn loses_power(&mut self) {
        let place = &mut self.place;
        block_in_place(|| {
            let journal = Journal::read(&place.journal());
            let volume = Volume::after(&place.base, &journal, journal.entries().len());
            place.base = volume.lost_power(&self.dice);
            place.base.write(&place.store);
        });
        self.tally.figures.power_losses += 1;
    }

    /// Nothing goes wrong any more: everything has to end. Then all is judged.
    async fn ends(mut self) -> Result<Tally, RealError> {
        self.service.calm();
        // A loss of power is over: whoever drives the store now needs no shim.
        self.place.shim = None;
        let stuck = match self.breaches.is_empty() {
            true => Life::last(&mut self).await?,
            false => None,
        };
        let past = Past {
            seed: self.seed,
            stuck,
            book: &self.book,
            lives: std::mem::take(&mut self.lives),
            faults: (
                std::mem::take(&mut self.hits),
                std::mem::take(&mut self.kinds),
            ),
        };
        let (found, counts) =
            judge::judge(self.class, (&self.place.store, &self.service), past).await;
        self.breaches.extend(found);
        Ok(self.tallied(counts))
    }

    fn tallied(self, counts: Figures) -> Tally {
        let kept = match self.breaches.is_empty() {
            true => String::new(),
            false => self.place.kept(),
        };
        let violations = self.breaches.into_iter().map(|breach| Breached {
            store: self.plan.no,
            property: breach.property,
            what: breach.what,
            kept: kept.clone(),
        });
        let figures = Figures {
            troubles_outside: self.service.troubles(),
            ..counts
        };
        let mut tally = Tally {
            violations: violations.collect(),
            ..self.tally
        };
        tally.figures.add(&figures);
        tally
    }
}

fn not_tried(plan: &SeriesPlan, why: String) -> Tally {
    let what = match plan.ground {
        Ground::Volume => Trouble::FullDisk,
        Ground::Told | Ground::Folder => Trouble::Power,
    };
    Tally {
        skipped: vec![Skipped {
            what: what.as_str().to_owned(),
            why,
        }],
        ..Tally::default()
    }
}
