//! Reasons of decisions for people: what each says, and what there is to do about it.
//!
//! A reason has no page: it stands beside a decision that was taken, with its numbers.

use mainstay_types::Reason;

const UNDONE: &str = "The key is used up, and no later run takes the undone result for its own. \
    Whoever wants it after all starts a run under another business id.";
const HELD: &str = "`mainstay effect show KEY` shows the run that has the key and how it stands. A \
    call takes what that run finds out; settle it there when nobody else can tell. What was to \
    undo an effect shares no key with another undo: undo it by hand, at its receiver.";
const MISMATCH: &str = "Two requests under one business id differ: start the second one under an \
    id of its own. `mainstay error IDEMPOTENCY_MISMATCH` has more.";
const TWICE: &str = "Look at the receiver's own books, under the key and for both runs' requests, \
    and undo by hand what is there too often.";
const PARTLY: &str = "Look at the receiver, then `mainstay effect settle KEY applied` or \
    `not-applied`, or `compensate` to have what is there undone.";
const UNKNOWN: &str = "Look at the receiver's own books, then `mainstay effect settle KEY applied` \
    or `not-applied`; the run can be continued after that.";
const LIMIT: &str = "`mainstay run why ID` says which number would have to change, and with which \
    command.";
const FAILED: &str = "`mainstay run show ID` has the call and what its provider said; mend that, \
    then `mainstay run continue ID`.";
const OPEN: &str =
    "`mainstay run why ID` says what is still open, and until when it is waited for.";
const NOTHING: &str = "Nothing: the run goes on, or went on, by itself.";

/// What a person does about it.
#[rustfmt::skip]
pub(crate) const fn way_out(reason: Reason) -> &'static str {
    match reason {
        Reason::Compensated => UNDONE,
        Reason::KeyHeldByOtherRun => HELD,
        Reason::IdempotencyMismatch => MISMATCH,
        Reason::DoneTwice => TWICE,
        Reason::PartlyApplied => PARTLY,
        Reason::DoubtWaitOver | Reason::CannotTell | Reason::KeyTooOld => UNKNOWN,
        Reason::RetryTokensExhausted | Reason::CostExhausted | Reason::CapReached
        | Reason::InsufficientTimeBudget | Reason::DeadlineExhausted
        | Reason::RetryAfterExceedsRemaining => LIMIT,
        Reason::AttemptsExhausted | Reason::SameInputFails | Reason::ResultTooLarge
        | Reason::HardCallFailed | Reason::InputMissing | Reason::CodePanicked
        | Reason::Unclassified | Reason::RefusedByReceiver => FAILED,
        Reason::AnswerTimeReached | Reason::Expired | Reason::StillRunning => OPEN,
        Reason::RetryAllowed | Reason::RepairAllowed | Reason::WriteResponseLost
        | Reason::OwnerLost | Reason::SendWindowPassed | Reason::DependencyAtCapacity
        | Reason::TenantQuotaReached | Reason::RetryRatioReached | Reason::Preempted
        | Reason::PredicateFalse | Reason::SoftCallFailed | Reason::SoftYields
        | Reason::Answered | Reason::NotSent | Reason::FoundApplied
        | Reason::AbsentAfterHorizon | Reason::NotFoundInsideHorizon
        | Reason::StillInProgress | Reason::SettledByHand | Reason::AdoptedFromOtherRun
        | Reason::Requested | Reason::AllSettled => NOTHING,
    }
}
