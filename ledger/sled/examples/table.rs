//! How fast the table over sled takes what runs leave, with look-ups of free keys beside it.
//!
//! `cargo run --release --example table -- [runs] [keys of each run that stay] [1: only
//! replayed]`. For measurements
//! by hand; nothing here is a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mainstay_ledger_log::conformance::{
    Change, Pressure, RealDisk, STORE, Site, Standing, StandingSettings, place, value,
};
use mainstay_ledger_sled::SledFactory;

fn key(kind: u8, number: u64) -> Vec<u8> {
    // Spread like hashes are.
    let mixed = u128::from(number).wrapping_mul(0x2545_f491_4f6c_dd1d_9e37_79b9_7f4a_7c15);
    [&[kind][..], &mixed.to_be_bytes()].concat()
}

fn put(key: Vec<u8>, bytes: usize) -> Change {
    let value = Some(Arc::from(value(&key, 1, bytes)));
    let fresh = true;
    Change { key, value, fresh }
}

fn gone(key: Vec<u8>) -> Change {
    Change {
        key,
        value: None,
        fresh: false,
    }
}

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (runs, keys): (u64, u64) = (args.next().unwrap_or(500_000), args.next().unwrap_or(1));
    let folder = tempfile::tempdir().expect("a folder");
    let site = Site {
        folder: folder.path().join("table"),
        store: STORE,
        disk: Arc::new(RealDisk),
    };
    if args.next() == Some(1) {
        return replay(&site, runs, keys);
    }
    let opened = Standing::open(
        site.clone(),
        Arc::new(SledFactory),
        StandingSettings::default(),
    );
    let standing = Arc::new(opened.expect("a table").0);
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (standing, done) = (Arc::clone(&standing), Arc::clone(&done));
        std::thread::spawn(move || read(&standing, &done))
    };
    write(&standing, runs, keys);
    done.store(true, Ordering::Relaxed);
    println!("{}", reader.join().expect("the reader ends"));
    look_up(&standing);
    let begun = Instant::now();
    standing.close().expect("it closes");
    println!("closed in {:?}", begun.elapsed());
    for _ in 0..2 {
        let begun = Instant::now();
        let opened = Standing::open(
            site.clone(),
            Arc::new(SledFactory),
            StandingSettings::default(),
        );
        println!("opened in {:?}, {}", begun.elapsed(), memory("VmRSS"));
        opened.expect("a table").0.close().expect("it closes");
    }
    let db = std::fs::metadata(folder.path().join("table/db")).map_or(0, |file| file.len());
    println!("{}; {} MiB of file", memory("VmHWM"), db >> 20);
}

/// Begins and ends runs as fast as they are taken.
fn write(standing: &Standing, runs: u64, keys: u64) {
    let begun = Instant::now();
    for run in 0..runs {
        let mut rows = vec![put(key(0x11, run), 150), put(key(0x20, run), 16)];
        rows.extend((0..keys).map(|n| put(key(0x30, run * keys + n), 120)));
        standing.write(rows, place(usize::try_from(run * 2 + 1).expect("few")));
        // A run lives while 64 others begin.
        if let Some(old) = run.checked_sub(64) {
            let rows = vec![gone(key(0x11, old)), gone(key(0x20, old))];
            standing.write(rows, place(usize::try_from(run * 2 + 2).expect("few")));
        }
        while standing.pressure() != Pressure::Calm {
            std::thread::sleep(Duration::from_micros(100));
        }
        if run % 100_000 == 99_999 {
            println!("{run} runs in {:?}, {:?}", begun.elapsed(), standing.lag());
        }
    }
    standing.flush().expect("it is applied");
    let time = begun.elapsed().as_secs_f64();
    println!(
        "{:.0} runs/s, {:.0} changes/s",
        runs as f64 / time,
        (runs * (4 + keys)) as f64 / time
    );
}

/// Looks up keys that are free and rows that are not there, until it is told to end.
fn read(standing: &Standing, done: &AtomicBool) -> String {
    let mut times = Vec::new();
    for number in 1_u64 << 40.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        standing.look_up(&key(0x30, number)).expect("it is free");
        let begun = Instant::now();
        standing.get(&key(0x21, number)).expect("it is read");
        times.push(begun.elapsed());
        std::thread::sleep(Duration::from_micros(200));
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 1_000];
    format!(
        "reads: {:?} p50, {:?} p99, {:?} p99.9, {:?}",
        at(500),
        at(990),
        at(999),
        at(1_000)
    )
}

fn look_up(standing: &Standing) {
    const LOOKS: u32 = 20_000;
    let begun = Instant::now();
    for number in 0..LOOKS {
        standing
            .look_up(&key(0x30, u64::from(number) << 32))
            .expect("it is free");
    }
    println!("{:?} a look-up when idle", begun.elapsed() / LOOKS);
}

/// The table made anew from a log of the same runs.
fn replay(site: &Site, runs: u64, keys: u64) {
    let begun = Instant::now();
    let site = Site {
        folder: site.folder.with_file_name("anew"),
        ..site.clone()
    };
    let opened = Standing::open(site, Arc::new(SledFactory), StandingSettings::default());
    let standing = opened.expect("a table").0;
    for run in 0..runs {
        let mut rows = vec![put(key(0x11, run), 150), put(key(0x20, run), 16)];
        rows.extend((0..keys).map(|n| put(key(0x30, run * keys + n), 120)));
        if let Some(old) = run.checked_sub(64) {
            rows.extend([gone(key(0x11, old)), gone(key(0x20, old))]);
        }
        let end = place(usize::try_from(run + 1).expect("few"));
        standing.replay(rows, end).expect("it is taken");
    }
    standing.flush().expect("it is applied");
    println!("replayed in {:?}", begun.elapsed());
    standing.close().expect("it closes");
}

fn memory(what: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(what));
    line.unwrap_or_default().to_owned()
}
