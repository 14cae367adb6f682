//! Two keys with one hash, forced: neither is ever taken for the other, and the store is as healthy
//! as before.
//!
//! By chance this does not happen with 16 bytes of blake3, so the second key is refused with both
//! named, and nothing is built to keep the two side by side.

use mainstay_ledger::{Ledger, LedgerError, Op, Verdict, sample};
use mainstay_machine::{EffectEntry, EntryState};
use mainstay_types::{EffectKey, Payload};

use super::house::{House, Table};
use crate::blocking::wait;
use crate::keys::{self, COLLIDES};
use crate::rows::effects::{self, EffectRow};
use crate::table::MemoryFactory;
use crate::verify;

fn twin(n: u32) -> EffectKey {
    sample::effect_key(&format!("order{COLLIDES}{n}"), 1)
}

fn entry(n: u32, state: EntryState) -> EffectEntry {
    sample::entry(twin(n), n, 4, state)
}

fn applied() -> EntryState {
    EntryState::Applied(Payload::from(r#""T-1""#))
}

fn takes(house: &House, n: u32, state: EntryState) -> Result<Vec<Verdict>, LedgerError> {
    let part = sample::start_part(n).with(sample::effect(entry(n, state)));
    wait(house.ledger().commit(vec![part.into()]))
}

fn names_both(error: &LedgerError, (wanted, held): (&str, &str)) {
    let LedgerError::KeysCollide { wanted: w, held: h } = error else {
        panic!("{error:?}");
    };
    assert!(w.contains(wanted) && h.contains(held), "{error}");
}

#[test]
fn the_second_of_two_effect_keys_is_refused_by_name_and_the_first_stays_as_it_is() {
    assert_eq!(keys::effect(&twin(1)), keys::effect(&twin(2)));
    let mut house = House::new(Table::IsLost);
    house.must(sample::start_part(1).with(sample::effect(entry(1, applied()))));
    let (first, second) = (twin(1).to_string(), twin(2).to_string());
    for _ in 0..2 {
        // Whatever it wants of the key: it is neither told the other's result nor given its place.
        for state in [EntryState::Open, EntryState::InDoubt, applied()] {
            let refused = takes(&house, 2, state).unwrap_err();
            names_both(&refused, (&second, &first));
        }
        let asked = wait(house.ledger().effect(twin(2))).unwrap_err();
        names_both(&asked, (&second, &first));
        let found = wait(house.ledger().effect(twin(1))).unwrap();
        assert_eq!(found.map(|(entry, _)| entry.state), Some(applied()));
        assert!(wait(house.ledger().load(sample::run(2))).unwrap().is_none());
        house.reopen();
    }
    // Everyone else goes on, the run that was refused with another key among them.
    house.live(3, "result");
    let other = sample::entry(sample::effect_key("another", 1), 2, 4, EntryState::Open);
    house.must(sample::start_part(2).with(sample::effect(other)));
    house.close();
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    assert_eq!(report.findings, [], "the store is not damaged");
}

#[test]
fn a_request_beside_one_whose_key_collides_is_written() {
    let house = House::new(Table::IsLost);
    house.must(sample::start_part(1).with(sample::effect(entry(1, EntryState::Open))));
    let waiting = [2, 3].map(|n| {
        let state = sample::effect(match n {
            2 => entry(2, EntryState::Open),
            _ => super::house::effect(3, EntryState::Open),
        });
        house
            .ledger()
            .commit(vec![sample::start_part(n).with(state).into()])
    });
    let [refused, written] = waiting.map(wait);
    names_both(&refused.unwrap_err(), ("~2", "~1"));
    assert!(matches!(written.unwrap()[..], [Verdict::Committed(_)]));
}

#[test]
fn who_waits_for_a_key_is_not_put_in_the_line_of_its_twin() {
    let house = House::new(Table::IsLost);
    house.must(sample::start_part(1).with(sample::effect(entry(1, EntryState::Open))));
    let wait_for = |key| Op::Wait { key, version: 1 };
    house.must(sample::start_part(2).with(wait_for(twin(1))));
    let part = sample::start_part(3).with(wait_for(twin(2)));
    let refused = wait(house.ledger().commit(vec![part.into()])).unwrap_err();
    names_both(&refused, ("~2", "~1"));
}

#[test]
fn the_second_of_two_start_keys_finds_no_run_and_begins_none() {
    let house = House::new(Table::IsLost);
    let key = |n: u32| format!("start{COLLIDES}{n}");
    house.must(sample::start_part(1).with(sample::take_start_key(&key(1), "{}")));
    let part = sample::start_part(2).with(sample::take_start_key(&key(2), "{}"));
    let refused = wait(house.ledger().commit(vec![part.into()])).unwrap_err();
    names_both(&refused, (&key(2), &key(1)));
    let asked = house
        .ledger()
        .start_key(sample::tenant("acme"), sample::start_key(&key(2)));
    names_both(&wait(asked).unwrap_err(), (&key(2), &key(1)));
}

#[test]
fn a_row_that_was_put_in_the_place_of_another_key_is_damage() {
    let (wanted, other) = (twin(1), sample::effect_key("another", 1));
    let place = keys::effect(&wanted);
    let row = |key: &EffectKey| EffectRow {
        entry: sample::entry(key.clone(), 1, 4, EntryState::Open),
        version: 1,
        expires_at: None,
    };
    let read = |value: Vec<u8>| effects::read(&wanted, |_| Ok(Some(value.into())));
    let error = read(row(&other).encode(&place)).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error:?}");
    assert!(
        error.to_string().contains("lies in the place of"),
        "{error}"
    );
    assert!(read(row(&wanted).encode(&place)).unwrap().is_some());
}
