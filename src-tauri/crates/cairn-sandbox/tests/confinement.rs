//! What a confined command can and can't do, for real: as root when the tests run as root, and as an
//! ordinary user in any case. Case numbers (SBX-…) are those of the security plan.
//!
//! These tests fail, not skip, where bubblewrap is missing.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what a test can not set up fails the test")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cairn_protocol::{NetworkAccess, SandboxPolicy, WorkspaceAccess};
use cairn_sandbox::{Error, LaunchRequest, child_environment, prepare};

const ORDINARY: u32 = 1000;
const AS_USER: &str = "CAIRN_TEST_AS_USER";

/// Runs a test as it is, and when that is as root, once more as an ordinary user in a process of its
/// own: a copy of this executable that runs only the test called `name`.
#[track_caller]
fn as_every_user(name: &str, test: fn()) {
    test();
    if !nix::unistd::getuid().is_root() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cairn-user-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(&copy)
        .args(["--exact", name, "--nocapture"])
        .env(AS_USER, "1")
        .env_remove("TMPDIR")
        .current_dir("/")
        .uid(ORDINARY)
        .gid(ORDINARY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("1 passed"),
        "as an ordinary user:\n{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A workspace, a home folder with secrets, and a place outside both.
struct Scene {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    env: Vec<(OsString, OsString)>,
}

struct Outcome {
    code: Option<i32>,
    text: String,
    time: Duration,
}

impl Scene {
    fn new() -> Self {
        Self::called("workspace")
    }

    fn called(name: &str) -> Self {
        let folder =
            tempfile::Builder::new().prefix("cairn-scene-").tempdir_in("/var/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        let home = root.join("home");
        let scene = Self {
            _folder: folder,
            workspace: home.join("code").join(name),
            outside: root.join("outside"),
            env: Vec::new(),
            home,
        };
        fs::create_dir_all(&scene.workspace).unwrap();
        fs::create_dir_all(&scene.outside).unwrap();
        for file in [".ssh/id_rsa", ".aws/credentials", ".config/cairn/config.toml", "code/other/x"]
        {
            let path = scene.home.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "CANARY").unwrap();
        }
        fs::write(scene.outside.join("secret"), "CANARY").unwrap();
        scene
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn try_run(&self, policy: &SandboxPolicy, script: &str) -> Result<Outcome, Error> {
        let parent = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", self.home.to_str().unwrap()),
            ("OPENAI_API_KEY", "CANARY"),
        ];
        let parent = parent.into_iter().map(|(name, value)| (name.into(), value.into()));
        let env = child_environment(parent, &self.env);
        let argv = ["/bin/bash", "-c", script].map(OsString::from);
        let request = LaunchRequest {
            workspace: &self.workspace,
            cwd: &self.workspace,
            argv: &argv,
            env: &env,
            writable: &[],
            home: Some(&self.home),
        };
        let start = Instant::now();
        let mut launch = prepare(policy, &request)?;
        assert_eq!(launch.confined, policy.is_confined());
        let (mut reader, writer) = std::io::pipe()?;
        launch.command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = launch.command.spawn()?;
        drop(launch);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        let code = child.wait()?.code();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Outcome { code, text, time: start.elapsed() })
    }

    #[track_caller]
    fn run(&self, script: &str) -> Outcome {
        self.try_run(&SandboxPolicy::CONFINED, script).expect("bubblewrap must be installed")
    }

    /// Runs lines, none of which may succeed or show a canary.
    #[track_caller]
    fn all_refused(&self, lines: &[&str]) {
        let script: String = lines
            .iter()
            .map(|line| {
                format!(
                    "if ( {line}\n) 2>/dev/null; then echo 'WORKED: {}'; fi\n",
                    line.replace('\'', "\"")
                )
            })
            .collect();
        let outcome = self.run(&format!("{script}echo finished"));
        assert_eq!(outcome.text, "finished\n");
    }
}

#[test]
fn ordinary_work_succeeds_sbx001() {
    as_every_user("ordinary_work_succeeds_sbx001", || {
        let scene = Scene::new();
        scene.file("main.c", "#include <stdio.h>\nint main(void) { puts(\"from c\"); }\n");
        let outcome = scene.run(
            "set -e; echo a > f; cat f; mkdir -p d/e; mv f d/e/g; rm -r d
             ! command -v gcc > /dev/null || { gcc main.c -o main && ./main; }
             ! [ -x /usr/bin/git ] || /usr/bin/git --version > /dev/null
             ! [ -x /usr/local/bin/git ] || { git init -q t && git -C t status --short; }
             ! [ -x /usr/bin/node ] || node -e 'console.log(1 + 1)' > /dev/null
             ! [ -x /usr/bin/python3 ] || /usr/bin/python3 -c 'import ssl; print(1)' > /dev/null
             cat < <(echo substituted); echo x > /tmp/x; cat /tmp/x; echo x > ~/x; whoami; exit 7",
        );
        assert_eq!(outcome.code, Some(7), "{}", outcome.text);
        assert!(outcome.text.starts_with("a\n"), "{}", outcome.text);
        assert!(outcome.text.ends_with("substituted\nx\ndev\n"), "{}", outcome.text);
        assert!(!Path::new("/tmp/x").exists(), "the temporary folder is private");
    });
}

#[test]
fn secrets_of_the_user_and_the_system_are_not_there_sbx002_sbx003() {
    as_every_user("secrets_of_the_user_and_the_system_are_not_there_sbx002_sbx003", || {
        let scene = Scene::new();
        scene.all_refused(&[
            "cat ~/.ssh/id_rsa || cat ~/.aws/credentials || cat ~/.config/cairn/config.toml",
            "cat ../other/x",
            &format!("cat {}/secret", scene.outside.display()),
            "ls /root || ls /sys || ls /mnt || ls /media || ls /srv || ls /boot",
            "ls /var/log || ls /run/user || ls /run/dbus || ls /run/docker.sock",
            "cat /etc/shadow || cat /etc/hostname || cat /etc/ssh/ssh_config",
            "cat /proc/1/root/etc/shadow || cat /proc/self/root/etc/shadow",
            "grep -v -E '^(dev|nobody):' /etc/passwd",
        ]);
        let outcome = scene.run("ls -A ~; ls -A ~/code; grep -rs CANARY ~ /var /tmp /etc; true");
        assert_eq!(outcome.text, "code\nworkspace\n");
    });
}

#[test]
fn nothing_outside_can_be_written_sbx004() {
    as_every_user("nothing_outside_can_be_written_sbx004", || {
        let scene = Scene::new();
        std::os::unix::fs::symlink(&scene.outside, scene.workspace.join("link")).unwrap();
        let outside = scene.outside.display();
        scene.all_refused(&[
            "echo x > /usr/x || echo x > /etc/ssl/x || echo x > /usr/bin/env",
            &format!("echo x > {outside}/x"),
            "echo x > link/x",
            // Opening is enough to show it; a file that holds its own text stays as it was.
            "p=$(< /proc/sys/kernel/domainname) && echo $p > /proc/sys/kernel/domainname",
            "p=$(< /proc/sys/vm/swappiness) && echo $p > /proc/sys/vm/swappiness",
            ": >> /proc/sysrq-trigger",
            "touch /usr || chmod 777 /usr || mv /usr /x",
        ]);
        scene
            .run("echo x > ~/planted; echo x > ~/.bashrc; mkdir -p ~/.ssh; echo x > ~/.ssh/id_rsa");
        assert_eq!(fs::read_dir(&scene.outside).unwrap().count(), 1);
        assert!(!scene.home.join("planted").exists() && !scene.home.join(".bashrc").exists());
        assert_eq!(fs::read_to_string(scene.home.join(".ssh/id_rsa")).unwrap(), "CANARY");
    });
}

#[test]
fn protected_paths_can_be_read_but_neither_changed_nor_moved_sbx005() {
    as_every_user("protected_paths_can_be_read_but_neither_changed_nor_moved_sbx005", || {
        let scene = Scene::new();
        for file in [
            ".git/config",
            ".git/hooks/x",
            "deep/er/.git/config",
            ".envrc",
            ".vscode/tasks.json",
            "a b/.mcp.json",
        ] {
            scene.file(file, "original");
        }
        scene.all_refused(&[
            "echo x > .git/hooks/pre-commit || echo x > .git/config || rm .git/config",
            "mv .git .git2 || rm -rf .git || ln .git/config c",
            "mv deep deep2 || mv deep/er deep/er2 || mv deep/er/.git x || rm -rf deep",
            "echo x > deep/er/.git/config || echo x > .envrc || mv .envrc x || rm -f .envrc",
            "echo x > .vscode/tasks.json || mv 'a b' c || cp /usr/bin/env 'a b/.mcp.json'",
            "mv ../workspace ../w2",
        ]);
        let outcome =
            scene.run("cat .git/config .envrc; echo new > deep/file; echo new > deep/er/file");
        assert_eq!(outcome.text, "originaloriginal");
        assert!(scene.workspace.join("deep/er/file").exists(), "what lies beside stays writable");
        for file in [".git/config", ".git/hooks/x", "deep/er/.git/config", ".envrc"] {
            assert_eq!(fs::read_to_string(scene.workspace.join(file)).unwrap(), "original");
        }
        let left: Vec<_> = fs::read_dir(scene.workspace.join(".git/hooks")).unwrap().collect();
        assert_eq!(left.len(), 1, "no stub files are left in the user's tree");
    });
}

#[test]
fn reading_git_commands_work_and_writing_ones_do_not_sbx006() {
    as_every_user("reading_git_commands_work_and_writing_ones_do_not_sbx006", || {
        if !["/usr/bin/git", "/usr/local/bin/git"].iter().any(|path| Path::new(path).exists()) {
            return;
        }
        let scene = Scene::new();
        scene.file("f", "1\n");
        let git = "git -c user.name=a -c user.email=a@b";
        let init = format!("git init -q && git add f && {git} commit -qm first");
        assert_eq!(scene.try_run(&SandboxPolicy::Unconfined, &init).unwrap().code, Some(0));
        let outcome = scene.run("set -e; echo 2 >> f; git status --short; git diff --stat | tail -1; git log --oneline | wc -l");
        assert_eq!(outcome.text, " M f\n 1 file changed, 1 insertion(+)\n1\n");
        scene.all_refused(&["git add f", &format!("{git} commit -qam x"), &format!("{git} stash")]);
    });
}

#[test]
fn a_read_only_workspace_is_read_only() {
    as_every_user("a_read_only_workspace_is_read_only", || {
        let scene = Scene::new();
        scene.file("f", "text");
        let policy = SandboxPolicy::Workspace {
            access: WorkspaceAccess::Read,
            network: NetworkAccess::None,
        };
        let outcome = scene.try_run(&policy, "cat f; echo x > f || echo x > new || rm f").unwrap();
        assert_ne!(outcome.code, Some(0));
        assert!(outcome.text.starts_with("text"));
        assert_eq!(fs::read_dir(&scene.workspace).unwrap().count(), 1);
    });
}

#[test]
fn the_environment_is_clean_and_nothing_of_the_launcher_shows() {
    as_every_user("the_environment_is_clean_and_nothing_of_the_launcher_shows", || {
        let mut scene = Scene::new();
        scene.env = vec![("GRANTED".into(), "yes".into())];
        let outcome = scene.run(
            "echo \"[$(tr '\\0' '\\n' < /proc/1/environ)]\"; tr '\\0' ' ' < /proc/1/cmdline | grep -c 'sete[n]v'
             echo $GRANTED $TERM $GIT_EDITOR $USER $TMPDIR $CAIRN_SANDBOX $HOME; env",
        );
        let home = scene.home.display();
        let start = format!("[]\n0\nyes dumb true dev /tmp 1 {home}\n");
        assert!(outcome.text.starts_with(&start), "{}", outcome.text);
        assert!(!outcome.text.contains("CANARY") && !outcome.text.contains(AS_USER));
    });
}

#[test]
fn inherited_descriptors_are_closed_sbx011() {
    as_every_user("inherited_descriptors_are_closed_sbx011", || {
        let scene = Scene::new();
        let folder = fs::File::open(&scene.home).unwrap();
        // `dup` makes one that every child inherits.
        let _inherited = nix::unistd::dup(&folder).unwrap();
        for policy in [SandboxPolicy::CONFINED, SandboxPolicy::Unconfined] {
            let script = "for fd in /proc/self/fd/*; do [ -e $fd ] && echo ${fd##*/}; done; cat /proc/self/fd/*/.ssh/id_rsa 2>/dev/null";
            let outcome = scene.try_run(&policy, script).unwrap();
            assert_eq!(outcome.text, "0\n1\n2\n");
        }
    });
}

#[test]
fn there_is_no_network_and_no_socket_of_the_host_sbx012_sbx015() {
    as_every_user("there_is_no_network_and_no_socket_of_the_host_sbx012_sbx015", || {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::{SocketAddr, UnixListener};
        let scene = Scene::new();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let path = scene.outside.join("socket");
        let _by_path = UnixListener::bind(&path).unwrap();
        let name = format!("cairn-test-{}", std::process::id());
        let _abstract =
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let python = |code: &str| format!("/usr/bin/python3 -c 'import socket as s; {code}'");
        let connect = |address: &str| python(&format!("s.socket(s.AF_UNIX).connect({address})"));
        scene.all_refused(&[
            &format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
            &format!("echo x > /dev/udp/127.0.0.1/{port}"),
            &python("s.socket(s.AF_INET)"),
            &python("s.socket(s.AF_INET6)"),
            &python("s.socket(s.AF_NETLINK, s.SOCK_RAW)"),
            &python("s.socket(s.AF_PACKET)"),
            &python("s.socket(s.AF_VSOCK)"),
            &python("s.getaddrinfo(\"example.com\", 80)"),
            &connect(&format!("\"{}\"", path.display())),
            &connect(&format!("\"\\0{name}\"")),
        ]);
        tcp.set_nonblocking(true).unwrap();
        assert!(tcp.accept().is_err(), "nobody connected");
        let inside =
            scene.run(&python("a, b = s.socketpair(); a.send(b\"works\"); print(b.recv(9))"));
        assert_eq!(inside.text, "b'works'\n");
    });
}

#[test]
fn full_network_reaches_loopback_but_no_socket_of_the_desktop() {
    as_every_user("full_network_reaches_loopback_but_no_socket_of_the_desktop", || {
        let scene = Scene::new();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let policy = SandboxPolicy::Workspace {
            access: WorkspaceAccess::Write,
            network: NetworkAccess::Full,
        };
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected
             /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>/dev/null || echo refused
             cat ~/.ssh/id_rsa 2>/dev/null || echo hidden"
        );
        let outcome = scene.try_run(&policy, &script).unwrap();
        assert_eq!(outcome.text, "connected\nrefused\nhidden\n");
    });
}

#[test]
fn no_namespaces_no_other_processes_no_rights_sbx017_sbx018_sbx021() {
    as_every_user("no_namespaces_no_other_processes_no_rights_sbx017_sbx018_sbx021", || {
        let scene = Scene::new();
        let host = std::process::id();
        scene.all_refused(&[
            "unshare -Ur true || unshare -m true || /usr/bin/bwrap --ro-bind / / true",
            &format!("kill -0 {host} || [ -e /proc/{host} ]"),
            "mknod x c 1 3 || mount -t tmpfs none /tmp || chroot / true",
            "sudo -n true || su -c true",
            "cat /dev/kvm || cat /dev/mem || cat /dev/fuse || cat /dev/vda",
        ]);
        let outcome = scene.run(
            "grep -E '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status | tr '\\t\\n' ' '
             ls -d /proc/[0-9]* | wc -l; ls /dev; ulimit -c; ulimit -n; ulimit -u",
        );
        let lines: Vec<&str> = outcome.text.lines().collect();
        assert!(
            lines[0].starts_with(
                "CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 "
            ),
            "{}",
            lines[0]
        );
        let devices =
            "console core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero";
        let known: Vec<&str> = devices.split(' ').collect();
        let (limits, found) = (&lines[lines.len() - 3..], &lines[1..lines.len() - 3]);
        assert!(found.iter().all(|device| known.contains(device)), "{found:?}");
        assert_eq!(limits, ["0", "4096", "512"]);
    });
}

#[test]
fn dangerous_system_calls_are_refused_sbx020() {
    as_every_user("dangerous_system_calls_are_refused_sbx020", || {
        let scene = Scene::new();
        let calls: [(&str, libc::c_long); 14] = [
            ("mount", libc::SYS_mount),
            ("umount2", libc::SYS_umount2),
            ("pivot_root", libc::SYS_pivot_root),
            ("fsopen", libc::SYS_fsopen),
            ("move_mount", libc::SYS_move_mount),
            ("keyctl", libc::SYS_keyctl),
            ("bpf", libc::SYS_bpf),
            ("perf_event_open", libc::SYS_perf_event_open),
            ("userfaultfd", libc::SYS_userfaultfd),
            ("open_by_handle_at", libc::SYS_open_by_handle_at),
            ("io_uring_setup", libc::SYS_io_uring_setup),
            ("ptrace", libc::SYS_ptrace),
            ("setns", libc::SYS_setns),
            ("unshare", libc::SYS_unshare),
        ];
        let list: String =
            calls.iter().map(|(name, number)| format!("(\"{name}\",{number}),")).collect();
        scene.file("calls.py", &format!(
            "import ctypes, errno\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             def call(*a):\n    ctypes.set_errno(0)\n    r = c.syscall(*[ctypes.c_long(x) for x in a])\n    return errno.errorcode.get(ctypes.get_errno(), r)\n\
             for name, number in [{list}]:\n    print(name, call(number, 0, 0, 0, 0, 0))\n\
             print('clone3', call({clone3}, 0, 0))\n\
             print('clone', call({clone}, 0x10000011, 0, 0, 0, 0))\n\
             print('x32', call(0x40000000 + 39))\n\
             print('TIOCSTI', call({ioctl}, 0, 0x5412, 0))\n\
             print('TIOCSTI high bits', call({ioctl}, 0, 0x100005412, 0))\n\
             print('TIOCLINUX', call({ioctl}, 0, 0x541c, 0))\n",
            clone3 = libc::SYS_clone3, clone = libc::SYS_clone, ioctl = libc::SYS_ioctl,
        ));
        let outcome = scene.run("/usr/bin/python3 calls.py");
        let mut expected: String =
            calls.iter().map(|(name, _)| format!("{name} EPERM\n")).collect();
        expected += "clone3 ENOSYS\nclone EPERM\n";
        expected += if cfg!(target_arch = "x86_64") { "x32 ENOSYS\n" } else { "x32 EPERM\n" };
        expected += "TIOCSTI EPERM\nTIOCSTI high bits EPERM\nTIOCLINUX EPERM\n";
        assert_eq!(outcome.text, expected);
    });
}

#[test]
fn hostile_folder_names_are_names_and_nothing_else_sbx030() {
    as_every_user("hostile_folder_names_are_names_and_nothing_else_sbx030", || {
        let long = "a".repeat(200);
        for name in ["--bind", "a\nb", "a b'\"$(x)", "-", "\u{202e}", "--", "%s", &long] {
            let scene = Scene::called(name);
            scene.file(".git/config", "");
            let outcome = scene.run("echo x > f && ! echo x 2>/dev/null > .git/config && pwd");
            assert_eq!(outcome.code, Some(0), "{name:?}: {}", outcome.text);
            assert_eq!(outcome.text, format!("{}\n", scene.workspace.display()));
            assert!(scene.workspace.join("f").exists());
        }
    });
}

#[test]
fn a_workspace_that_was_replaced_meanwhile_does_not_run() {
    as_every_user("a_workspace_that_was_replaced_meanwhile_does_not_run", || {
        let scene = Scene::new();
        let argv = ["/bin/bash", "-c", "echo ran"].map(OsString::from);
        let request = LaunchRequest {
            workspace: &scene.workspace,
            cwd: &scene.workspace,
            argv: &argv,
            env: &[],
            writable: &[],
            home: Some(&scene.home),
        };
        let mut launch = prepare(&SandboxPolicy::CONFINED, &request).unwrap();
        fs::rename(&scene.workspace, scene.outside.join("moved")).unwrap();
        std::os::unix::fs::symlink(&scene.outside, &scene.workspace).unwrap();
        let output = launch.command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("ran") && !output.status.success(), "{text}");
        drop(launch);
        assert!(matches!(prepare(&SandboxPolicy::CONFINED, &request), Err(Error::Request(_))));
    });
}

#[test]
fn further_folders_can_be_written_and_toolchains_run() {
    as_every_user("further_folders_can_be_written_and_toolchains_run", || {
        let scene = Scene::new();
        let tool = scene.home.join(".cargo/bin/tool");
        fs::create_dir_all(tool.parent().unwrap()).unwrap();
        fs::write(&tool, "#!/bin/sh\necho tool\n").unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(scene.home.join(".cargo/credentials.toml"), "CANARY").unwrap();
        let scratch = scene.home.join(".cairn/scratch");
        fs::create_dir_all(&scratch).unwrap();
        let script = format!(
            "tool; echo x > {}/x; cat ~/.cargo/credentials.toml; rm ~/.cargo/bin/tool",
            scratch.display()
        );
        let argv = ["/bin/bash".into(), "-c".into(), OsString::from(script)];
        let mut path = OsString::from(tool.parent().unwrap());
        path.push(":bin");
        let writable = [scratch.clone()];
        let request = LaunchRequest {
            workspace: &scene.workspace,
            cwd: &scratch,
            argv: &argv,
            env: &[("PATH".into(), path)],
            writable: &writable,
            home: Some(&scene.home),
        };
        let mut launch = prepare(&SandboxPolicy::CONFINED, &request).unwrap();
        let output = launch.command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "tool\n");
        assert!(scratch.join("x").exists() && tool.exists());
    });
}

#[test]
fn starting_takes_little_time() {
    let scene = Scene::new();
    scene.file(".git/config", "");
    let mut times: Vec<Duration> = (0..20).map(|_| scene.run("true").time).collect();
    times.sort();
    println!("sandbox start, search to exit: median {:?}, p95 {:?}", times[10], times[18]);
    // Far above the goal of 80 ms, so that a busy machine does not fail it.
    assert!(times[10] < Duration::from_millis(500), "{times:?}");
}
