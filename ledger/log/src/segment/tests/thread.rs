//! With the log's own thread and on the real disk: the same answers, and nothing waits for ever.

use super::*;
use crate::files::RealDisk;

fn beside() -> LogSettings {
    LogSettings {
        segment_bytes: 64 << 10,
        first_bytes: 16 << 10,
        short_bytes: 8 << 10,
        ballast_bytes: 1 << 20,
        beside: true,
    }
}

#[test]
fn readers_see_whole_frames_while_segments_are_sealed_freed_and_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Log::open(folder.path(), Arc::new(RealDisk), STORE, beside()).unwrap();
    let (mut log, archive) = open();
    let reading = Arc::clone(&archive);
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let mut rounds = 0;
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let mut last = None;
            for frame in reading.frames(None) {
                match frame {
                    Ok(frame) => {
                        let said: Vec<_> = frame.entries().collect::<Result<_, _>>().unwrap();
                        assert_eq!(said.len(), 2);
                        assert!(last < Some(frame.place));
                        last = Some(frame.place);
                    }
                    // What was to be read next was freed meanwhile, and nothing else.
                    Err(LogError::Damaged { place, .. }) => {
                        assert!(place.unwrap().segment < reading.oldest());
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
            for closed in reading.list_closed(None) {
                closed.unwrap();
            }
            rounds += 1;
        }
        rounds
    });
    let mut frame = FrameBuilder::new();
    for n in 0..2_000_u32 {
        frame.clear();
        push(&mut frame, &row("filling", &"x".repeat(400)), None);
        let [a, b, ..] = n.to_le_bytes();
        push(
            &mut frame,
            &Said::Closed(run(a ^ b), 1, n.to_le_bytes().to_vec()),
            None,
        );
        log.make_room(frame.bytes() - HEADER_BYTES).unwrap();
        let written = log.append(&mut frame, Priority::Ordinary).unwrap();
        log.sync().unwrap();
        log.publish(written, &frame);
        let oldest = archive.oldest();
        if oldest.0 + 6 < log.end().segment.0 {
            archive.free(oldest).unwrap();
        }
    }
    drop(stop);
    assert!(0 < reader.join().unwrap());
    let (end, oldest) = (log.end(), archive.oldest());
    assert!(10 < end.segment.0, "{end}");
    let frames = archive.frames(None).count();
    drop((log, archive));
    let (log, archive) = open();
    assert_eq!((log.end(), archive.oldest()), (end, oldest));
    assert_eq!(archive.frames(None).count(), frames);
    for info in archive.segments() {
        check_segment(&archive, info.no).unwrap();
    }
}
