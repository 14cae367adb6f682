//! The programs the checks need besides cargo itself, and how to get them. It must never touch
//! what is installed already, whatever its version.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A cargo subcommand that rustup does not bring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    /// As in `cargo NAME`.
    pub(crate) subcommand: &'static str,
    package: &'static str,
    /// The release line the configuration files in this tree are written for.
    version: &'static str,
    flags: &'static [&'static str],
}

/// Bans, licences and sources of the dependencies.
pub(crate) const DENY: Tool = Tool {
    subcommand: "deny",
    package: "cargo-deny",
    version: "^0.20",
    flags: &[],
};

/// Runs each test in a process of its own.
pub(crate) const NEXTEST: Tool = Tool {
    subcommand: "nextest",
    package: "cargo-nextest",
    version: "^0.9.80",
    // Without its updater, which would bring a TLS library written in C.
    flags: &["--no-default-features", "--features", "default-no-update"],
};

impl Tool {
    /// Whether cargo can run it here.
    pub(crate) fn is_installed(self) -> bool {
        Command::new(cargo())
            .args([self.subcommand, "--version"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Installs it with cargo if it is missing, and says so: it takes minutes.
    pub(crate) fn ensure(self) -> Result<()> {
        if self.is_installed() {
            return Ok(());
        }
        let Self {
            package,
            version,
            flags,
            ..
        } = self;
        eprintln!("xtask: {package} is missing; installing it once (a few minutes):");
        eprintln!("xtask:   cargo install --locked {package}@{version}");
        let status = Command::new(cargo())
            .args(["install", "--locked", package, "--version", version])
            .args(flags)
            .stdin(Stdio::null())
            .status()
            .context("cargo cannot be started")?;
        if !status.success() || !self.is_installed() {
            bail!(
                "{package} could not be installed\n\nhint: `cargo install --locked {package}` by \
                 hand shows why; the folder for cargo's programs must be on PATH"
            );
        }
        Ok(())
    }
}

/// Every set of features of a package.
pub(crate) const HACK: Tool = Tool {
    subcommand: "hack",
    package: "cargo-hack",
    version: "^0.6",
    flags: &[],
};

/// The public API of a crate as text.
pub(crate) const PUBLIC_API: Tool = Tool {
    subcommand: "public-api",
    package: "cargo-public-api",
    version: "^0.52",
    flags: &[],
};

/// Without what cargo told *us* about our package: it would make other packages build again.
pub(crate) fn in_own_name(command: &mut Command) -> &mut Command {
    for (name, _) in env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if ours {
            command.env_remove(name);
        }
    }
    command
}

/// Where cargo builds the workspace below `root`.
pub(crate) fn target(root: &Path) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root.join(target)
}

/// The cargo that runs us, so that nested calls use the same toolchain.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
