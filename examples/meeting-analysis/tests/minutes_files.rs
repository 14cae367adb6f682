//! The summariser on whole files: the sample minutes of this example, and real ones where they are.
//!
//! Real minutes are looked for in the folder that `MEETINGS_DIR` names, else beside the workspace
//! in `../shared/data/meetings`. Without that folder their tests say so and check nothing; with
//! `MEETINGS_DIR` set, a missing folder fails.

use std::path::{Path, PathBuf};

use meeting_analysis::minutes::{INPUT_BYTES_MAX, Minutes};
use meeting_analysis::summarise::{Draft, Extras, METHOD, local_summary, summarise};

fn parse(path: &Path) -> Minutes {
    let bytes = std::fs::read(path).expect("the file is readable");
    let name = path.file_name().expect("a file").to_string_lossy();
    Minutes::parse(&name, &bytes, INPUT_BYTES_MAX).expect("minutes are text")
}

fn draft(path: &Path) -> Draft {
    summarise(&parse(path), Extras::default())
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("minutes")
        .join(name)
}

/// The folder of real minutes, if it is there.
fn real() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEETINGS_DIR") {
        let folder = PathBuf::from(named);
        assert!(
            folder.is_dir(),
            "MEETINGS_DIR names no folder: {}",
            folder.display()
        );
        return Some(folder);
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = workspace.join("../shared/data/meetings");
    if !folder.is_dir() {
        eprintln!(
            "not checked: no real minutes in {}; set MEETINGS_DIR",
            folder.display()
        );
        return None;
    }
    Some(folder)
}

/// Every action as `line owner: title`.
fn shown(draft: &Draft) -> Vec<String> {
    let show = |action: &meeting_analysis::summarise::Action| {
        let owner = action.owner.as_deref().unwrap_or("-");
        format!("{} {owner}: {}", action.evidence.line, action.title)
    };
    draft.actions.iter().map(show).collect()
}

/// Compares by the beginning of each title: topics that follow are not the point here.
fn check(draft: &Draft, expected: &[&str]) {
    let found = shown(draft);
    let fits = |pair: (&String, &&str)| pair.0.starts_with(*pair.1);
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(fits),
        "{}\nfound    {found:#?}\nexpected {expected:#?}",
        draft.title
    );
}

/// The samples, and the actions that a reader would find in them.
const SAMPLES: [(&str, &[&str]); 7] = [
    (
        "steering-2026-03.md",
        &[
            "36 Chiara Russo: Write a migration note and repeat the ecosystem run",
            "38 -: Invite Goro to the next meeting to discuss, then decide",
            "43 Farid Nasser: Bisect between 8.2 and 8.3 first",
            "56 Bram de Wit: PR a change that writes caches from main only",
            "60 Esther Lindqvist: Order the new certificate and list its fingerprint",
            "67 Amara Okafor: Bring the three people involved into one call",
        ],
    ),
    (
        "board-call-2026-01.md",
        &[
            "9 Hana Novak: Publish the quarterly report on the website by the end of the month",
            "9 Ivo Petrov: Check the numbers for hosting before that",
            "20 Ivo Petrov: Request quotes from two other companies",
            "24 -: Extend the insurance for events by one year",
        ],
    ),
    (
        "infra-sync-2025-11.md",
        &[
            "14 Noor Haddad: Drive to the data centre on Thursday and look at the console",
            "20 -: Take this back to the issue, we need the exact wording",
            "29 -: Remove them after a message to each person",
            "31 Mirela Ionescu: Write to the 14 people today",
            "32 Mirela Ionescu: Remove whoever has not answered by 1 December",
            "35 -: Document how to rotate by hand if the registry is down",
            "41 Bram de Wit: Add the reload to the role",
        ],
    ),
    (
        "release-planning-2026-02.md",
        &[
            "32 Chiara Russo: Review the four waiting pull requests",
            "33 Dmitri Volkov: Run the ecosystem tests against the candidate",
            "34 Lucía Herrera: Write the migration note for the new resolver",
            "35 Farid Nasser: Order hardware tokens for the new releaser",
        ],
    ),
    (
        "docs-team-2025-09.md",
        &[
            "20 Olu Adeyemi: Fix the links between versions before 8.2 is released",
            "21 Pia Sørensen: Migration guide for the stream constructor",
            "22 Dmitri Volkov and Pia Sørensen: Migration guide for the timer callbacks",
            "23 Lucía Herrera: Mark code samples for screen readers",
            "25 -: Try the new search and report what is missing",
        ],
    ),
    (
        "summit-planning-2026-04.md",
        &[
            "11 Quentin Moreau: Send the floor plan to everyone who runs a session",
            "12 Noor Haddad: Bring two spare access points",
            "13 Pia Sørensen: Ask the university for a recommendation",
            "19 Pia Sørensen: Publish the programme on 4 May",
            "20 Amara Okafor: Moderate the panel on maintenance",
            "21 -: Find a replacement for the workshop on fuzzing",
            "25 Hana Novak: Inform all applicants this week",
            "26 Hana Novak: Collect receipts on site",
            "27 outreach team: Let the outreach team handle the banner sizes",
            "31 Quentin Moreau: Order name badges without employer",
            "32 Noor Haddad: Check that the stream can be recorded",
            "33 Amara Okafor: Remind the speakers of the code of conduct",
        ],
    ),
    ("open-house-2025-12.md", &[]),
];

#[test]
fn every_sample_gives_the_actions_that_a_reader_would_find() {
    for (name, expected) in SAMPLES {
        check(&draft(&sample(name)), expected);
    }
}

#[test]
fn due_dates_of_a_table_are_kept_with_their_actions() {
    let draft = draft(&sample("release-planning-2026-02.md"));
    let due: Vec<Option<&str>> = draft
        .actions
        .iter()
        .map(|action| action.due.as_deref())
        .collect();
    assert_eq!(due, [Some("17 Feb"), Some("26 Feb"), Some("20 Feb"), None]);
}

#[test]
fn the_sample_of_the_readme_is_rich_in_all_that_a_draft_holds() {
    let draft = draft(&sample("steering-2026-03.md"));
    assert_eq!(draft.date.as_deref(), Some("2026-03-04"));
    assert_eq!(
        (draft.method.as_str(), draft.summary_by.as_str()),
        (METHOD, METHOD)
    );
    assert_eq!(draft.summary.len(), 5);
    let decided: Vec<u32> = draft
        .decisions
        .iter()
        .map(|decision| decision.evidence.line)
        .collect();
    assert_eq!(decided, [25, 50, 72]);
}

#[test]
fn evidence_is_the_line_of_the_file_that_it_names() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("minutes")];
    folders.extend(real());
    for path in folders.iter().flat_map(|folder| markdown(folder)) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        for action in draft(&path).actions {
            let at = usize::try_from(action.evidence.line).expect("small") - 1;
            let line = lines[at].trim();
            assert!(
                action.evidence.text.starts_with(line),
                "{}: {action:?}",
                path.display()
            );
        }
    }
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is readable");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.retain(|path| path.file_name().is_some_and(|name| name != "README.md"));
    paths.sort();
    paths
}

#[test]
fn every_real_file_gives_at_least_one_action_a_title_and_a_date() {
    let Some(folder) = real() else { return };
    let paths = markdown(&folder);
    assert!(!paths.is_empty(), "{} holds no minutes", folder.display());
    for path in paths {
        let draft = draft(&path);
        assert!(!draft.actions.is_empty(), "{}", path.display());
        assert!(
            draft.date.is_some() && draft.title.contains("Meeting"),
            "{}",
            path.display()
        );
        assert!(
            !local_summary(&parse(&path)).sentences.is_empty(),
            "{}",
            path.display()
        );
    }
}

/// Real minutes, and the actions that were judged by reading them.
const KNOWN: [(&str, &[&str]); 4] = [
    (
        "minutes-2018-01-31.md",
        &[
            "34 -: Remove the block if user resolves the issue",
            "40 -: Take back to GitHub with request that we review so we can discuss next time",
            "42 Jules: Invite Rowan as guest to discuss this one issue",
            "49 -: Invite Toby to next meeting to discuss, then call for vote",
            "54 Morgan: Coordinate with Milo meeting to discussion",
            "67 Jules: Work out solution or define option to vote on",
            "73 async hooks team: Let async hooks team address, removing tag for now",
            "119 JDD: Open specific issues in the security-wg repo to raise the concerns",
        ],
    ),
    (
        "minutes-2018-03-28.md",
        &[
            "31 -: Guide needs to be in docs or at least linked from docs",
            "33 -: Needs reviews #19524",
            "38 Harper: Summary coming next week",
        ],
    ),
    (
        "minutes-2025-03-05.md",
        &[
            "30 -: Nominate people for the contributor spotlight",
            "47 -: Remove tsc-agenda for now — Talk about how Node.js is funded - fund",
            "51 -: Remove tsc-agenda for now — Talk about how Node.js is funded - foundation",
            "66 -: Review and comment — Test runner matching every .ts and .js",
            "93 Devon: At mention the package maintenance team in the issue",
            "94 Devon: Land the PR if there are no objections on Monday",
            "103 -: Help Ellis Kai as there are many issues in the build System",
            "108 Blake: Submit patch to v8",
        ],
    ),
    (
        "minutes-2026-02-11.md",
        &[
            "31 -: Nominate people for the contributor spotlight",
            "41 -: Go back to GitHub — tools: add ncrypto updater script #61613",
            "42 -: Figure out if we do want to keep nodejs/ncrypto the source of truth",
            "55 Devon: PR in a few lines per workflow to disable sccache on non-main",
            "70 -: Propose sessions — Collaborator Summits 2026 #1800",
            "79 -: Need more volunteer to do that PM work",
            "86 Devon: Ask a clarifying question in the issue",
        ],
    ),
];

#[test]
fn the_four_known_files_give_the_actions_that_were_judged_by_reading_them() {
    let Some(folder) = real() else { return };
    for (name, expected) in KNOWN
        .into_iter()
        .filter(|(name, _)| folder.join(name).is_file())
    {
        check(&draft(&folder.join(name)), expected);
    }
}
