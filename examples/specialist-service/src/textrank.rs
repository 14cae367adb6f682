//! TextRank: a sentence is central when central sentences share its words.
//!
//! It must never depend on hash order or threads: equal input gives equal scores, bit for bit.

use std::collections::{BTreeMap, BTreeSet};

/// Share of a sentence's weight that comes from its neighbours.
const DAMPING: f64 = 0.85;

/// Rounds at most; the scores have settled long before.
const ROUNDS_MAX: usize = 60;

/// Largest change of any score that counts as settled.
const SETTLED: f64 = 1e-7;

/// Sentences compared with each other: the cost of a text grows with its length, not its square.
const WINDOW: usize = 512;

/// How much a sentence that names the whole focus is preferred over one that names none of it:
/// enough that one without neighbours, which keeps 15 % of its start, comes before the average.
const FOCUS_WEIGHT: f64 = 10.0;

/// Words that say nothing about what a sentence is about.
const STOP_WORDS: &str = "a about after all also am an and any are as at be because been before \
    being both but by can could did do does doing done for from get had has have having he her \
    here him his how i if in into is it its just may me might more most must my no nor not now of \
    off on once one only or other our out over own re said same say says she should so some such \
    than that the their them then there these they this those through to too under until up us \
    very was we were what when where which while who whom why will with would yes you your";

/// Turns sentences into sets of word numbers.
#[derive(Debug)]
pub(crate) struct Words {
    stop: BTreeSet<&'static str>,
    numbers: BTreeMap<String, usize>,
}

/// The distinct words of a sentence, as sorted numbers.
pub(crate) type WordSet = Vec<usize>;

impl Words {
    pub(crate) fn new() -> Words {
        Words {
            stop: STOP_WORDS.split_whitespace().collect(),
            numbers: BTreeMap::new(),
        }
    }

    /// The sentence's words that say something.
    pub(crate) fn of(&mut self, sentence: &str) -> WordSet {
        let mut set: WordSet = Vec::new();
        for word in sentence.split(|c: char| !c.is_alphanumeric()) {
            let word = word.to_lowercase();
            if word.is_empty() || self.stop.contains(word.as_str()) {
                continue;
            }
            let next = self.numbers.len();
            set.push(*self.numbers.entry(word).or_insert(next));
        }
        set.sort_unstable();
        set.dedup();
        set
    }
}

/// One score per sentence, around 1; `focus` draws the walk to the sentences that name it.
pub(crate) fn scores(sentences: &[WordSet], focus: &WordSet) -> Vec<f64> {
    sentences
        .chunks(WINDOW)
        .flat_map(|window| rank(window, focus))
        .collect()
}

/// Shared words, less for long sentences, which share words with everything.
pub(crate) fn similarity(a: &WordSet, b: &WordSet) -> f64 {
    // One word each would divide by zero, and says nothing about being alike.
    if a.len() < 2 || b.len() < 2 {
        return 0.0;
    }
    count(shared(a, b)) / (count(a.len()).ln() + count(b.len()).ln())
}

fn rank(window: &[WordSet], focus: &WordSet) -> Vec<f64> {
    let start = start_weights(window, focus);
    let edges = edges(window);
    let strength: Vec<f64> = edges
        .iter()
        .map(|near| near.iter().map(|(_, weight)| weight).sum())
        .collect();
    let mut scores = start.clone();
    for _ in 0..ROUNDS_MAX {
        let next: Vec<f64> = (0..window.len())
            .map(|to| {
                let flow: f64 = edges[to]
                    .iter()
                    .map(|&(from, w)| scores[from] * w / strength[from])
                    .sum();
                (1.0 - DAMPING) * start[to] + DAMPING * flow
            })
            .collect();
        let moved = next
            .iter()
            .zip(&scores)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        scores = next;
        if moved < SETTLED {
            break;
        }
    }
    scores
}

/// Where the walk starts anew: everywhere alike, or rather where the focus is named. Mean 1.
fn start_weights(window: &[WordSet], focus: &WordSet) -> Vec<f64> {
    if focus.is_empty() {
        return vec![1.0; window.len()];
    }
    let named = |set: &WordSet| count(shared(set, focus)) / count(focus.len());
    let weights: Vec<f64> = window
        .iter()
        .map(|set| 1.0 + FOCUS_WEIGHT * named(set))
        .collect();
    let mean = weights.iter().sum::<f64>() / count(weights.len());
    weights.into_iter().map(|weight| weight / mean).collect()
}

fn edges(window: &[WordSet]) -> Vec<Vec<(usize, f64)>> {
    let mut edges = vec![Vec::new(); window.len()];
    for a in 0..window.len() {
        for b in a + 1..window.len() {
            let weight = similarity(&window[a], &window[b]);
            if 0.0 < weight {
                edges[a].push((b, weight));
                edges[b].push((a, weight));
            }
        }
    }
    edges
}

fn shared(a: &WordSet, b: &WordSet) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    shared
}

/// Word and sentence counts are far below where a float would round them.
fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(sentences: &[&str], focus: &str) -> Vec<f64> {
        let mut words = Words::new();
        let sets: Vec<WordSet> = sentences
            .iter()
            .map(|sentence| words.of(sentence))
            .collect();
        let focus = words.of(focus);
        scores(&sets, &focus)
    }

    const TALK: [&str; 4] = [
        "The release needs a signed build",
        "A signed release build goes out on Monday",
        "Monday is release day",
        "Lunch was rather good",
    ];

    #[test]
    fn the_sentence_that_shares_most_is_most_central_and_the_odd_one_least() {
        let scores = ranked(&TALK, "");
        let best = (0..4)
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .unwrap();
        assert_eq!(best, 1, "{scores:?}");
        assert!(scores[3] < 0.2, "{scores:?}");
    }

    #[test]
    fn a_focus_lifts_what_names_it() {
        let (plain, focused) = (ranked(&TALK, ""), ranked(&TALK, "lunch"));
        assert!(plain[3] < focused[3], "{plain:?} {focused:?}");
    }

    #[test]
    fn weight_is_neither_made_nor_lost_in_a_connected_text() {
        let sum: f64 = ranked(&TALK[..3], "").iter().sum();
        assert!((sum - 3.0).abs() < 1e-5, "{sum}");
    }

    #[test]
    fn texts_longer_than_a_window_get_a_score_for_each_sentence() {
        let many: Vec<String> = (0..WINDOW * 2 + 3)
            .map(|n| format!("point {n} on budget"))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(ranked(&many, "").len(), many.len());
        assert!(ranked(&[], "").is_empty());
    }
}
