//! Where the socket of a store lies: in a folder that only its owner can enter.
//!
//! The operating system takes paths of 107 bytes; a store may lie deeper. Then the socket gets a
//! short path elsewhere and a pointer file in the store says which. Neither end may trust a folder
//! that somebody else could have made.

use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mainstay_types::{Code, limits};

use crate::failure::Failure;

/// The socket's folder in the store.
const FOLDER: &str = "socket";
/// The socket in its folder.
const SOCKET: &str = "engine.sock";
/// The file that says where the socket is when it is not beside it.
const POINTER: &str = "PLACE";
/// How much of a pointer file is read.
const POINTER_BYTES_MAX: u64 = 4_096;
/// Hexadecimal digits of the store's path digest in the name of a socket elsewhere.
const DIGITS: usize = 16;

/// Who this process is.
#[must_use]
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes the folder and says where the socket of the store in `store` is to be bound.
///
/// `short` are folders to try when the store's own path is too long, best first.
pub(crate) fn make(store: &Path, short: &[PathBuf]) -> io::Result<PathBuf> {
    let store = fs::canonicalize(store)?;
    let near = store.join(FOLDER);
    make_private(&near)?;
    let socket = near.join(SOCKET);
    let pointer = near.join(POINTER);
    if fits(&socket) {
        remove(&pointer)?;
        return Ok(socket);
    }
    let name = format!("{}.sock", digest(&store));
    let mut last = io::Error::other("no folder has a path that is short enough");
    for folder in short.iter().filter(|folder| fits(&folder.join(&name))) {
        match make_private(folder) {
            Ok(()) => {
                let socket = folder.join(&name);
                point(&pointer, &socket)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Folders for sockets of stores whose own path is too long: the user's runtime folder, then one
/// below the folder for temporary files that bears the user's number.
pub(crate) fn short_folders() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|folder| folder.is_absolute());
    let temporary = PathBuf::from(format!("/tmp/mainstay-{}", own_uid()));
    runtime
        .map(|folder| folder.join("mainstay"))
        .into_iter()
        .chain([temporary])
        .collect()
}

/// Where the socket of the store in `store` is, when there is one; whether somebody listens, only
/// asking tells.
///
/// `SOCKET_FORBIDDEN` when it may not be looked at, or lies where others could have put it.
pub fn find(store: &Path) -> Result<Option<PathBuf>, Failure> {
    let Ok(store) = fs::canonicalize(store) else {
        return Ok(None);
    };
    look(&store).map_err(|error| {
        let message = format!("its folder may not be looked at: {error}");
        Failure::new(Code::SocketForbidden, message)
    })
}

fn look(store: &Path) -> io::Result<Option<PathBuf>> {
    let near = store.join(FOLDER);
    let Some(own) = there(&near)? else {
        return Ok(None);
    };
    let owner = fs::metadata(store)?.uid();
    trust(&near, &own, owner)?;
    let socket = match read_pointer(&near.join(POINTER))? {
        Some(far) => {
            let folder = far.parent().unwrap_or(Path::new("/"));
            let Some(found) = there(folder)? else {
                return Ok(None);
            };
            trust(folder, &found, owner)?;
            far
        }
        None => near.join(SOCKET),
    };
    let found = there(&socket)?;
    let is_socket = found.is_some_and(|found| found.file_type().is_socket());
    Ok((is_socket && fits(&socket)).then_some(socket))
}

/// What a folder or file is, without following a link; `None` when it is not there.
fn there(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A folder is believed when it belongs to us, to root or to the store's owner, and nobody else
/// can put anything into it.
fn trust(path: &Path, found: &Metadata, store_owner: u32) -> io::Result<()> {
    let of_whom = [own_uid(), 0, store_owner].contains(&found.uid());
    if of_whom && found.is_dir() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::new(
        ErrorKind::PermissionDenied,
        format!("{} is not the store owner's own folder", path.display()),
    ))
}

/// Makes a folder that only this user can enter, or makes sure that it is one.
fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || (found.uid() != own_uid() && own_uid() != 0) {
        let what = format!("{} is not a folder of this user", folder.display());
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    if found.mode() & 0o777 != 0o700 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= limits::SOCKET_PATH_BYTES_MAX
}

fn digest(store: &Path) -> String {
    let mut digits = blake3::hash(store.as_os_str().as_bytes())
        .to_hex()
        .to_string();
    digits.truncate(DIGITS);
    digits
}

/// Written beside its place and renamed into it: a reader sees a whole path or none.
fn point(pointer: &Path, socket: &Path) -> io::Result<()> {
    let making = pointer.with_extension("new");
    fs::write(&making, socket.as_os_str().as_bytes())?;
    fs::rename(&making, pointer)
}

fn read_pointer(pointer: &Path) -> io::Result<Option<PathBuf>> {
    let file = match fs::File::open(pointer) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(POINTER_BYTES_MAX).read_to_end(&mut bytes)?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    Ok(Some(path).filter(|path| path.is_absolute()))
}

/// Removes a file that may be there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn deep(above: &Path) -> PathBuf {
        let store = above.join("d".repeat(60)).join("e".repeat(60));
        fs::create_dir_all(&store).unwrap();
        store
    }

    #[test]
    fn a_socket_lies_in_a_private_folder_of_its_store() {
        let store = tempfile::tempdir().unwrap();
        let socket = make(store.path(), &[]).unwrap();
        let folder = socket.parent().unwrap();
        assert_eq!(
            folder,
            fs::canonicalize(store.path()).unwrap().join("socket")
        );
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(find(store.path()), Ok(None));
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(find(store.path()), Ok(Some(socket)));
    }

    #[test]
    fn a_store_that_lies_too_deep_points_to_a_short_path() {
        let (above, short) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (store, short) = (deep(above.path()), short.path().join("run"));
        let socket = make(&store, std::slice::from_ref(&short)).unwrap();
        assert!(socket.starts_with(&short) && fits(&socket), "{socket:?}");
        assert_eq!(fs::metadata(&short).unwrap().mode() & 0o777, 0o700);
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(find(&store), Ok(Some(socket)));
    }

    #[test]
    fn two_stores_that_lie_too_deep_do_not_share_a_socket() {
        let (above, short) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let short = [short.path().join("run")];
        let (one, two) = (deep(&above.path().join("1")), deep(&above.path().join("2")));
        assert_ne!(make(&one, &short).unwrap(), make(&two, &short).unwrap());
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_believed() {
        let (above, short) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (store, short) = (deep(above.path()), short.path().join("run"));
        let socket = make(&store, std::slice::from_ref(&short)).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&short, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = find(&store).unwrap_err();
        assert_eq!(refused.code, Code::SocketForbidden);
        // The owner's next start closes it again.
        make(&store, std::slice::from_ref(&short)).unwrap();
        assert_eq!(find(&store), Ok(Some(socket)));
    }

    #[test]
    fn a_link_or_a_file_in_the_folders_place_is_refused() {
        let (store, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), store.path().join(FOLDER)).unwrap();
        assert!(make(store.path(), &[]).is_err());
        assert!(find(store.path()).is_err());
        fs::remove_file(store.path().join(FOLDER)).unwrap();
        fs::write(store.path().join(FOLDER), "x").unwrap();
        assert!(make(store.path(), &[]).is_err());
    }

    #[test]
    fn a_pointer_to_nowhere_is_no_socket() {
        let store = tempfile::tempdir().unwrap();
        make(store.path(), &[]).unwrap();
        for text in ["/nowhere/at/all.sock", "relative.sock", ""] {
            fs::write(store.path().join(FOLDER).join(POINTER), text).unwrap();
            assert_eq!(find(store.path()), Ok(None), "{text:?}");
        }
        // A plain file with the socket's name is none either.
        fs::remove_file(store.path().join(FOLDER).join(POINTER)).unwrap();
        fs::write(store.path().join(FOLDER).join(SOCKET), "x").unwrap();
        assert_eq!(find(store.path()), Ok(None));
    }
}
