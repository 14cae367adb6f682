//! The programs under test: built once by cargo, into the folder and profile of these tests.
//!
//! A program that is older than one of its sources is never used.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Package and program.
const PROGRAMS: [(&str, &str); 5] = [
    ("meeting-analysis", "meeting-analysis"),
    ("ticket-service", "ticket-service"),
    ("specialist-service", "specialist-service"),
    ("mainstay-cli", "mainstay"),
    (env!("CARGO_PKG_NAME"), "meeting-killed"),
];

/// The folder of this package, in the workspace's root.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The path of a program that is up to date.
///
/// # Panics
/// It is none of those under test, or cargo cannot build it; then the message has cargo's words.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    assert!(
        PROGRAMS.iter().any(|(_, program)| *program == name),
        "no program {name}"
    );
    let folder = FOLDER.get_or_init(|| {
        let layout = Layout::of_these_tests();
        layout.bring_up_to_date();
        layout.folder
    });
    folder.join(name)
}

/// Where cargo puts what it builds.
struct Layout {
    /// With the programs.
    folder: PathBuf,
    target_dir: PathBuf,
    triple: Option<String>,
}

impl Layout {
    /// From this test's own place: `TARGET/[TRIPLE/]PROFILE/deps/main-HASH`.
    fn of_these_tests() -> Self {
        let test = std::env::current_exe().expect("a test knows its own program");
        let folder = test
            .parent()
            .and_then(Path::parent)
            .expect("cargo puts tests into deps");
        let above = folder
            .parent()
            .expect("a profile is inside of the target folder");
        // Cargo leaves both; a folder that was there before cargo has only the second.
        let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
        let is_target = marks.iter().any(|mark| above.join(mark).exists());
        let (target_dir, triple) = if is_target {
            (above, None)
        } else {
            let triple = above.file_name().and_then(|name| name.to_str());
            (above.parent().unwrap_or(above), triple.map(str::to_owned))
        };
        Self {
            folder: folder.to_owned(),
            target_dir: target_dir.to_owned(),
            triple,
        }
    }

    /// Builds what is missing or old, once, however many tests ask at the same time.
    fn bring_up_to_date(&self) {
        let file = |name: &str| self.folder.join(format!("mainstay-tests.{name}"));
        let lock = File::create(file("lock")).expect("the target folder can be written");
        lock.lock()
            .expect("a file in the target folder can be locked");
        let asked = modified(&file("built"));
        if PROGRAMS
            .iter()
            .all(|(_, program)| is_fresh(&self.folder, program, asked))
        {
            return;
        }
        // As old as the question: a source that changes while cargo builds is newer.
        File::create(file("asked")).expect("the target folder can be written");
        let mut build = self.build();
        let built = build.output().expect("cargo can be started");
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{build:?} failed:\n{said}");
        std::fs::rename(file("asked"), file("built")).expect("the target folder can be written");
    }

    fn build(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // With this package among them, shared crates are built with the features they have here.
        build.args(["build", "--bins"]);
        for (package, _) in PROGRAMS {
            build.args(["-p", package]);
        }
        if let Some(triple) = &self.triple {
            build.args(["--target", triple]);
        }
        let profile = self.folder.file_name().and_then(|name| name.to_str());
        build.args([
            "--profile",
            profile.filter(|name| *name != "debug").unwrap_or("dev"),
        ]);
        build
            .current_dir(PACKAGE)
            .env("CARGO_TARGET_DIR", &self.target_dir);
        build
    }
}

/// Whether the program is there and no older than its sources, which cargo lists beside it; or
/// cargo was `asked` since they changed, and found nothing to do.
fn is_fresh(folder: &Path, program: &str, asked: Option<SystemTime>) -> bool {
    let Some(built) = modified(&folder.join(program)) else {
        return false;
    };
    let known = asked.map_or(built, |asked| built.max(asked));
    let Ok(listed) = std::fs::read_to_string(folder.join(format!("{program}.d"))) else {
        return false;
    };
    let sources = listed.split_once(':').map_or("", |(_, sources)| sources);
    // Spaces in a path are escaped; cutting such a path gives one that is not there, so a build.
    let mut sources = sources
        .split_whitespace()
        .map(PathBuf::from)
        .collect::<Vec<_>>();
    sources.push(Path::new(PACKAGE).join("../Cargo.lock"));
    sources
        .iter()
        .all(|source| modified(source).is_some_and(|changed| changed <= known))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}
