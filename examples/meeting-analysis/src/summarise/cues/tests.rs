//! Each cue on the sentences that it is for, and on those that only look like them.
//!
//! The scenario is one line of minutes; the expectation stands beside it.

use crate::minutes::{INPUT_BYTES_MAX, Minutes};
use crate::summarise::{Action, Extras, summarise};

fn actions(lines: &str) -> Vec<Action> {
    let head = "# T\n## Present\n* Avery Stone @avery\n* Kai @kai\n* Blake\n* Mark\n## Talk\n";
    let text = format!("{head}{lines}\n");
    let minutes = Minutes::parse("m", text.as_bytes(), INPUT_BYTES_MAX).expect("text");
    summarise(&minutes, Extras::default()).actions
}

fn shown(lines: &str) -> String {
    let show = |action: &Action| {
        let owner = action.owner.as_deref().unwrap_or("-");
        format!("{} {owner}: {}", action.cue.as_str(), action.title)
    };
    actions(lines)
        .iter()
        .map(show)
        .collect::<Vec<_>>()
        .join(" | ")
}

fn check(table: &[(&str, &str)]) {
    for (line, expected) in table {
        assert_eq!(shown(line), *expected, "{line}");
    }
}

#[test]
fn somebody_who_is_named_gets_the_action() {
    check(&[
        (
            "* Avery will draft the charter.",
            "will Avery Stone: Draft the charter",
        ),
        (
            "* Avery and Kai will meet the host",
            "will Avery Stone and Kai: Meet the host",
        ),
        (
            "* @kai to renew the domain",
            "mention Kai: Renew the domain",
        ),
        (
            "* @stranger please review this",
            "mention @stranger: Review this",
        ),
        (
            "* Kai, update the page today",
            "addressed Kai: Update the page today",
        ),
        (
            "* Kai, can you ask the host?",
            "addressed Kai: Ask the host?",
        ),
        (
            "* Avery to ask Kai to review it",
            "assigned Avery Stone: Ask Kai to review it",
        ),
        (
            "* Rowan to invite the authors",
            "assigned Rowan: Invite the authors",
        ),
        (
            "* The docs team to publish it",
            "assigned docs team: Publish it",
        ),
        (
            "* The docs team will publish it",
            "will docs team: Publish it",
        ),
        (
            "* Blake is going to email them",
            "going-to Blake: Email them",
        ),
    ]);
}

#[test]
fn somebody_who_took_it_on_or_was_asked_gets_the_action() {
    check(&[
        (
            "* Blake volunteered to chair the call",
            "commitment Blake: Chair the call",
        ),
        ("* Blake agreed to draft it", "commitment Blake: Draft it"),
        (
            "* Kai was asked to rotate the keys",
            "commitment Kai: Rotate the keys",
        ),
        (
            "* Blake asked Kai to rotate the keys",
            "commitment Kai: Rotate the keys",
        ),
        ("* Kai should open an issue", "needed Kai: Open an issue"),
        (
            "* Kai: update the readme",
            "imperative Kai: Update the readme",
        ),
        (
            "* Kai: report coming next week",
            "coming Kai: Report coming next week",
        ),
        ("* Mark will mark the tests", "will Mark: Mark the tests"),
    ]);
}

#[test]
fn those_who_speak_get_what_they_promise_in_the_first_person() {
    check(&[
        ("* Kai: I'll write it up", "will Kai: Write it up"),
        ("* Kai: I’ll write it up", "will Kai: Write it up"),
        ("* Kai: will send the link", "will Kai: Send the link"),
        (
            "* Kai: I can PR a fix for that",
            "offer Kai: PR a fix for that",
        ),
        ("* Kai: happy to review that one", ""),
        (
            "* Kai: I am happy to review that one",
            "offer Kai: Review that one",
        ),
        (
            "* Kai: going to ask in the issue",
            "going-to Kai: Ask in the issue",
        ),
        (
            "* Kai said no. He will open an issue.",
            "will Kai: Open an issue",
        ),
        (
            "* Kai: the build is red\n  * I'll look at it tonight",
            "will Kai: Look at it tonight — Kai: the build is red",
        ),
    ]);
}

#[test]
fn labels_boxes_and_lists_are_taken_at_their_word() {
    check(&[
        ("* ACTION: Kai to call the host", "label Kai: Call the host"),
        (
            "* Action item (Kai): call the host",
            "label Kai: Call the host",
        ),
        ("* AI - Kai to call the host", "label Kai: Call the host"),
        ("* AI Kai: call the host", "label Kai: Call the host"),
        ("* TODO call the host", "label -: Call the host"),
        ("* [ ] call the host (Kai)", "checkbox Kai: Call the host"),
        ("* [x] call the host", ""),
        ("* ~~Kai to call the host~~", ""),
        (
            "* Kai will:\n  * call the host\n  * pay it",
            "action-list Kai: Call the host — Kai will | action-list Kai: Pay it — Kai will",
        ),
        (
            "### Action items\n* Kai\n  * call the host",
            "action-list Kai: Call the host — Kai",
        ),
        ("### Action items\n* None", ""),
        ("### Action items\n* Kai to pay (done)", ""),
        ("### Review of action items\n* Kai to pay - done", ""),
        ("* AI tools were discussed at length", ""),
        ("* Actions speak louder than words", ""),
    ]);
}

#[test]
fn what_is_asked_of_nobody_in_particular_has_no_owner() {
    check(&[
        ("* agreed to remove the label", "agreed -: Remove the label"),
        (
            "* take back to the issue for now",
            "take-back -: Take back to the issue for now",
        ),
        (
            "* Kai: better take this offline",
            "take-back -: Take this offline",
        ),
        ("* please review by Friday", "please -: Review by Friday"),
        (
            "* please add the reload, Blake",
            "please Blake: Add the reload",
        ),
        (
            "* Remember to vote on the name",
            "reminder -: Vote on the name",
        ),
        (
            "* Reminder to propose sessions",
            "reminder -: Propose sessions",
        ),
        ("* we need to find a host", "needed -: Find a host"),
        ("* someone should call the host", "needed -: Call the host"),
        ("* Needs reviews #12", "needed -: Needs reviews #12"),
        (
            "* Invite Rowan to the next call",
            "imperative -: Invite Rowan to the next call",
        ),
        (
            "* Let the infra team handle it",
            "delegated infra team: Let the infra team handle it",
        ),
    ]);
}

#[test]
fn questions_opinions_conditions_and_remarks_are_no_actions() {
    for line in [
        "* Will Kai draft the charter?",
        "* Should we invite Rowan to the call?",
        "* could everyone review it before Monday?",
        "* It will break users",
        "* This will update the cache",
        "* GitHub will remove the feature in May",
        "* Version 9 will drop the loader",
        "* Testing will start in May",
        "* Kai will be away in May",
        "* Kai will not join",
        "* Kai, main problem is the cache",
        "* Kai, update on the cache: nothing new",
        "* Kai, would be an option",
        "* Maybe invite Rowan to the call",
        "* we could ask the host about it",
        "* I think we should move forward with it",
        "* If we want to ship, we need to fix the build",
        "* we do not need to fix the build",
        "* a feature we need to release without a flag",
        "* not agreed to remove the label",
        "* agreed to keep the label",
        "* Schedule a call to discuss will help",
        "* Update on the security release",
        "* Kai @kai as a collaborator #19148",
        "* Review of the budget",
        "* Kai to the rescue",
        "* Due to the holidays nothing happened",
        "* He opened an issue and asked for help",
        "* They go back to 2016",
    ] {
        assert_eq!(shown(line), "", "{line}");
    }
}

#[test]
fn titles_of_topics_are_no_instructions() {
    check(&[
        ("* Add a second chair #412", ""),
        ("* Remove the shim\n  * nobody objected to that", ""),
        ("### Agenda\n* Review the budget for May", ""),
    ]);
}

#[test]
fn two_doers_in_one_sentence_get_an_action_each() {
    check(&[
        (
            "* Avery to draft the charter and Kai to review it next week",
            "assigned Avery Stone: Draft the charter | assigned Kai: Review it next week",
        ),
        (
            "* Avery will draft the charter, and Blake will print the badges",
            "will Avery Stone: Draft the charter | will Blake: Print the badges",
        ),
    ]);
}

#[test]
fn the_same_action_is_listed_once_and_what_continues_it_is_added() {
    let repeated = actions(
        "* Kai will draft the new charter text\n\n### Action items\n\
         * Kai: draft the new charter text\n\
         * Kai: draft new charter text",
    );
    assert_eq!(repeated.len(), 1, "{repeated:?}");
    let continued = actions("* Kai will draft the charter. Kai will try to get to it this week.");
    assert_eq!(continued.len(), 1, "{continued:?}");
    assert!(
        continued[0]
            .detail
            .ends_with("Kai will try to get to it this week.")
    );
    let topics =
        actions("* A #1\n  * agreed to remove the label\n* B #2\n  * agreed to remove the label");
    assert_eq!(topics.len(), 2, "{topics:?}");
}

#[test]
fn actions_that_differ_in_one_number_or_name_are_two_and_the_same_said_twice_is_one() {
    let numbers = "* Kai to review pull request #1201.\n* Kai to review pull request #1202.\n\
                   * Kai to review pull request #1203.";
    assert_eq!(actions(numbers).len(), 3);
    let names = "* Kai to rotate the signing keys for the compiler.\n\
                 * Kai to rotate the signing keys for the website.";
    assert_eq!(actions(names).len(), 2);
    let twice = "* Kai to rotate the signing keys for the compiler.\n\
                 * Kai to rotate the signing keys.";
    assert_eq!(actions(twice).len(), 1);
}
