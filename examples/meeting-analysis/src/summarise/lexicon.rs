//! The words that rules rest on: verbs of doing, nouns of groups, words that cast doubt.
//!
//! Data only. To teach the summariser a verb, add it to one list.

use std::collections::BTreeSet;
use std::sync::LazyLock;

type Words = LazyLock<BTreeSet<&'static str>>;

fn set(words: &'static str) -> BTreeSet<&'static str> {
    words.split_whitespace().collect()
}

/// Verbs that may open an instruction: `Invite Toby to the next meeting`.
static STRONG: Words = LazyLock::new(|| {
    set(
        "add align analyse analyze announce archive arrange ask assign audit backport benchmark \
         bisect book check circulate clarify clean close collect compare compile complete \
         confirm contact convene convert coordinate copy create define deploy deprecate design \
         disable distribute document draft edit email enable escalate estimate evaluate examine \
         explore extend file finalise finalize finish fix follow forward gather identify \
         implement improve inform investigate invite label land mark merge migrate moderate \
         monitor move nominate notify open organise organize pin ping post prepare publish \
         raise rebase record recruit refactor register release remind remove rename renew \
         reopen replace reply report reproduce request reschedule research resolve respond \
         restore retire revert review revise revisit revoke rewrite rotate schedule send share \
         simplify split submit summarise summarize switch sync tag test tidy track transfer \
         translate triage update upgrade upload verify write",
    )
});

/// Verbs that name a deed only after somebody was named: `Avery will take this`.
static WEAK: Words = LazyLock::new(|| {
    set(
        "accept address adjust apply approach attend bring build bump buy call chair change \
         chase collaborate come comment configure connect consult continue cover cut debug \
         decide delete deliver describe determine develop dig discuss drive drop engage explain \
         figure fill find get give go handle host include integrate introduce join keep launch \
         lead liaise link list look maintain make measure meet mention negotiate note order own \
         pair patch pay pick plan port pr present produce propose prototype provide pull push \
         put reach read reconcile rerun restart return run search secure set sign speak start \
         store suggest support take talk tell train try turn visit vote work",
    )
});

/// Verbs that are nouns as often: `Update on CVEs`, `Kai, review is done`.
static NOUNS_TOO: Words = LazyLock::new(|| {
    set(
        "address audit benchmark book call change check comment contact copy cut design \
         document draft drive email estimate file fix host land lead link list look merge move \
         note open order own patch pin plan port post pr present record register release report \
         request research return review run schedule search set sign split start store support \
         switch tag test track transfer turn update upgrade upload visit vote work",
    )
});

/// After a word that is verb and noun, these show that it was the noun.
static AFTER_NOUN: Words = LazyLock::new(|| {
    set(
        "about are as at by candidate date for from had has have in is meeting notes now of on \
         planned process seems should team was were will",
    )
});

/// Groups that can own an action.
static GROUPS: Words = LazyLock::new(|| {
    set(
        "board chair collaborators committee council editor foundation group infra maintainers \
         moderators office organisers organizers releasers secretariat secretary staff team \
         treasurer tsc volunteers wg",
    )
});

/// Capitalised words that are no persons and yet stand before "will" and "to".
static NO_PERSONS: Words = LazyLock::new(|| {
    set(
        "according again agenda agreed also and another anyone approved april asked august back \
         better both but continued december decided due each easy everyone everything failed \
         february first friday github going google hard he here hoping how however i if it \
         january jenkins july june like link march maybe monday more move need needed needs \
         next no nobody node none not note nothing november now october offered ok okay once \
         one only open openssl or other others ought people perhaps planned please proposed \
         question ready reason remember reminder resolved same saturday september she similar \
         slack so some someone started subject suggested sunday supposed thanks that the then \
         there these they this those thursday time today tomorrow tried tuesday up used users \
         volunteered want wanted wants we wednesday what when which who why you",
    )
});

/// Words that make a proposal out of an instruction.
static HEDGES: Words =
    LazyLock::new(|| set("could maybe might perhaps possibly potentially probably would"));

/// Verbs that say how something is, not what somebody does.
static STATES: Words = LazyLock::new(|| {
    set(
        "allow be become break cause depend exist happen have help know likely mean need never \
         not probably remain require result see seem stay want",
    )
});

/// A verb of doing in its base form.
pub(super) fn is_verb(word: &str) -> bool {
    STRONG.contains(word) || WEAK.contains(word)
}

/// A verb of doing that may open an instruction.
pub(super) fn is_opener(word: &str) -> bool {
    STRONG.contains(word)
}

/// Whether `word` followed by `next` is a noun after all.
pub(super) fn is_noun(word: &str, next: Option<&str>) -> bool {
    NOUNS_TOO.contains(word) && next.is_none_or(|next| AFTER_NOUN.contains(next))
}

/// Whether a verb takes the form `verb` + `s`: `opens` of `open`.
pub(super) fn is_verb_s(word: &str) -> bool {
    let stems = [word.strip_suffix('s'), word.strip_suffix("es")];
    stems.into_iter().flatten().any(is_verb)
}

pub(super) fn is_group(word: &str) -> bool {
    GROUPS.contains(word)
}

pub(super) fn is_no_person(word: &str) -> bool {
    NO_PERSONS.contains(word)
}

pub(super) fn is_hedge(word: &str) -> bool {
    HEDGES.contains(word)
}

pub(super) fn is_state(word: &str) -> bool {
    STATES.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_too_are_verbs_first() {
        assert_eq!(NOUNS_TOO.iter().find(|word| !is_verb(word)), None);
    }

    #[test]
    fn an_update_on_something_is_a_noun_and_update_the_page_is_a_verb() {
        assert!(is_noun("update", Some("on")));
        assert!(!is_noun("update", Some("the")));
        assert!(!is_noun("invite", Some("on")));
        assert!(is_verb_s("opens") && !is_verb_s("is"));
    }
}
