//! Whether callers come alone.
//!
//! A caller that commits on its own thread may hold up an executor that all the others need, and
//! then nobody is ever seen beside it. So now and then a lone wish is handed over, and whoever asks
//! before it is answered shows whom its thread would have kept waiting.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// One lone wish of so many is handed over to see who comes meanwhile.
const SEEN_EVERY: u32 = 16;

/// So many wishes without company make callers count as alone again.
const ALONE_AFTER: u32 = 16;

/// What was seen of the callers.
#[derive(Debug, Default)]
pub(crate) struct Company {
    /// Wishes that were asked, ever.
    asked: AtomicU64,
    /// Wishes without company that are still missing until callers count as alone.
    missing: AtomicU32,
    /// Wishes that came alone.
    lone: AtomicU32,
}

/// A wish that was handed over, until its answer.
pub(crate) struct HandedOver<'a> {
    company: &'a Company,
    asked: u64,
}

impl Company {
    /// Notes a wish, `alone` when nobody waits for an answer; `None` when its caller may serve it.
    pub(crate) fn wish(&self, alone: bool) -> Option<HandedOver<'_>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let company = self;
        let handed_over = HandedOver { company, asked };
        if !alone || 0 < self.missing.load(Ordering::Relaxed) {
            return Some(handed_over);
        }
        let lone = self.lone.fetch_add(1, Ordering::Relaxed);
        (lone % SEEN_EVERY == SEEN_EVERY - 1).then_some(handed_over)
    }
}

impl HandedOver<'_> {
    /// It has its answer.
    pub(crate) fn answered(self) {
        let Company { asked, missing, .. } = self.company;
        if self.asked < asked.load(Ordering::Relaxed) {
            missing.store(ALONE_AFTER, Ordering::Relaxed);
            return;
        }
        // Two at once count one too few or too many, and nothing rests on it.
        let left = missing.load(Ordering::Relaxed).saturating_sub(1);
        missing.store(left, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Callers on one thread, each of which asks again once it is answered. A wish that its caller
    /// serves keeps the others from asking; one that is handed over is answered when all wait.
    fn kept_by_callers(company: &Company, callers: usize, wishes: usize) -> usize {
        let (mut kept, mut able) = (0, callers);
        let mut out = Vec::new();
        for _ in 0..wishes {
            match company.wish(out.is_empty()) {
                None => kept += 1,
                Some(handed_over) => {
                    out.push(handed_over);
                    able -= 1;
                }
            }
            if able == 0 {
                able = out.len();
                out.drain(..).for_each(HandedOver::answered);
            }
        }
        kept
    }

    #[test]
    fn a_caller_that_is_alone_serves_itself() {
        let kept = kept_by_callers(&Company::default(), 1, 1_000);
        assert!(900 < kept, "{kept}");
    }

    #[test]
    fn callers_of_one_thread_are_seen_to_be_many_and_stay_so() {
        for callers in [2, 3, 64] {
            let kept = kept_by_callers(&Company::default(), callers, 1_000);
            assert!(kept < 2 * SEEN_EVERY as usize, "{callers}: {kept}");
        }
    }

    #[test]
    fn who_is_left_alone_serves_itself_again() {
        let company = Company::default();
        kept_by_callers(&company, 64, 100);
        let kept = kept_by_callers(&company, 1, 1_000);
        assert!(900 < kept, "{kept}");
    }
}
