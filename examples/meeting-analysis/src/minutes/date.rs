//! The day of a meeting, wherever minutes put it.
//!
//! Only real calendar days count; `2026-13-45` is no date.

use chrono::NaiveDate;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Longest text that is searched, in bytes: a date stands near the start of its line.
const SEARCH_BYTES_MAX: usize = 400;

/// The first day named in `text`, as `YYYY-MM-DD`.
///
/// Reads `2026-03-04`, `2026/03/04`, `4 March 2026`, `4th of March, 2026` and `March 4, 2026`.
pub(super) fn find(text: &str) -> Option<String> {
    let text = super::parse::head(text, SEARCH_BYTES_MAX);
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '/')
        .filter(|word| !word.is_empty() && *word != "of")
        .collect();
    let date = words.iter().find_map(|word| numeric(word)).or_else(|| {
        words.windows(3).find_map(|three| {
            let (year, month) = (three[2].parse::<i32>().ok()?, month(three[0]));
            match month {
                Some(month) => day(year, month, three[1]),
                None => day(year, self::month(three[1])?, three[0]),
            }
        })
    });
    date.map(|date| date.format("%Y-%m-%d").to_string())
}

/// A date at the start of or inside a file's name counts too: `minutes-2018-01-31.md`.
fn numeric(word: &str) -> Option<NaiveDate> {
    let parts: Vec<&str> = word.split(['-', '/']).take(64).collect();
    parts.windows(3).find_map(|three| {
        if three[0].len() != 4 || 2 < three[1].len() {
            return None;
        }
        let digits: String = three[2].chars().take_while(char::is_ascii_digit).collect();
        plausible(
            three[0].parse().ok()?,
            three[1].parse().ok()?,
            digits.parse().ok()?,
        )
    })
}

fn month(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    let short: String = lower.chars().take(3).collect();
    if lower.len() < 3 || !lower.chars().all(char::is_alphabetic) {
        return None;
    }
    let at = MONTHS.iter().position(|month| *month == short)?;
    u32::try_from(at + 1).ok()
}

fn day(year: i32, month: u32, word: &str) -> Option<NaiveDate> {
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    plausible(year, month, digits.parse().ok()?)
}

fn plausible(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    if !(1900..=2199).contains(&year) {
        return None;
    }
    NaiveDate::from_ymd_opt(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_habit_are_found_and_impossible_ones_are_not() {
        let table = [
            ("Committee (TSC) Meeting 2018-01-31", Some("2018-01-31")),
            ("minutes-2018-03-28.md", Some("2018-03-28")),
            ("Date: 4 March 2026", Some("2026-03-04")),
            ("held on the 4th of March, 2026, online", Some("2026-03-04")),
            ("March 4, 2026", Some("2026-03-04")),
            ("2026/3/4 at noon", Some("2026-03-04")),
            ("2026-13-45", None),
            ("30 Feb 2026", None),
            ("section 3 may 12", None),
            ("nothing here", None),
        ];
        for (text, date) in table {
            assert_eq!(find(text).as_deref(), date, "{text}");
        }
    }
}
