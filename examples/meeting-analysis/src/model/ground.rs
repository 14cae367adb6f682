//! Holds a proposed draft against the minutes: what no line bears out is left out and counted.
//!
//! It must never let a model's words stand for the minutes' own: title, date, sections and quotes
//! are taken from the minutes, whatever the proposal says of them.

use crate::minutes::Minutes;
use crate::summarise::{
    ACTIONS_MAX, Action, DECISIONS_MAX, DETAIL_CHARS_MAX, Decision, Draft, Evidence, Line,
    SENTENCES_MAX, Sentence, TITLE_CHARS_MAX, lines,
};
use crate::text::{clip, printable};
use crate::wire::DraftRequest;

/// A shorter quote stands in any minutes.
const QUOTE_CHARS_MIN: usize = 8;
/// Longest owner or due date, in characters.
const NAME_CHARS_MAX: usize = 80;
/// Most ids of related tickets of one action.
const RELATED_MAX: usize = 3;

/// The draft as the minutes bear it out, made by `method`.
pub(super) fn grounded(
    request: &DraftRequest,
    draft: Draft,
    method: &str,
) -> Result<Draft, &'static str> {
    let minutes = request.meeting.minutes();
    let ground = Ground::of(&minutes, request);
    let proposed = draft.actions.len();
    let actions: Vec<Action> = draft
        .actions
        .into_iter()
        .take(ACTIONS_MAX)
        .filter_map(|action| ground.action(action))
        .collect();
    if actions.is_empty() && 0 < proposed {
        return Err("no action rests on a line of the minutes");
    }
    let talked_of = draft.decisions.len();
    let decisions: Vec<Decision> = draft
        .decisions
        .into_iter()
        .take(DECISIONS_MAX)
        .filter_map(|decision| ground.decision(decision))
        .collect();
    let summary = draft.summary.into_iter().filter_map(sentence);
    Ok(Draft {
        title: minutes.title.clone(),
        date: minutes.date.clone(),
        summary_by: method.to_owned(),
        summary: summary.take(SENTENCES_MAX).collect(),
        decisions_left_out: left_out(talked_of, decisions.len()),
        decisions,
        actions_left_out: left_out(proposed, actions.len()),
        actions,
        method: method.to_owned(),
    })
}

/// The minutes as statements are looked for in them.
struct Ground<'a> {
    lines: Vec<(Line<'a>, String)>,
    text: String,
    request: &'a DraftRequest,
}

impl<'a> Ground<'a> {
    fn of(minutes: &'a Minutes, request: &'a DraftRequest) -> Self {
        Self {
            lines: lines(minutes)
                .map(|line| {
                    let plain = plain(line.source());
                    (line, plain)
                })
                .collect(),
            text: plain(&request.meeting.text),
            request,
        }
    }

    /// The line that a quote stands in: of several the one that was named, else the first.
    fn line(&self, quoted: &Evidence) -> Option<&Line<'a>> {
        let quote = plain(&quoted.text);
        if quote.chars().count() < QUOTE_CHARS_MIN {
            return None;
        }
        let mut holding = self
            .lines
            .iter()
            .filter(|(_, text)| text.contains(&quote))
            .map(|(line, _)| line);
        let first = holding.next()?;
        let named = |line: &&Line<'a>| line.number() == quoted.line;
        Some(
            Some(first)
                .into_iter()
                .chain(holding)
                .find(named)
                .unwrap_or(first),
        )
    }

    fn action(&self, action: Action) -> Option<Action> {
        let line = self.line(&action.evidence)?;
        let title = shown(&action.title, TITLE_CHARS_MAX)?;
        let known = |id: &String| self.request.related.iter().any(|ticket| ticket.id == *id);
        Some(Action {
            detail: shown(&action.detail, DETAIL_CHARS_MAX).unwrap_or_else(|| title.clone()),
            title,
            owner: self.said(action.owner),
            due: self.said(action.due),
            section: line.section(),
            evidence: line.evidence(),
            cue: action.cue,
            related: action
                .related
                .into_iter()
                .filter(known)
                .take(RELATED_MAX)
                .collect(),
        })
    }

    fn decision(&self, decision: Decision) -> Option<Decision> {
        let line = self.line(&decision.evidence)?;
        Some(Decision {
            text: shown(&decision.text, DETAIL_CHARS_MAX)?,
            section: line.section(),
            evidence: line.evidence(),
        })
    }

    /// A name or a date, if the minutes have it.
    fn said(&self, name: Option<String>) -> Option<String> {
        let name = shown(&name?, NAME_CHARS_MAX)?;
        self.text.contains(&plain(&name)).then_some(name)
    }
}

fn sentence(sentence: Sentence) -> Option<Sentence> {
    Some(Sentence {
        text: shown(&sentence.text, DETAIL_CHARS_MAX)?,
        section: String::new(),
    })
}

/// `text` for people; `None` when nothing of it can be seen.
fn shown(text: &str, chars_max: usize) -> Option<String> {
    let text = printable(text);
    let text = text.trim();
    (!text.is_empty()).then(|| clip(text, chars_max))
}

/// `text` without what quoting changes: case, markup, white space.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, '*' | '_' | '`'));
    let kept: String = kept.flat_map(char::to_lowercase).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn left_out(proposed: usize, kept: usize) -> u32 {
    u32::try_from(proposed - kept).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minutes::Meeting;
    use crate::summarise::{Cue, Extras, summarise};
    use crate::tickets::RelatedTicket;

    const MINUTES: &str = "# Sync 2026-03-04\n\n## Website\n\n- Avery will **repaint** the mural \
        by Friday\n- We agreed to drop the old theme\n\n## Other\n\n- Toby will mail the printer\n";

    fn request() -> DraftRequest {
        DraftRequest {
            meeting: Meeting {
                name: "minutes".to_owned(),
                text: MINUTES.to_owned(),
            },
            related: vec![RelatedTicket {
                id: "T-7".to_owned(),
                title: "Old mural".to_owned(),
            }],
            specialist: None,
        }
    }

    fn action(quote: &str, owner: &str) -> Action {
        Action {
            title: "Repaint the mural".to_owned(),
            detail: "All of it.".to_owned(),
            cue: Cue::Will,
            owner: Some(owner.to_owned()),
            due: Some("Friday".to_owned()),
            section: "Invented".to_owned(),
            evidence: Evidence {
                line: 99,
                text: quote.to_owned(),
            },
            related: vec!["T-7".to_owned(), "T-8".to_owned()],
        }
    }

    fn draft(actions: Vec<Action>) -> Draft {
        let local = summarise(&request().meeting.minutes(), Extras::default());
        Draft {
            title: "Invented".to_owned(),
            method: "Invented".to_owned(),
            actions,
            ..local
        }
    }

    fn kept(actions: Vec<Action>) -> Result<Draft, &'static str> {
        grounded(&request(), draft(actions), "model m")
    }

    #[test]
    fn a_quote_of_the_minutes_gets_the_minutes_own_line_and_section() {
        let draft = kept(vec![action("Avery will repaint  the MURAL", "Avery")]).expect("grounded");
        let [action] = &draft.actions[..] else {
            panic!("one action: {draft:?}");
        };
        assert_eq!(action.evidence.line, 5);
        assert!(action.evidence.text.contains("**repaint**"), "{action:?}");
        assert!(action.section.ends_with("Website"), "{action:?}");
        assert_eq!(action.owner.as_deref(), Some("Avery"));
        assert_eq!(action.due.as_deref(), Some("Friday"));
        assert_eq!(action.related, ["T-7"]);
        assert_eq!(
            (draft.method.as_str(), draft.summary_by.as_str()),
            ("model m", "model m")
        );
        assert_ne!(draft.title, "Invented");
    }

    #[test]
    fn what_no_line_bears_out_is_left_out_and_counted() {
        let invented = action("Avery will burn the mural down", "Avery");
        let draft = kept(vec![action("will mail the printer", "Mallory"), invented]);
        let draft = draft.expect("one is grounded");
        assert_eq!((draft.actions.len(), draft.actions_left_out), (1, 1));
        assert_eq!(
            draft.actions[0].owner, None,
            "nobody of that name was there"
        );
    }

    #[test]
    fn a_draft_without_any_ground_is_refused_and_an_empty_one_is_not() {
        assert!(kept(vec![action("the", "Avery"), action("", "Avery")]).is_err());
        assert!(
            kept(Vec::new())
                .expect("nothing to do is an answer")
                .actions
                .is_empty()
        );
    }

    #[test]
    fn a_flood_of_actions_is_cut_at_the_bound() {
        let draft = kept(vec![action("will mail the printer", "Toby"); 60]).expect("grounded");
        assert_eq!(
            (draft.actions.len(), draft.actions_left_out),
            (ACTIONS_MAX, 10)
        );
    }
}
