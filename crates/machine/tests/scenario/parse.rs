//! Text to lines: verb, words, options, expectations. It knows no verb's meaning.

use std::collections::BTreeMap;

use mainstay_types::{CostUnits, Millis};

/// A class by name, so that scenarios need not repeat it.
const MEETING: &str = "
    read  policy attempts=2 timeout=3100ms estimate=1s fallback=snapshot,human
    soft  related timeout=3s notice='related tickets not searched'
    soft  specialist needs=policy timeout=2s fallback=local notice='no specialist summary'
    read  draft needs=policy,related,specialist attempts=2 timeout=4s estimate=2s cost=4
    each  ticket_write needs=draft attempts=3 timeout=2s cost=0.1 max=50 scope=business \
          effect=ticket bound=200ms
    result draft ticket_write
    reserve synthesis=1800ms reconcile=1200ms deliver=400ms
";

/// A scenario's lines: the class's first, then what happens.
pub(crate) struct Script {
    pub(crate) lines: Vec<Line>,
}

/// One line.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) verb: String,
    pub(crate) words: Vec<String>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) expected: Vec<String>,
}

impl Script {
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.replace("class meeting", MEETING.trim());
        let lines = text.replace("\\\n", " ");
        let lines = lines
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim());
        Self {
            lines: lines
                .filter(|line| !line.is_empty())
                .map(Line::parse)
                .collect(),
        }
    }

    /// The lines that describe the class.
    pub(crate) fn class(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().take_while(|line| line.verb != "start")
    }

    /// The line that starts the run.
    pub(crate) fn start(&self) -> &Line {
        self.lines
            .iter()
            .find(|line| line.verb == "start")
            .expect("a scenario starts a run")
    }
}

impl Line {
    fn parse(text: &str) -> Self {
        let (left, right) = text.split_once("->").unwrap_or((text, ""));
        let (words, options): (Vec<_>, Vec<_>) = tokens(left)
            .into_iter()
            .partition(|word| !word.contains('='));
        let options = options.iter().filter_map(|word| word.split_once('='));
        let options = options.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let expected = right
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let mut words = words.into_iter();
        Self {
            text: text.to_owned(),
            verb: words.next().expect("a line has a verb"),
            words: words.collect(),
            options,
            expected: expected.map(str::to_owned).collect(),
        }
    }

    /// The word at this place.
    #[track_caller]
    pub(crate) fn word(&self, at: usize) -> &str {
        self.words
            .get(at)
            .unwrap_or_else(|| panic!("`{}` lacks word {at}", self.text))
    }

    /// The option's value.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    pub(crate) fn time(&self, name: &str) -> Option<Millis> {
        self.option(name).map(millis)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.option(name)
            .map(|text| text.parse().expect("a number"))
    }

    pub(crate) fn cost(&self, name: &str) -> Option<CostUnits> {
        self.option(name).map(cost)
    }

    /// Fails on options this verb does not have, so that a typing error cannot pass.
    #[track_caller]
    pub(crate) fn only(&self, known: &[&str]) {
        let strange = self
            .options
            .keys()
            .find(|name| !known.contains(&name.as_str()));
        assert!(
            strange.is_none(),
            "`{}`: unknown option {strange:?}",
            self.text
        );
    }
}

/// Words; single quotes keep blanks together.
fn tokens(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// `250ms`, `12s`, `20m`, `1h`, `2d`; decimals allowed.
#[track_caller]
pub(crate) fn millis(text: &str) -> Millis {
    let units = [
        ("ms", 1),
        ("s", 1_000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];
    let found = units.iter().find_map(|(unit, ms)| {
        let number = text.strip_suffix(unit)?;
        number
            .ends_with(|c: char| c.is_ascii_digit())
            .then_some((number, *ms))
    });
    let (number, unit) = found.unwrap_or_else(|| panic!("`{text}` is no time"));
    Millis::new(micros(number) * unit / 1_000_000)
}

/// Units with decimals: `4`, `0.1`.
#[track_caller]
pub(crate) fn cost(text: &str) -> CostUnits {
    CostUnits::micros(micros(text))
}

fn micros(text: &str) -> u64 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let rest = format!("{rest:0<6}");
    let number = |text: &str| {
        text.parse::<u64>()
            .unwrap_or_else(|_| panic!("`{text}`: digits"))
    };
    number(whole) * 1_000_000 + number(&rest)
}
