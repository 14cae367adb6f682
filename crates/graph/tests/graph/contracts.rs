//! Problems of single contracts, effects and fallbacks, with exact words.

use mainstay_graph::{
    Backoff, Criticality, EffectSemantics, FallbackKind, OnLate, Resolution, SameRequestRule,
    ScopeKind, Severity, validate,
};
use mainstay_types::{Code, Millis};

use crate::sample::{
    class, contract_of, each, effect_of, fallback, local, ms, read, soft, when, write,
};
use crate::validate::{check, check_with_page};

#[test]
fn the_times_of_a_rung_do_not_contradict_each_other() {
    let mut class = class(vec![read("draft", &[])]);
    contract_of(&mut class.nodes[0]).timeout = Millis::from_secs(3);
    contract_of(&mut class.nodes[0]).estimate = Millis::from_secs(4);
    check_with_page(&class, Code::ContractInvalid);
    let contract = contract_of(&mut class.nodes[0]);
    (contract.estimate, contract.min_useful) = (ms(1), ms(3_001));
    contract.backoff = Backoff {
        base: ms(600),
        max: ms(500),
    };
    contract.fallbacks = vec![
        fallback(FallbackKind::Cache),
        fallback(FallbackKind::Provider),
    ];
    contract.fallbacks[0].timeout = Millis::ZERO;
    contract.fallbacks[1].estimate = ms(1_001);
    check(
        &class,
        &[
            "error CONTRACT_INVALID [draft]: the min_useful, 3.001 s, is longer than the \
             timeout, 3 s",
            "error CONTRACT_INVALID [draft]: the timeout of fallback 1 (cache) is 0 ms, so no \
             attempt could ever succeed",
            "error CONTRACT_INVALID [draft]: the estimate of fallback 2 (provider), 1.001 s, is \
             longer than the timeout, 1 s",
            "error CONTRACT_INVALID [draft]: the backoff starts at 600 ms, above its max 500 ms",
        ],
    );
}

#[test]
fn reads_do_not_write_and_writes_do() {
    let mut class = class(vec![
        read("facts", &[]),
        write("ticket", &[]),
        each("items", &[], 5),
    ]);
    contract_of(&mut class.nodes[0]).effect = EffectSemantics::WriteWithoutKey;
    contract_of(&mut class.nodes[1]).effect = EffectSemantics::ReadOnly;
    contract_of(&mut class.nodes[2]).effect = EffectSemantics::ReadOnly;
    check(
        &class,
        &[
            "error CONTRACT_INVALID [facts]: its kind is read, but its effect is write_without_key",
            "error CONTRACT_INVALID [ticket]: its kind is write, but its effect is read_only",
            "error CONTRACT_INVALID [items]: its kind is each, but its effect is read_only",
        ],
    );
}

#[test]
fn only_reads_and_local_work_can_be_soft_and_they_say_what_is_missing() {
    let soft = || Criticality::Soft {
        notice: "missing".to_owned(),
    };
    let silent = |notice: &str| Criticality::Advisory {
        notice: notice.to_owned(),
    };
    let mut class = class(vec![
        write("ticket", &[]),
        when("asked", &[]),
        local("hints", &[]),
        read("extra", &[]),
        local("notes", &[]),
    ]);
    class.nodes[0].criticality = soft();
    class.nodes[1].criticality = soft();
    class.nodes[2].criticality = soft();
    class.nodes[3].criticality = silent("  ");
    class.nodes[4].criticality = silent(&"x".repeat(1_025));
    check(
        &class,
        &[
            "error CONTRACT_INVALID [ticket]: a write cannot be soft: it is never skipped for \
             lateness",
            "error CONTRACT_INVALID [asked]: a predicate cannot be soft: the nodes behind it \
             wait for its answer",
            "error CONTRACT_INVALID [extra]: it is advisory and has no notice, so its absence \
             would not be said",
            "error CONTRACT_INVALID [notes]: its notice has 1025 bytes, at most 1024 are allowed",
        ],
    );
}

#[test]
fn an_operation_has_a_name_of_bounded_length() {
    let mut class = class(vec![read("a", &[]), read("b", &[])]);
    contract_of(&mut class.nodes[0]).operation = String::new();
    contract_of(&mut class.nodes[1]).operation = "o".repeat(1_025);
    check(
        &class,
        &[
            "error CONTRACT_INVALID [a]: the operation asked of a has no name",
            "error CONTRACT_INVALID [b]: the operation's name has 1025 bytes, at most 1024 are \
             allowed",
        ],
    );
}

#[test]
fn the_rule_of_a_write_fits_its_kind() {
    let mut class = class(vec![write("ticket", &[]), each("items", &[], 5)]);
    effect_of(&mut class.nodes[0]).rule = SameRequestRule::PerItem;
    effect_of(&mut class.nodes[1]).rule = SameRequestRule::PerSlot;
    check(
        &class,
        &[
            "error CONTRACT_INVALID [ticket]: the rule per_item needs a list, but this is a \
             single write",
            "error CONTRACT_INVALID [items]: an `each` has one effect per item, but its rule is \
             per_slot",
        ],
    );
    effect_of(&mut class.nodes[0]).rule = SameRequestRule::PerRun;
    effect_of(&mut class.nodes[1]).rule = SameRequestRule::PerItem;
    check(&class, &[]);
}

#[test]
fn a_resolution_needs_what_it_asks_by() {
    let mut class = class(vec![write("order", &[]), write("row", &[])]);
    effect_of(&mut class.nodes[0]).resolution = Resolution::ByBusinessKey;
    effect_of(&mut class.nodes[1]).resolution = Resolution::ByUpsert;
    contract_of(&mut class.nodes[1]).effect = EffectSemantics::WriteWithoutKey;
    check(
        &class,
        &[
            "error CONTRACT_INVALID [order]: it is resolved by_business_key, but its scope is \
             run, so it has no business id",
            "error CONTRACT_INVALID [row]: it is resolved by_upsert, but its effect is \
             write_without_key, so that writing again would change something again",
        ],
    );
    effect_of(&mut class.nodes[0]).scope = ScopeKind::Business;
    effect_of(&mut class.nodes[1]).resolution = Resolution::ByHuman;
    check(&class, &[]);
}

#[test]
fn significant_fields_are_json_pointers() {
    let mut class = class(vec![write("order", &[])]);
    let fields = ["/item", "qty", "/a~2b", "", "/item", "/ok~0~1/0"];
    effect_of(&mut class.nodes[0]).significant = fields.map(str::to_owned).to_vec();
    check(
        &class,
        &[
            "error CONTRACT_INVALID [order]: significant field 1, \"qty\", is no JSON pointer",
            "error CONTRACT_INVALID [order]: significant field 2, \"/a~2b\", is no JSON pointer",
            "error CONTRACT_INVALID [order]: significant field 3, \"\", is no JSON pointer",
            "error CONTRACT_INVALID [order]: significant field 4, \"/item\", is named twice",
        ],
    );
    effect_of(&mut class.nodes[0]).significant = (0..65).map(|i| format!("/{i}")).collect();
    check(
        &class,
        &["error CONTRACT_INVALID [order]: 65 significant fields, at most 64 are allowed"],
    );
}

#[test]
fn a_receiver_that_forgets_keys_too_early_is_warned_of() {
    let mut class = class(vec![write("order", &[])]);
    // Timeout 2 s; horizon 1 s send window + 2 s timeout + 200 ms of the receiver.
    effect_of(&mut class.nodes[0]).receiver_key_ttl = Some(ms(6_200));
    check(
        &class,
        &[
            "warning CONTRACT_INVALID [order]: the receiver forgets keys after 6.2 s, but a \
           resend needs more than 6.2 s (timeout 2 s, horizon 3.2 s, clocks 1 s), so nothing is \
           ever sent again",
        ],
    );
    effect_of(&mut class.nodes[0]).receiver_key_ttl = Some(ms(6_201));
    check(&class, &[]);
}

#[test]
fn a_business_key_that_is_forgotten_at_once_is_warned_of() {
    let mut class = class(vec![write("order", &[])]);
    effect_of(&mut class.nodes[0]).key_memory = Millis::ZERO;
    check(&class, &[]);
    effect_of(&mut class.nodes[0]).scope = ScopeKind::Business;
    check(
        &class,
        &[
            "warning CONTRACT_INVALID [order]: its key_memory is 0 ms, so the next run with this \
           business id writes again",
        ],
    );
}

#[test]
fn a_write_falls_back_to_a_person_only() {
    let mut ticket = class(vec![write("ticket_write", &[])]);
    contract_of(&mut ticket.nodes[0]).fallbacks = vec![fallback(FallbackKind::Human)];
    check(&ticket, &[]);
    contract_of(&mut ticket.nodes[0]).fallbacks = vec![fallback(FallbackKind::Cache)];
    check_with_page(&ticket, Code::FallbackNotAllowed);
    for kind in [
        FallbackKind::Provider,
        FallbackKind::ApprovedSnapshot { max_age: ms(1) },
        FallbackKind::LocalCompute,
        FallbackKind::OmitWithNotice,
    ] {
        contract_of(&mut ticket.nodes[0]).fallbacks = vec![fallback(kind)];
        let codes: Vec<Code> = validate(&ticket)
            .iter()
            .map(|problem| problem.code)
            .collect();
        assert_eq!(codes, [Code::FallbackNotAllowed], "{kind:?}");
    }
}

#[test]
fn a_call_ends_by_omission_when_soft_and_by_a_person_when_hard() {
    let (omit, human) = (FallbackKind::OmitWithNotice, FallbackKind::Human);
    let with = |mut node: mainstay_graph::Node, kinds: &[FallbackKind]| {
        contract_of(&mut node).fallbacks = kinds.iter().copied().map(fallback).collect();
        class(vec![node])
    };
    check(&with(read("hard", &[]), &[FallbackKind::Cache, human]), &[]);
    check(
        &with(soft("soft", &[]), &[FallbackKind::Provider, omit]),
        &[],
    );
    check(
        &with(read("hard", &[]), &[omit]),
        &[
            "error FALLBACK_NOT_ALLOWED [hard]: fallback 1 (omit_with_notice) would omit a hard \
           call, without which the run cannot be completed",
        ],
    );
    check(
        &with(soft("soft", &[]), &[human]),
        &[
            "error FALLBACK_NOT_ALLOWED [soft]: fallback 1 (human) hands the run off for a call it \
           can do without",
        ],
    );
    check(
        &with(read("hard", &[]), &[human, FallbackKind::Cache]),
        &[
            "error FALLBACK_NOT_ALLOWED [hard]: fallback 1 (human) ends the call, but another one \
           stands after it",
        ],
    );
}

#[test]
fn a_fallback_asks_someone_unless_it_ends_the_call() {
    let mut class = class(vec![read("policy", &[])]);
    let age = FallbackKind::ApprovedSnapshot {
        max_age: Millis::ZERO,
    };
    let contract = contract_of(&mut class.nodes[0]);
    contract.fallbacks = [age, FallbackKind::Human].map(fallback).to_vec();
    contract.fallbacks[1].dependency = contract.fallbacks[0].dependency.take();
    check(
        &class,
        &[
            "error FALLBACK_NOT_ALLOWED [policy]: fallback 1 (approved_snapshot) names no \
             dependency, so nobody could answer",
            "error FALLBACK_NOT_ALLOWED [policy]: fallback 1 (approved_snapshot) takes snapshots \
             of at most 0 ms, so none is ever young enough",
            "error FALLBACK_NOT_ALLOWED [policy]: fallback 2 (human) names a dependency, but \
             nothing is asked on this rung",
        ],
    );
}

#[test]
fn the_list_of_an_each_is_bounded() {
    check_with_page(
        &class(vec![each("ticket_write", &[], 5_000)]),
        Code::ListBoundInvalid,
    );
    check(
        &class(vec![each("items", &[], 0)]),
        &[
            "error LIST_BOUND_INVALID [items]: the list may have 0 items, so nothing could ever be \
           written",
        ],
    );
    check(&class(vec![each("items", &[], 1_000)]), &[]);
}

#[test]
fn two_writes_never_share_a_business_key() {
    let mut class = class(vec![
        write("order_a", &[]),
        write("order_b", &[]),
        write("order", &[]),
    ]);
    for node in &mut class.nodes[..2] {
        let effect = effect_of(node);
        effect.scope = ScopeKind::Business;
        effect.name = mainstay_types::EffectName::new("order").expect("a valid name");
    }
    check_with_page(&class, Code::EffectNameTaken);
    effect_of(&mut class.nodes[1]).scope = ScopeKind::Run;
    check(&class, &[]);
}

#[test]
fn a_horizon_that_the_reserve_cannot_hold_is_warned_of_with_both_numbers() {
    let mut class = class(vec![write("ticket_write", &[])]);
    effect_of(&mut class.nodes[0]).receiver_bound = ms(1_000);
    check_with_page(&class, Code::HorizonExceedsReserve);
    assert_eq!(validate(&class)[0].severity, Severity::Warning);
    class.reserve.reconcile = ms(2_000);
    check(&class, &[]);
    class.reserve.reconcile = ms(1_999);
    effect_of(&mut class.nodes[0]).resolution = Resolution::ByHuman;
    check(&class, &[]);
}

#[test]
fn what_a_write_did_is_not_dropped_and_without_a_key_it_is_reviewed() {
    let mut class = class(vec![
        read("facts", &[]),
        write("order", &[]),
        each("items", &[], 5),
        write("mail", &[]),
        write("post", &[]),
    ]);
    contract_of(&mut class.nodes[0]).on_late = Some(OnLate::Drop);
    contract_of(&mut class.nodes[1]).on_late = Some(OnLate::Drop);
    contract_of(&mut class.nodes[2]).on_late = Some(OnLate::Drop);
    for node in &mut class.nodes[2..] {
        contract_of(node).effect = EffectSemantics::WriteWithoutKey;
    }
    contract_of(&mut class.nodes[3]).on_late = Some(OnLate::Keep);
    contract_of(&mut class.nodes[4]).on_late = Some(OnLate::Review);
    check(
        &class,
        &[
            "error CONTRACT_INVALID [order]: it drops late answers, but what a write did stays \
             done",
            "error CONTRACT_INVALID [items]: it drops late answers, but what a write did stays \
             done",
            "warning CONTRACT_INVALID [mail]: it keeps late answers and tells nobody, but without a \
             key each of them may be a second effect",
        ],
    );
}

#[test]
fn an_orphan_has_an_owner_for_a_bounded_time() {
    let mut class = class(vec![read("facts", &[]), read("draft", &[])]);
    for (ttl, is_bad) in [
        (0, true),
        (1, false),
        (604_800_000, false),
        (604_800_001, true),
    ] {
        contract_of(&mut class.nodes[0]).orphan_ttl = Some(ms(ttl));
        let problems = validate(&class);
        assert_eq!(
            problems.iter().any(|p| p.is_error()),
            is_bad,
            "{ttl}: {problems:?}"
        );
    }
    contract_of(&mut class.nodes[0]).orphan_ttl = Some(Millis::from_days(8));
    check(
        &class,
        &["error CONTRACT_INVALID [facts]: its orphan_ttl is 8 d, allowed are 1 ms to 7 d"],
    );
}
