//! sled's failures as the table's: what is damage, what is the system's, and that a panic is the
//! first and never more than this call.

use std::any::Any;
use std::fmt::Display;
use std::path::Path;

use mainstay_ledger_log::table::TableError;

use super::panics::caught;

/// Runs one call of sled. A panic is damage: sled panics when its pages contradict each other.
pub(super) fn guarded<T>(
    doing: &str,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, TableError> {
    match caught(call) {
        Ok(done) => done.map_err(|error| of_sled(doing, &error)),
        Err(panic) => Err(panicked(doing, &*panic)),
    }
}

/// A panic over what the system refused is not damage; any other is.
pub(super) fn panicked(doing: &str, panic: &(dyn Any + Send)) -> TableError {
    let text = panic_text(panic);
    let what = format!("sled panicked while {doing}: {text}");
    match tells_of_the_system(&text) {
        true => TableError::Io(what),
        false => TableError::Damaged(what),
    }
}

/// What sled said. What the system refused is not damage; anything else that sled says about its
/// files is.
pub(super) fn of_sled(doing: &str, error: &sled::Error) -> TableError {
    let text = format!("sled, {doing}: {error}");
    match error {
        sled::Error::Io(_) if is_of_the_system(error) => TableError::Io(text),
        sled::Error::Io(_)
        | sled::Error::Corruption { .. }
        | sled::Error::CollectionNotFound(_)
        | sled::Error::ReportableBug(_)
        | sled::Error::Unsupported(_) => TableError::Damaged(text),
    }
}

/// sled has errors of its own that it calls those of the system, without a number.
fn is_of_the_system(error: &sled::Error) -> bool {
    let sled::Error::Io(cause) = error else {
        return false;
    };
    let told_again = tells_of_the_system(&cause.to_string());
    cause.raw_os_error().is_some() || told_again || is_held(error)
}

/// Once a write failed sled says so for ever, with the error's number in its text only.
fn tells_of_the_system(text: &str) -> bool {
    text.contains("Os { code")
}

/// Whether sled's own lock is held.
pub(super) fn is_held(error: &sled::Error) -> bool {
    let sled::Error::Io(cause) = error else {
        return false;
    };
    cause.to_string().contains("could not acquire lock")
}

/// What the system refused about `path`.
pub(super) fn io_error(doing: &str, path: &Path, error: &dyn Display) -> TableError {
    TableError::Io(format!("{doing} {}: {error}", path.display()))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn of(cause: io::Error) -> TableError {
        of_sled("writing", &sled::Error::Io(cause))
    }

    #[test]
    fn a_full_disk_is_the_systems_also_when_sled_remembers_it() {
        let full = || io::Error::from_raw_os_error(28);
        assert!(matches!(of(full()), TableError::Io(_)));
        let again = sled::Error::Io(full()).clone();
        assert!(matches!(of_sled("writing", &again), TableError::Io(_)));
        assert!(matches!(
            of_sled("writing", &again.clone()),
            TableError::Io(_)
        ));
        let panic = std::panic::catch_unwind(|| -> () {
            let error = sled::Error::Io(io::Error::from_raw_os_error(28));
            panic!("it did not work: {error:?}");
        });
        let panic = panicked("flushing", &*panic.unwrap_err());
        assert!(matches!(panic, TableError::Io(_)), "{panic}");
    }

    #[test]
    fn what_sled_says_about_its_files_is_damage_and_so_is_a_panic() {
        let short = io::Error::new(io::ErrorKind::UnexpectedEof, "it ends early");
        assert!(matches!(of(short), TableError::Damaged(_)));
        let corrupt = sled::Error::Corruption { at: None, bt: () };
        assert!(matches!(
            of_sled("reading", &corrupt),
            TableError::Damaged(_)
        ));
        let found = guarded("reading", || -> sled::Result<()> {
            panic!("a page without a root")
        });
        let found = found.unwrap_err();
        assert!(matches!(found, TableError::Damaged(_)));
        assert!(
            found.to_string().contains("a page without a root"),
            "{found}"
        );
    }
}
