//! The report's page in a real browser, without a window: it is read as it was meant, and what
//! looks like markup in it is text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mainstay_chaos::{Report, World};

use crate::classes::{over, purchase};

/// What stops a browser that hangs, in seconds.
const PATIENCE: &str = "60";

/// The names under which systems have it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut places = folders
        .iter()
        .flat_map(|folder| NAMES.iter().map(|name| folder.join(name)));
    let found = places.find(|place| place.is_file());
    assert!(
        found.is_some() || std::env::var_os("CI").is_none(),
        "there is no Chromium, and CI must not go without it"
    );
    found
}

/// What the browser is told, so that it asks nobody anything.
fn opened(browser: &Path, profile: &Path, what: &[&str], page: &Path) -> Vec<u8> {
    let output = Command::new("timeout")
        .arg(PATIENCE)
        .arg(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(what)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("the browser can be started");
    assert!(output.status.success(), "{browser:?}: {}", output.status);
    output.stdout
}

/// A report in which something did not hold, with a text that looks like markup.
fn bad_report() -> Report {
    let asked = |world: &World<'_>| match world.receiver("prices").requests() {
        0 | 1 => Ok(()),
        requests => Err(format!("<b id=\"injected\">{requests} & more</b>")),
    };
    let report = over(purchase()).seeds(200).check(asked).report();
    report.expect("it can begin")
}

#[test]
fn a_browser_reads_the_page_as_it_was_meant() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED, NOTHING WAS TESTED: there is no Chromium here");
        return;
    };
    let report = bad_report();
    let violation = report
        .violations
        .first()
        .expect("some price is asked twice");
    let folder = tempfile::tempdir().expect("a folder");
    let (page, picture) = (
        folder.path().join("report.html"),
        folder.path().join("page.png"),
    );
    std::fs::write(&page, report.html()).expect("it can be written");
    let profile = folder.path().join("profile");
    let dom = opened(&browser, &profile, &["--dump-dom"], &page);
    let dom = String::from_utf8(dom).expect("text");
    for wanted in [
        "<p id=\"verdict\" class=\"bad\">",
        &format!("Seed {}</h2>", violation.seed),
        "&lt;b id=\"injected\"&gt;",
        "<table id=\"coverage\"><tbody>",
    ] {
        assert!(dom.contains(wanted), "{wanted}:\n{dom}");
    }
    assert!(
        !dom.contains("<b id=\"injected\">"),
        "what was said became markup"
    );
    let rows = |class: &str| dom.matches(&format!("<tr class=\"{class}\">")).count();
    let told = |who| {
        let moments = violation.timeline.iter().chain(&report.timeline);
        moments.filter(|moment| moment.who == who).count()
    };
    for who in ["log", "outside", "fault", "caller"] {
        assert_eq!(rows(who), told(who), "{who}");
    }
    let shot = format!("--screenshot={}", picture.display());
    opened(
        &browser,
        &profile,
        &[&shot, "--window-size=1000,1400"],
        &page,
    );
    let picture = std::fs::metadata(&picture).expect("a picture was made");
    assert!(
        10_000 < picture.len(),
        "{} bytes are an empty page",
        picture.len()
    );
}
