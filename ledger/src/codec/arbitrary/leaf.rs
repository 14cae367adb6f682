//! Strategies for single values: names, keys, texts, ids, units.
//!
//! Each covers what the domain allows, the odd corners included.

use mainstay_machine::{Quarantine, Ruling, Seen};
use mainstay_types::{
    AttemptNo, BusinessId, CallId, Code, CostUnits, Digest, FailureKind, Millis, Payload, Reason,
    RunId, Rung, StartKey, Tenant, Timestamp, Tokens, WorkerId,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn identifier() -> impl Strategy<Value = String> {
    let letters: Vec<char> = ('a'..='z')
        .chain('0'..='9')
        .chain(['.', '_', '-'])
        .collect();
    vec(select(letters), 0..63).prop_map(|rest| format!("n{}", String::from_iter(rest)))
}

pub(super) fn key_text() -> impl Strategy<Value = String> {
    const LETTERS: &[char] = &['a', 'Z', '7', ' ', '/', '%', '№', '회', '🎫'];
    vec(select(LETTERS), 1..50).prop_map(String::from_iter)
}

pub(super) fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..256).prop_map(String::from_iter)
}

pub(super) fn quarantine() -> impl Strategy<Value = Quarantine> {
    let code = select(Code::ALL);
    (code, text()).prop_map(|(code, message)| Quarantine { code, message })
}

pub(super) fn tenant() -> impl Strategy<Value = Tenant> {
    key_text().prop_map(|text| Tenant::new(text).expect("the strategy makes valid keys"))
}

pub(super) fn start_key() -> impl Strategy<Value = StartKey> {
    key_text().prop_map(|text| StartKey::new(text).expect("the strategy makes valid keys"))
}

pub(super) fn business_id() -> impl Strategy<Value = BusinessId> {
    key_text().prop_map(|text| BusinessId::new(text).expect("the strategy makes valid keys"))
}

pub(super) fn payload() -> impl Strategy<Value = Payload> {
    vec(any::<u8>(), 0..400).prop_map(Payload::new)
}

pub(super) fn reason() -> impl Strategy<Value = Reason> {
    select(Reason::ALL)
}

pub(super) fn kind() -> impl Strategy<Value = FailureKind> {
    select(&FailureKind::ALL[..])
}

pub(super) fn run() -> impl Strategy<Value = RunId> {
    any::<[u8; 16]>().prop_map(RunId::from_bytes)
}

pub(super) fn worker() -> impl Strategy<Value = WorkerId> {
    any::<[u8; 16]>().prop_map(WorkerId::from_bytes)
}

pub(super) fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::from_bytes)
}

pub(super) fn at() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_millis)
}

pub(super) fn millis() -> impl Strategy<Value = Millis> {
    any::<u64>().prop_map(Millis::new)
}

pub(super) fn cost() -> impl Strategy<Value = CostUnits> {
    any::<u64>().prop_map(CostUnits::micros)
}

pub(super) fn tokens() -> impl Strategy<Value = Tokens> {
    any::<u32>().prop_map(Tokens::new)
}

pub(super) fn call() -> impl Strategy<Value = CallId> {
    any::<u32>().prop_map(CallId)
}

pub(super) fn attempt() -> impl Strategy<Value = AttemptNo> {
    any::<u32>().prop_map(AttemptNo)
}

pub(super) fn rung() -> impl Strategy<Value = Rung> {
    any::<u8>().prop_map(Rung)
}

pub(super) fn tool_call_id() -> impl Strategy<Value = String> {
    vec(any::<char>(), 1..32).prop_map(String::from_iter)
}

pub(super) fn ruling() -> impl Strategy<Value = Ruling> {
    select(&[Ruling::Applied, Ruling::NotApplied][..])
}

pub(super) fn seen() -> impl Strategy<Value = Seen> {
    select(&Seen::ALL[..])
}
