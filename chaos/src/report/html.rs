//! The report as one page that needs nothing else: no script, no font, no picture from elsewhere.

use std::fmt::Write as _;

use super::timeline::Moment;
use super::{Report, Violation};

const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;\
color:#1c2126;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #dde2e7;vertical-align:top}\
td.n,th.n{text-align:right}.bad{color:#a4161a;font-weight:600}.good{color:#1b6e3c;font-weight:600}\
.fault td{background:#fff1e0}.outside td{color:#24527a}.caller td{background:#eef6ee}\
pre{background:#f5f7f9;padding:.7rem;overflow:auto}summary{cursor:pointer;padding:.3rem 0}\
@media(prefers-color-scheme:dark){body{color:#dfe5ea;background:#14181c}\
th,td{border-color:#2c343b}pre{background:#1d2329}.fault td{background:#3a2a12}\
.caller td{background:#16301f}.outside td{color:#8fc1ee}.bad{color:#ff8a8a}.good{color:#7fd6a1}}";

impl Report {
    /// The report as one self-contained HTML page, with its timelines.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page = String::new();
        let title = escaped(&format!("{}: {} schedules", self.class, self.schedules));
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
             <style>{STYLE}</style></head><body><h1>{title}</h1>"
        );
        self.figures(&mut page);
        self.violations(&mut page);
        self.coverage(&mut page);
        let _ = write!(
            page,
            "<h2>What happened in the world of seed {}</h2>",
            self.from
        );
        timeline(&mut page, &self.timeline);
        page.push_str("</body></html>\n");
        page
    }

    fn figures(&self, page: &mut String) {
        let (class, text) = match self.is_good() {
            true => ("good", "Everything held.".to_owned()),
            false => (
                "bad",
                format!(
                    "{} schedules violate something; {} faults never hit.",
                    self.violations.len(),
                    self.never_hit.len()
                ),
            ),
        };
        let _ = write!(
            page,
            "<p id=\"verdict\" class=\"{class}\">{text}</p><table>"
        );
        let commit = self.commit.as_deref().unwrap_or("not known");
        let ends = self.outcomes.iter();
        let ends: Vec<String> = ends
            .map(|(kind, times)| format!("{times} {kind}"))
            .collect();
        for (name, value) in [
            ("commit", commit.to_owned()),
            ("seeds", format!("{} from {}", self.seeds, self.from)),
            (
                "schedules per second",
                format!("{:.0}", self.schedules_per_second),
            ),
            (
                "attempts in the median world",
                self.attempts_median.to_string(),
            ),
            (
                "faults that changed something, median",
                self.hits_median.to_string(),
            ),
            ("laps", ends.join(", ")),
            ("hash of all logs", self.log_hash.clone()),
        ] {
            let value = escaped(&value);
            let _ = write!(page, "<tr><th>{name}</th><td>{value}</td></tr>");
        }
        page.push_str("</table>");
    }

    fn violations(&self, page: &mut String) {
        for violation in &self.violations {
            one(page, violation);
        }
    }

    fn coverage(&self, page: &mut String) {
        page.push_str(
            "<h2>What was hit</h2><table id=\"coverage\"><tr><th>fault</th><th>call</th>\
             <th>state</th><th class=\"n\">times</th></tr>",
        );
        for row in &self.coverage {
            let (fault, call, state, hits) = (row.fault, escaped(&row.call), row.state, row.hits);
            let _ = write!(
                page,
                "<tr><td>{fault}</td><td>{call}</td><td>{state}</td>\
                 <td class=\"n\">{hits}</td></tr>"
            );
        }
        for kind in &self.never_hit {
            let _ = write!(
                page,
                "<tr class=\"bad\"><td>{kind}</td><td>-</td><td>never</td>\
                 <td class=\"n\">0</td></tr>"
            );
        }
        page.push_str("</table>");
    }
}

fn one(page: &mut String, violation: &Violation) {
    let _ = write!(page, "<h2 class=\"bad\">Seed {}</h2><ul>", violation.seed);
    for breach in &violation.breaches {
        let (property, what) = (escaped(&breach.property), escaped(&breach.what));
        let _ = write!(page, "<li><b>{property}</b>: {what}</li>");
    }
    let _ = write!(
        page,
        "</ul><p>Shortest schedule found: {} of {} faults.</p><pre>",
        violation.schedule.faults.len(),
        violation.faults
    );
    for fault in &violation.schedule.faults {
        let _ = writeln!(page, "{}", escaped(&fault.to_string()));
    }
    page.push_str("</pre>");
    timeline(page, &violation.timeline);
}

fn timeline(page: &mut String, moments: &[Moment]) {
    page.push_str(
        "<details open><summary>timeline</summary><table class=\"timeline\"><tr>\
         <th class=\"n\">ms</th><th>where</th><th>what</th></tr>",
    );
    for moment in moments {
        let (at, who, what) = (moment.at_ms, moment.who, escaped(&moment.what));
        let _ = write!(
            page,
            "<tr class=\"{who}\"><td class=\"n\">{at}</td><td>{who}</td><td>{what}</td></tr>"
        );
    }
    page.push_str("</table></details>");
}

/// What a user wrote is text, never markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_markup_is_text() {
        let told = escaped("<b onclick='x'>\"&amp;");
        assert_eq!(told, "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;");
    }
}
