//! `chaos campaign`, `chaos run` and `chaos selftest`: what they print, and how they end.

use std::fs;

use serde_json::Value;

use crate::support::say;

const PLAN: &str = "seeds = 4\n\n[[fault]]\nkind = \"reply_lost\"\ndependency = \"tickets\"\nnth = 1\n\
    \n[[fault]]\nkind = \"killed\"\nnth = 6\nmoment = \"written\"\nms = 250\n";

fn json(args: &[&str]) -> Value {
    say(&[args, &["--json"]].concat()).json()
}

#[test]
fn a_campaign_says_its_figures_and_the_same_seeds_give_the_same_logs() {
    let args = ["chaos", "campaign", "--seeds", "12", "--from", "5"];
    let report = json(&args);
    assert_eq!(report["class"], "meeting-analysis-model");
    assert_eq!(
        (&report["schedules"], &report["from"]),
        (&12.into(), &5.into())
    );
    assert_eq!(report["violations"], Value::Array(Vec::new()));
    assert!(0.0 < report["schedules_per_second"].as_f64().unwrap());
    assert!(30 < report["hits"].as_object().unwrap().len());
    let hash = report["log_hash"].as_str().unwrap();
    assert_eq!(hash.len(), 64);
    assert_eq!(json(&args)["log_hash"], hash);
    assert_ne!(
        json(&["chaos", "campaign", "--seeds", "11"])["log_hash"],
        hash
    );
    let said = say(&args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("12 of 12 schedules from seed 5"),
        "{said:?}"
    );
    assert!(said.out.contains("0 violations"), "{said:?}");
}

#[test]
fn a_plan_is_tried_and_its_report_is_a_page_that_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, page) = (
        folder.path().join("plan.toml"),
        folder.path().join("report.html"),
    );
    fs::write(&plan, PLAN).unwrap();
    let args = [
        "chaos",
        "run",
        plan.to_str().unwrap(),
        "--html",
        page.to_str().unwrap(),
    ];
    let said = say(&args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("hits: reply_lost 4, killed 4"),
        "{said:?}"
    );
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("Everything held.") && page.contains("tickets gets ticket_write[0]/1"));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
}

#[test]
fn a_fault_that_never_hits_is_said_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, "[[fault]]\nkind = \"canceled\"\nat_ms = 900000000\n").unwrap();
    let said = say(&["chaos", "run", plan.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("NEVER HIT: canceled"), "{said:?}");
    assert!(said.err.contains("1 faults never hit"), "{said:?}");
}

#[test]
fn what_cannot_be_tried_is_refused_with_what_to_write_instead() {
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        ("seeds = 0\n", "`seeds = 0` tries nothing"),
        ("sedes = 1\n", "unknown field `sedes`"),
        ("class = \"x\"\n", "there are: meeting-analysis-model"),
        ("[[fault]]\nkind = \"killed\"\n", "has no `nth`"),
        (
            "[[fault]]\nkind = \"refused\"\nnth = 1\n",
            "names no target",
        ),
        (
            "[[fault]]\nkind = \"refused\"\nnth = 1\ndependency = \"x\"\n",
            "asks no dependency `x`; there are `local_summary`",
        ),
        (
            "[[fault]]\nkind = \"reply_lost\"\nnth = 1\ndependency = \"model\"\n",
            "it is for dependencies that are written to",
        ),
    ] {
        let plan = folder.path().join("plan.toml");
        fs::write(&plan, text).unwrap();
        let said = say(&["chaos", "run", plan.to_str().unwrap()]);
        assert_eq!(said.code, 2, "{text}: {said:?}");
        assert!(said.err.contains(wanted), "{text}: {said:?}");
        assert!(said.out.is_empty(), "{text}: {said:?}");
    }
    let missing = say(&[
        "chaos",
        "run",
        folder.path().join("none.toml").to_str().unwrap(),
    ]);
    assert_eq!(missing.code, 2, "{missing:?}");
    let class = say(&["chaos", "campaign", "--class", "x"]);
    assert_eq!(class.code, 2, "{class:?}");
}

/// With one world each, some bugs are not seen: that is said, and no success.
#[test]
fn a_selftest_names_each_bug_and_whether_it_was_caught() {
    let said = say(&["chaos", "selftest", "--seeds", "1", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("not caught within 1 seeds"), "{said:?}");
    let tested: Value = serde_json::from_str(&said.out).unwrap();
    let bugs = tested["bugs"].as_array().unwrap();
    assert!(10 <= bugs.len());
    let caught = bugs.iter().filter(|bug| bug["caught"] == true);
    assert!((1..bugs.len()).contains(&caught.count()), "{bugs:?}");
    for bug in bugs {
        assert_eq!(
            (&bug["schedules"], bug["name"].is_string()),
            (&1.into(), true)
        );
        if bug["caught"] == true {
            assert!(bug["property"].is_string() && bug["seed"] == 1, "{bug}");
        }
    }
    let said = say(&["chaos", "selftest", "--seeds", "1"]);
    assert!(
        said.out.contains("MISSED") && said.out.contains("caught"),
        "{said:?}"
    );
}

/// What a program mounts comes before what is built in.
#[test]
fn a_program_offers_campaigns_of_its_own() {
    use clap::Parser;
    use mainstay_chaos::{Guarantees, Offered, meeting};
    use mainstay_cli::{Cli, Mounted};

    let own = Offered::new(|| {
        let campaign = meeting::campaign_of().expect("a valid class");
        let never = |_: &mainstay_chaos::World<'_>| std::env::var_os("PATH").is_some();
        campaign.check(Guarantees::all()).check(never).seeds(2)
    });
    let run = |words: &[&str]| {
        let cli = Cli::try_parse_from([&["acme", "chaos", "campaign", "--json"], words].concat());
        let code = cli
            .expect("known words")
            .run_mounting(&Mounted::new().campaign(own.clone()));
        format!("{code:?}")
    };
    let good = format!("{:?}", std::process::ExitCode::SUCCESS);
    assert_eq!(run(&["--seeds", "3"]), good);
    assert_eq!(run(&["--class", own.name(), "--seeds", "3"]), good);
    assert_ne!(run(&["--class", "another"]), good);
}
