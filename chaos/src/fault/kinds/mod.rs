//! One file per kind of fault: what it is, where it happens, what it does.

mod adapter_panic;
mod broken_off;
mod canceled;
mod clock_back;
mod clock_forward;
mod disk_errors;
mod disk_full;
mod done_and_broken_off;
mod done_in_part;
mod done_late;
mod done_twice;
mod failed_sync;
mod fewer_workers;
mod gone_for_good;
mod killed;
mod look_up_blind;
mod look_up_fails;
mod look_up_unanswered;
mod overloaded;
mod partial_reply;
mod power_loss;
mod rate_limited;
mod refused;
mod reply_lost;
mod slow;
mod slow_sync;
mod small_quota;
mod stale_reply;
mod stalled;
mod started_again;
mod still_at_it;
mod unanswered;
mod usurped;
mod wrong_shape;

use super::Named;

/// All kinds, in the order of [`super::Kind`].
pub(super) const ALL: [Named; 34] = [
    slow::NAMED,
    rate_limited::NAMED,
    overloaded::NAMED,
    small_quota::NAMED,
    fewer_workers::NAMED,
    gone_for_good::NAMED,
    wrong_shape::NAMED,
    partial_reply::NAMED,
    stale_reply::NAMED,
    refused::NAMED,
    broken_off::NAMED,
    unanswered::NAMED,
    adapter_panic::NAMED,
    reply_lost::NAMED,
    done_and_broken_off::NAMED,
    done_late::NAMED,
    done_twice::NAMED,
    done_in_part::NAMED,
    look_up_blind::NAMED,
    still_at_it::NAMED,
    look_up_fails::NAMED,
    look_up_unanswered::NAMED,
    disk_full::NAMED,
    disk_errors::NAMED,
    slow_sync::NAMED,
    failed_sync::NAMED,
    killed::NAMED,
    power_loss::NAMED,
    stalled::NAMED,
    usurped::NAMED,
    clock_forward::NAMED,
    clock_back::NAMED,
    canceled::NAMED,
    started_again::NAMED,
];
