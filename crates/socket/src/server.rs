//! The engine's end: binds the socket of a store and serves it for as long as the engine is.
//!
//! The engine is held weakly, so a socket never keeps a store locked; and an engine starts whether
//! or not its socket can be bound: what is wrong with it is logged.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mainstay_runtime::{Companion, Stay, WeakEngine};
use mainstay_types::BoxFuture;
use tokio::net::UnixListener;

use crate::accept;
use crate::bounds::Bounds;
use crate::place;

/// Serves the local socket of a store beside the engine that holds it.
#[derive(Clone, Debug)]
pub struct LocalSocket {
    store: PathBuf,
    short: Vec<PathBuf>,
    bounds: Bounds,
}

impl LocalSocket {
    /// The socket of the store in `store`. The engine it accompanies must hold that store: a socket
    /// that is there already is taken for a dead process's and removed.
    pub fn of(store: impl Into<PathBuf>) -> Self {
        Self {
            store: store.into(),
            short: place::short_folders(),
            bounds: Bounds::default(),
        }
    }

    /// Puts the socket into `folder` when the store's own path is too long for one. The folder is
    /// made, with mode 0700; the one above it must be there.
    #[must_use]
    pub fn short_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.short = vec![folder.into()];
        self
    }

    /// Other bounds than those of `types::limits`.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }
}

impl Companion for LocalSocket {
    fn begin(self: Box<Self>, engine: WeakEngine, stay: Stay) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            match Bound::bind(&self.store, &self.short) {
                Ok(bound) => {
                    drop(tokio::spawn(accept::serve(
                        bound,
                        engine,
                        self.bounds,
                        stay,
                    )));
                }
                Err(error) => {
                    let store = self.store.display();
                    tracing::warn!(%store, %error, "the local socket cannot be served");
                }
            }
        })
    }
}

/// A bound socket; its file goes with it.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) listener: UnixListener,
    _file: SocketFile,
}

impl Bound {
    fn bind(store: &Path, short: &[PathBuf]) -> io::Result<Self> {
        let path = place::make(store, short)?;
        // Whoever holds the store is the only one that may serve it: what is there is dead.
        place::remove(&path)?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let file = SocketFile::of(path)?;
        Ok(Self {
            listener,
            _file: file,
        })
    }
}

/// The socket in the file system.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    is: (u64, u64),
}

impl SocketFile {
    fn of(path: PathBuf) -> io::Result<Self> {
        let is = identity(&path)?;
        Ok(Self { path, is })
    }
}

/// Removed unless the next engine's socket is already in its place.
impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|is| is == self.is) {
            // What stays behind misleads nobody: nobody answers there.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
