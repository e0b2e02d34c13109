//! The bubblewrap arguments and the made-up files of `/etc`.
//!
//! Nearly pure: it only asks which system folders exist. The order is the meaning: a later mount
//! covers an earlier one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use cairn_protocol::{NetworkAccess, WorkspaceAccess};

use crate::environment::without;
use crate::{LaunchRequest, TOOLCHAINS};

/// Where the home folder is when the user has none that can be hidden.
const HOME: &str = "/home/dev";

/// Appended to `PATH`, so that system programs are always found.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// What a command may see of `/etc`: how programs find libraries, certificates and time zones.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "pki",
    "protocols",
    "services",
    "ssl",
    "terminfo",
    "xattr.conf",
];

/// All that the arguments depend on.
pub(super) struct Profile<'a> {
    pub(super) request: &'a LaunchRequest<'a>,
    pub(super) access: WorkspaceAccess,
    pub(super) network: NetworkAccess,
    /// Existing paths in the workspace, shallow first.
    pub(super) protected: &'a [PathBuf],
    /// Files of `/etc` and the descriptors that hold their text.
    pub(super) files: &'a [(&'static str, RawFd)],
}

/// Returns the files of `/etc` that are made up, with their text.
pub(super) fn files(network: NetworkAccess) -> Vec<(&'static str, String)> {
    let (uid, gid) = (nix::unistd::getuid(), nix::unistd::getgid());
    let mut users = format!("dev:x:{uid}:{gid}:dev:{HOME}:/bin/bash\n");
    let mut groups = format!("dev:x:{gid}:\n");
    users.push_str("nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    groups.push_str("nogroup:x:65534:\n");
    let hosts = match network {
        NetworkAccess::None => "files",
        NetworkAccess::Full => "files dns",
    };
    vec![
        ("/etc/passwd", users),
        ("/etc/group", groups),
        ("/etc/nsswitch.conf", format!("passwd: files\ngroup: files\nhosts: {hosts}\n")),
        ("/etc/hosts", "127.0.0.1 localhost cairn\n::1 localhost cairn\n".to_owned()),
    ]
}

/// Returns the arguments for `--args`, without the filter and the program.
pub(super) fn arguments(profile: &Profile<'_>) -> Vec<OsString> {
    let home = home(profile.request);
    let mut list = Arguments(Vec::with_capacity(256));
    isolation(&mut list, profile.network);
    environment(&mut list, profile.request, &home);
    system(&mut list, profile);
    list.add(&["--perms", "1777", "--size", "1073741824", "--tmpfs", "/tmp"]);
    list.add(&["--perms", "0700", "--tmpfs"]).path(&home);
    for toolchain in TOOLCHAINS {
        let path = home.join(toolchain);
        list.add(&["--ro-bind-try"]).path(&path).path(&path);
    }
    folders(&mut list, profile);
    list.add(&["--chdir"]).path(profile.request.cwd);
    list.0
}

fn isolation(list: &mut Arguments, network: NetworkAccess) {
    list.add(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
    list.add(&["--unshare-cgroup-try", "--disable-userns"]);
    if network == NetworkAccess::None {
        list.add(&["--unshare-net"]);
    }
    list.add(&["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    list.add(&["--hostname", "cairn", "--clearenv"]);
}

fn environment(list: &mut Arguments, request: &LaunchRequest<'_>, home: &Path) {
    let mut path = OsString::new();
    for (name, value) in request.env {
        if name == "PATH" {
            path = without(value, |entry| {
                !entry.is_absolute() || entry.starts_with(request.workspace)
            });
        } else if !["HOME", "USER", "LOGNAME", "TMPDIR", "CAIRN_SANDBOX"].iter().any(|n| name == n)
        {
            list.add(&["--setenv"]).value(name).value(value);
        }
    }
    if !path.is_empty() {
        path.push(":");
    }
    path.push(SYSTEM_PATH);
    list.add(&["--setenv", "PATH"]).value(&path);
    list.add(&["--setenv", "HOME"]).path(home);
    if !request.env.iter().any(|(name, _)| name == "LANG") {
        list.add(&["--setenv", "LANG", "C.UTF-8"]);
    }
    for (name, value) in
        [("USER", "dev"), ("LOGNAME", "dev"), ("TMPDIR", "/tmp"), ("CAIRN_SANDBOX", "1")]
    {
        list.add(&["--setenv", name, value]);
    }
}

/// Programs, libraries and the chosen part of `/etc`, all read-only.
fn system(list: &mut Arguments, profile: &Profile<'_>) {
    list.add(&["--ro-bind", "/usr", "/usr"]);
    for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
        match std::fs::read_link(folder) {
            Ok(target) => _ = list.add(&["--symlink"]).path(&target).add(&[folder]),
            Err(_) => _ = list.add(&["--ro-bind-try", folder, folder]),
        }
    }
    for folder in ["/opt", "/nix/store", "/run/current-system/sw"] {
        list.add(&["--ro-bind-try", folder, folder]);
    }
    let java = std::fs::read_dir("/etc").into_iter().flatten().flatten().map(|e| e.file_name());
    let java = java.filter(|name| name.to_string_lossy().starts_with("java-"));
    for name in ETC.iter().map(OsString::from).chain(java) {
        let path = Path::new("/etc").join(name);
        list.add(&["--ro-bind-try"]).path(&path).path(&path);
    }
    if profile.network == NetworkAccess::Full {
        list.add(&["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]);
    }
    for (path, descriptor) in profile.files {
        list.add(&["--perms", "0444", "--ro-bind-data", &descriptor.to_string(), path]);
    }
    list.add(&["--proc", "/proc", "--dev", "/dev"]);
    if nix::unistd::getuid().is_root() {
        // The kernel lets user 0 of the host write its settings below /proc/sys in any namespace,
        // without a capability; bubblewrap 0.8 leaves them open.
        list.add(&["--remount-ro", "/proc"]);
    }
}

/// The workspace, further folders, and over them what is protected.
///
/// A read-only leaf alone would fall to renaming a folder above it and making a new one; a folder
/// that is a mount of its own can't be renamed, so each one in between is bound onto itself.
fn folders(list: &mut Arguments, profile: &Profile<'_>) {
    let workspace = profile.request.workspace;
    let bind = match profile.access {
        WorkspaceAccess::Read => "--ro-bind",
        WorkspaceAccess::Write => "--bind",
    };
    list.add(&[bind]).path(workspace).path(workspace);
    for folder in profile.request.writable {
        list.add(&["--bind"]).path(folder).path(folder);
    }
    let mut pins = BTreeSet::new();
    for path in profile.protected {
        let between = path.ancestors().skip(1).take_while(|above| *above != workspace);
        pins.extend(between.map(|above| (above.components().count(), above)));
    }
    for (_, pin) in pins {
        list.add(&["--bind"]).path(pin).path(pin);
    }
    for path in profile.protected {
        list.add(&["--ro-bind"]).path(path).path(path);
    }
}

/// The home folder to hide. One that holds system folders can't be covered.
fn home(request: &LaunchRequest<'_>) -> PathBuf {
    let usable = |home: &&Path| {
        home.is_absolute()
            && home.parent().is_some()
            && !["/usr", "/etc", "/proc", "/dev", "/tmp", "/bin", "/lib", "/sbin", "/opt"]
                .iter()
                .any(|system| Path::new(system).starts_with(home) || *home == Path::new(system))
    };
    request.home.filter(usable).unwrap_or(Path::new(HOME)).to_path_buf()
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, values: &[&str]) -> &mut Self {
        self.0.extend(values.iter().map(OsString::from));
        self
    }

    fn value(&mut self, value: &OsStr) -> &mut Self {
        self.0.push(value.to_owned());
        self
    }

    fn path(&mut self, path: &Path) -> &mut Self {
        self.value(path.as_os_str())
    }
}
