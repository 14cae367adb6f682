//! Records of versions that are not written any more become the events they always meant.

use mainstay_machine::{Event, Quarantine};
use mainstay_types::Code;

use super::golden::recorded;
use crate::codec::{Kind, encode_event};

fn quarantined(code: Code, message: &str) -> Event {
    Event::RunQuarantined(Quarantine {
        code,
        message: message.to_owned(),
    })
}

#[test]
fn a_quarantine_whose_code_was_the_beginning_of_its_text_has_its_code() {
    let events = recorded("event-RunQuarantined-1-code.hex");
    let expected = [
        quarantined(Code::TurnPanicked, "index out of bounds"),
        quarantined(
            Code::CorruptTransition,
            "event LapEnded cannot follow: the lap has ended",
        ),
        quarantined(Code::ProcessAborted, ""),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_quarantine_that_named_no_code_has_the_one_it_was_shown_with() {
    let events = recorded("event-RunQuarantined-1.hex");
    let message = "a turn panicked: index out of bounds";
    assert_eq!(events, [quarantined(Code::RunQuarantined, message)]);
}

#[test]
fn a_late_result_of_before_charges_no_retries_of_client_libraries() {
    let events = recorded("event-LateResult-1.hex");
    assert!(!events.is_empty());
    for event in events {
        let Event::LateResult { client_retries, .. } = event else {
            panic!("{event:?}");
        };
        assert_eq!(client_retries, 0);
    }
}

#[test]
fn an_event_of_an_older_version_is_written_in_the_newest() {
    for event in recorded("event-RunQuarantined-1-code.hex") {
        let kind = Kind::of(&event);
        let mut payload = Vec::new();
        encode_event(&event, &mut payload);
        let again = crate::codec::decode_event(kind.number(), kind.version(), &payload);
        assert_eq!(again, Ok(event));
    }
}
