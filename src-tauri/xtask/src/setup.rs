//! Makes a machine ready: checks Rust and Node, installs system libraries by the package manager and the
//! interface's dependencies from the lock file. It says what it will do before it does it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, call, npm};

/// What a Debian or Ubuntu machine needs to build, run and test Cairn.
const APT: &[&str] = &[
    "build-essential",
    "pkg-config",
    "libwebkit2gtk-4.1-dev",
    "librsvg2-dev",
    "bubblewrap",
    "git",
    "xdg-utils",
];
/// What the tests in the real window need beside that.
const APT_TEST: &[&str] = &[
    "xvfb",
    "openbox",
    "webkit2gtk-driver",
    "strace",
    "x11-utils",
    "xdotool",
    "imagemagick",
    "dbus-x11",
    "dbus",
    "gnome-keyring",
    "fonts-dejavu-core",
    "python3",
];
const DNF: &str =
    "gcc-c++ make pkgconf webkit2gtk4.1-devel librsvg2-devel bubblewrap git xdg-utils";
const PACMAN: &str = "base-devel webkit2gtk-4.1 librsvg bubblewrap git xdg-utils";

/// Sets up what `run` and `test` need.
pub(crate) fn everything(root: &Path) -> Outcome {
    node()?;
    system()?;
    dependencies(root)
}

/// Builds the interface.
pub(crate) fn interface(root: &Path) -> Outcome {
    call(&mut npm(root, &["run", "--silent", "build"]))
}

fn node() -> Outcome {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|_| {
        "Node.js 20.19 or newer is needed; install it from your system or nodejs.org".to_owned()
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version: Vec<u32> = text
        .trim()
        .trim_start_matches('v')
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect();
    if version.as_slice() < [20, 19].as_slice() {
        return Err(format!("Node.js {} is too old: 20.19 or newer is needed", text.trim()));
    }
    Ok(())
}

fn system() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    if Path::new("/usr/bin/dpkg-query").exists() {
        let wanted = APT.iter().chain(APT_TEST);
        let missing: Vec<&str> = wanted.copied().filter(|package| !is_installed(package)).collect();
        return if missing.is_empty() { Ok(()) } else { apt(&missing) };
    }
    if Path::new("/usr/lib64/libwebkit2gtk-4.1.so.0").exists()
        || Path::new("/usr/lib/libwebkit2gtk-4.1.so.0").exists()
    {
        return Ok(());
    }
    let line = if Path::new("/usr/bin/dnf").exists() {
        format!("sudo dnf install {DNF}")
    } else if Path::new("/usr/bin/pacman").exists() {
        format!("sudo pacman -S --needed {PACMAN}")
    } else {
        "your package manager, for WebKitGTK 4.1 with headers, librsvg and bubblewrap".to_owned()
    };
    Err(format!("system libraries are missing; install them with: {line}"))
}

fn is_installed(package: &str) -> bool {
    let output = Command::new("dpkg-query").args(["-W", "-f=${Status}", package]).output();
    output.is_ok_and(|output| output.stdout.ends_with(b" installed"))
}

fn apt(missing: &[&str]) -> Outcome {
    println!(
        "Cairn needs these system packages, which are not installed yet:\n  {}",
        missing.join(" ")
    );
    let root = is_root();
    let prefix = if root { "" } else { "sudo " };
    println!(
        "Running: {prefix}apt-get update && {prefix}apt-get install -y --no-install-recommends {}",
        missing.join(" ")
    );
    let apt = |args: &[&str]| {
        let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
        if !root {
            command.arg("apt-get");
        }
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        call(&mut command)
    };
    apt(&["update", "-q"])?;
    let mut install = vec!["install", "-y", "-q", "--no-install-recommends"];
    install.extend(missing);
    apt(&install)
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Installs the interface's dependencies when the lock file is not the one that is installed.
fn dependencies(root: &Path) -> Outcome {
    let ui = root.join("ui");
    let lock = fs::read(ui.join("package-lock.json"));
    let lock = lock.map_err(|error| format!("ui/package-lock.json can't be read: {error}"))?;
    let stamp = ui.join("node_modules").join(".installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("Installing the interface's dependencies from ui/package-lock.json");
    call(&mut npm(root, &["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, lock)
        .map_err(|error| format!("{} can't be written: {error}", stamp.display()))
}
