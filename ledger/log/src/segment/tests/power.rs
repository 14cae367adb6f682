//! The power goes at any call: what was acknowledged is there, what was not is whole or absent.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Says things and frees segments until the power is gone; what was acknowledged, and what was
/// under way.
fn work(told: &mut Told, rng: &mut StdRng) -> Vec<Vec<Said>> {
    for n in 0..60_u8 {
        let filling = "x".repeat(rng.random_range(0..700));
        let one = vec![
            records(n % 5, u64::from(n), 1),
            row("filling", &filling),
            closed(n, "row"),
        ];
        if told.try_say(&one).is_err() {
            return vec![one];
        }
        if rng.random_range(0..8) == 0 {
            let two = [
                vec![row("two", "1")],
                vec![row("two", "2"), closed(200, "row")],
            ];
            let done = pair(told, &two);
            if done.is_err() {
                return two.to_vec();
            }
        }
        let oldest = told.archive.oldest();
        let frees = rng.random_range(0..12) == 0 && oldest < told.log.end().segment;
        if frees && told.archive.free(oldest).is_err() {
            return Vec::new();
        }
    }
    Vec::new()
}

/// Two frames with one sync.
fn pair(told: &mut Told, two: &[Vec<Said>; 2]) -> Result<(), LogError> {
    let room: usize = two.iter().flatten().map(bytes_of).sum();
    let segment = told.log.make_room(room + 2 * HEADER_BYTES)?;
    let mut written = Vec::new();
    for said in two {
        let mut frame = FrameBuilder::new();
        told.truth.push_all(&mut frame, segment, said);
        written.push((told.log.append(&mut frame, Priority::Ordinary)?, frame));
    }
    told.log.sync()?;
    for ((written, frame), said) in written.iter().zip(two) {
        told.log.publish(*written, frame);
        let segment = written.place.segment;
        told.truth.frames.push((segment, said.clone()));
    }
    Ok(())
}

/// The frames of an image are the acknowledged ones that are kept, and then some of those that were
/// under way, in order.
fn holds_what_was_acknowledged(
    archive: &Archive,
    truth: &Truth,
    under_way: &[Vec<Said>],
    what: &str,
) {
    let found = all_frames(archive);
    let oldest = archive.oldest();
    let kept = truth
        .frames
        .iter()
        .filter(|(segment, _)| oldest <= *segment);
    let kept: Vec<Vec<Said>> = kept.map(|(_, said)| said.clone()).collect();
    assert!(
        kept.len() <= found.len(),
        "{what}: {} of {} frames",
        found.len(),
        kept.len()
    );
    let (first, more) = found.split_at(kept.len());
    assert_eq!(first, kept, "{what}");
    assert!(under_way.starts_with(more), "{what}: {more:?}");
}

#[test]
fn power_that_goes_at_any_call_loses_nothing_that_was_acknowledged() {
    for calls in 0..260 {
        for seed in [calls, 1_000 + calls] {
            let what = format!("power lost after {calls} calls, seed {seed}");
            let mut rng = StdRng::seed_from_u64(seed);
            let disk = MemoryDisk::new();
            disk.lose_power_after(calls);
            let opened = open(&disk);
            let mut truth = Truth::default();
            let mut under_way = Vec::new();
            if let Ok((log, archive)) = opened {
                let frame = FrameBuilder::new();
                let mut told = Told {
                    log,
                    archive,
                    truth,
                    frame,
                };
                under_way = work(&mut told, &mut rng);
                truth = told.truth.clone();
            }
            let share = [0, 10, 50, 90, 100][rng.random_range(0..5)];
            let image = disk.after_power_loss(|| rng.random_range(0..100) < share);
            // It may go again while the log is opened.
            image.lose_power_after(rng.random_range(0..12));
            let _ = open(&image);
            let image = image.after_power_loss(|| rng.random_range(0..100) < share);
            let (log, archive) = open(&image).unwrap_or_else(|error| panic!("{what}: {error}"));
            holds_what_was_acknowledged(&archive, &truth, &under_way, &what);
            // And it goes on.
            truth.frames = {
                let oldest = archive.oldest();
                let mut frames: Vec<_> = truth
                    .frames
                    .into_iter()
                    .filter(|(no, _)| oldest <= *no)
                    .collect();
                let more = all_frames(&archive).split_off(frames.len());
                frames.extend(more.into_iter().map(|said| (log.end().segment, said)));
                frames
            };
            let frame = FrameBuilder::new();
            let mut told = Told {
                log,
                archive,
                truth,
                frame,
            };
            for n in 0..12 {
                told.say(&[row("after", &"x".repeat(100 * n))]);
            }
            let truth = told.truth.clone();
            drop(told);
            let image = image.after_power_loss(|| false);
            let (_log, archive) = open(&image).unwrap();
            holds_what_was_acknowledged(&archive, &truth, &[], &what);
        }
    }
}

#[test]
fn without_the_sync_the_same_harness_sees_losses() {
    let mut lost = 0;
    for seed in 0..20 {
        let disk = MemoryDisk::new();
        let mut told = Told::new(&disk);
        told.say(&[row("a", "1")]);
        // Acknowledged without a sync: what this log never does.
        told.append(&[row("b", &"x".repeat(100 * seed))]).unwrap();
        let image = disk.after_power_loss(|| false);
        let (_log, archive) = open(&image).unwrap();
        lost += usize::from(all_frames(&archive).len() < 2);
    }
    assert_eq!(lost, 20);
}
