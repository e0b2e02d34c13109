//! macOS: a seatbelt profile that is closed by default, run by `sandbox-exec` (security plan 3.4).
//!
//! The text is built on every system, so that it is tested on every system. Paths never enter the
//! text: they are `-D` parameters. It was not run on macOS yet; [`detect`] trusts nothing but its
//! own self-test there.

use std::path::Path;

use cairn_protocol::{NetworkAccess, WorkspaceAccess};

use crate::{LaunchRequest, TOOLCHAINS};

/// Protected names as regular expressions below the workspace, matched case-insensitively by
/// spelling both cases, since seatbelt has no flag for it.
const PROTECTED: &[&str] = &[
    r"\.git",
    r"\.cairn",
    r"\.gitmodules",
    r"\.gitattributes",
    r"\.lfsconfig",
    r"\.vscode",
    r"\.idea",
    r"[^/]*\.code-workspace",
    r"\.devcontainer",
    r"\.github/workflows",
    r"\.gitlab-ci\.yml",
    r"\.mcp\.json",
    r"\.cursor",
    r"\.claude",
    r"\.codex",
    r"\.agents",
    r"\.gemini",
    r"\.roo",
    r"\.clinerules[^/]*",
    r"\.windsurf",
    r"\.envrc",
    r"\.pre-commit-config\.yaml",
    r"\.husky",
    r"\.npmrc",
    r"\.yarnrc[^/]*",
    r"\.cargo/config[^/]*",
    r"\.ripgreprc",
];

const FIXED: &str = r#"(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.") (sysctl-name-prefix "kern.os") (sysctl-name "kern.hostname")
  (sysctl-name "kern.version") (sysctl-name "kern.argmax") (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64")
  (sysctl-name "vm.loadavg") (sysctl-name "machdep.cpu.brand_string"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.cfprefsd.agent") (global-name "com.apple.cfprefsd.daemon")
  (global-name "com.apple.logd"))
(allow file-read-metadata)
(allow file-read*
  (literal "/") (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System")
  (subpath "/Library/Developer") (subpath "/Library/Java") (subpath "/opt/homebrew")
  (subpath "/private/etc/ssl") (literal "/private/etc/localtime") (subpath "/private/var/db/timezone")
  (subpath "/private/var/db/dyld"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx")
  (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/dtracehelper")
  (regex #"^/dev/ttys[0-9]+$") (regex #"^/dev/fd/[0-9]+$"))
(allow pseudo-tty)
"#;

/// Returns the arguments of `/usr/bin/sandbox-exec`: profile, parameters, `--`, program.
pub(crate) fn arguments(
    access: WorkspaceAccess,
    network: NetworkAccess,
    request: &LaunchRequest<'_>,
    temporary: &Path,
) -> Vec<std::ffi::OsString> {
    let mut text = FIXED.to_owned();
    let mut parameters = Vec::new();
    let mut parameter = |name: &str, path: &Path| {
        let mut value = std::ffi::OsString::from(format!("{name}="));
        value.push(path);
        parameters.extend(["-D".into(), value]);
    };
    parameter("WS", request.workspace);
    parameter("TMP", temporary);
    text.push_str("(allow file-read* (subpath (param \"WS\")) (subpath (param \"TMP\")))\n");
    text.push_str("(allow file-write* (subpath (param \"TMP\")))\n");
    if let Some(home) = request.home {
        for (index, toolchain) in TOOLCHAINS.iter().enumerate() {
            parameter(&format!("TOOL{index}"), &home.join(toolchain));
            text.push_str(&format!("(allow file-read* (subpath (param \"TOOL{index}\")))\n"));
        }
    }
    for (index, folder) in request.writable.iter().enumerate() {
        parameter(&format!("WRITE{index}"), folder);
        text.push_str(&format!(
            "(allow file-read* file-write* (subpath (param \"WRITE{index}\")))\n"
        ));
    }
    if access == WorkspaceAccess::Write {
        text.push_str("(allow file-write* (subpath (param \"WS\")))\n");
        for name in PROTECTED {
            let name = either_case(name);
            text.push_str(&format!(
                "(deny file-write* (require-all (subpath (param \"WS\")) (regex #\"/{name}(/|$)\")))\n"
            ));
        }
        // Renaming a folder above a protected path would take it away from its name.
        for (index, folder) in pins(request.workspace).into_iter().enumerate() {
            parameter(&format!("PIN{index}"), &folder);
            text.push_str(&format!("(deny file-write-unlink (literal (param \"PIN{index}\")))\n"));
        }
    }
    if network == NetworkAccess::Full {
        text.push_str("(allow network-outbound (remote ip))\n(allow system-socket)\n");
        text.push_str("(allow mach-lookup (global-name \"com.apple.trustd.agent\"))\n");
    }
    let mut list: Vec<std::ffi::OsString> = vec!["-p".into(), text.into()];
    list.extend(parameters);
    list.push("--".into());
    list.extend(request.argv.iter().cloned());
    list
}

/// The workspace and every folder between it and an existing protected path.
fn pins(workspace: &Path) -> Vec<std::path::PathBuf> {
    let mut pins = std::collections::BTreeSet::from([workspace.to_path_buf()]);
    for path in crate::protected_paths(workspace).paths {
        let between = path.ancestors().skip(1).take_while(|above| *above != workspace);
        pins.extend(between.map(Path::to_path_buf));
    }
    pins.into_iter().collect()
}

/// Spells each letter in both cases; leaves classes in brackets alone.
fn either_case(expression: &str) -> String {
    let mut text = String::with_capacity(expression.len() * 4);
    let mut in_class = false;
    for letter in expression.chars() {
        in_class = (in_class || letter == '[') && letter != ']';
        if letter.is_ascii_alphabetic() && !in_class {
            text.push_str(&format!("[{letter}{}]", letter.to_ascii_uppercase()));
        } else {
            text.push(letter);
        }
    }
    text
}

#[cfg(target_os = "macos")]
pub(crate) use on_macos::{detect, prepare};

#[cfg(target_os = "macos")]
mod on_macos {
    use std::ffi::OsString;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use cairn_protocol::{NetworkAccess, SandboxBackend, SandboxState, WorkspaceAccess};

    use crate::{Error, Launch, LaunchRequest, Terminal};

    const PROGRAM: &str = "/usr/bin/sandbox-exec";

    /// See [`crate::detect`].
    pub(crate) fn detect() -> SandboxState {
        match self_test() {
            Ok(()) => SandboxState {
                backend: SandboxBackend::Seatbelt,
                enforced: true,
                reason: "Commands see the workspace, a temporary folder and system programs; no \
                         network."
                    .to_owned(),
            },
            Err(reason) => SandboxState {
                backend: SandboxBackend::None,
                enforced: false,
                reason: format!("Commands are not confined: {reason}"),
            },
        }
    }

    /// See [`crate::prepare`].
    pub(crate) fn prepare(
        access: WorkspaceAccess,
        network: NetworkAccess,
        request: &LaunchRequest<'_>,
    ) -> Result<Launch, Error> {
        if !Path::new(PROGRAM).is_file() {
            return Err(Error::Unavailable(format!("{PROGRAM} is missing")));
        }
        // The user's own temporary folder holds sockets and files of other programs; the command
        // gets one that only it uses, kept by the OS until its periodic clean-up.
        let temporary = tempfile::Builder::new().prefix("cairn-").tempdir()?.keep();
        let temporary = temporary.canonicalize()?;
        let mut command = Command::new(PROGRAM);
        command
            .args(super::arguments(access, network, request, &temporary))
            .env_clear()
            .envs(request.env.iter().map(|(name, value)| (name, value)))
            .env("TMPDIR", &temporary)
            .env("CAIRN_SANDBOX", "1")
            .current_dir(request.cwd);
        let tree = crate::guard(&mut command, Terminal::None);
        Ok(Launch { command, keep: Vec::new(), confined: true, tree, complete: true })
    }

    fn self_test() -> Result<(), String> {
        let told = |error: std::io::Error| format!("the self-test could not run: {error}");
        let base = tempfile::Builder::new().prefix("cairn-check-").tempdir().map_err(told)?;
        let root = base.path().canonicalize().map_err(told)?;
        let (workspace, outside) = (root.join("workspace"), root.join("outside"));
        std::fs::create_dir_all(workspace.join(".git")).map_err(told)?;
        std::fs::create_dir_all(&outside).map_err(told)?;
        std::fs::write(outside.join("canary"), "CANARY\n").map_err(told)?;
        let script = "cat \"$1/canary\"; echo x > \"$1/written\"; echo x > .git/config; \
                      echo x > inside; (exec 3<>/dev/tcp/127.0.0.1/9) 2>&1; exit 0";
        let argv: Vec<OsString> = ["/bin/bash", "--norc", "--noprofile", "-c", script, "check"]
            .iter()
            .map(OsString::from)
            .chain([outside.clone().into()])
            .collect();
        let request = LaunchRequest {
            workspace: &workspace,
            cwd: &workspace,
            argv: &argv,
            env: &[("LC_ALL".into(), "C".into())],
            writable: &[],
            home: None,
        };
        let mut launch = prepare(WorkspaceAccess::Write, NetworkAccess::None, &request)
            .map_err(|error| error.to_string())?;
        let output = launch.command.stdin(Stdio::null()).output().map_err(told)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = text.contains("CANARY")
            || outside.join("written").exists()
            || workspace.join(".git/config").exists()
            || text.contains("Connection refused")
            || !workspace.join("inside").exists();
        if failed {
            return Err("the self-test failed: a confined command reaches what it must not".into());
        }
        Ok(())
    }
}
