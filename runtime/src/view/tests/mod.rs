//! Views of runs that were driven through the pure core by hand.

mod hidden;
mod shape;
mod story;
mod trouble;
mod why;
mod why_limits;
mod words;

use story::Story;

use super::RunView;

fn view(story: &Story) -> RunView {
    RunView::of(&story.run, &story.recorded)
}

/// The view as a reader without our types gets it.
fn json(view: &RunView) -> serde_json::Value {
    serde_json::from_str(&serde_json::to_string(view).unwrap()).unwrap()
}

/// The sentences of the timeline that name `event`.
fn told(view: &RunView, event: &str) -> Vec<String> {
    let rows = view.timeline.iter().filter(|row| row.event == event);
    rows.map(|row| row.text.clone()).collect()
}
