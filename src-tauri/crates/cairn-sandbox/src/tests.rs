use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    list.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[track_caller]
fn check_environment(parent: &[(&str, &str)], extra: &[(&str, &str)], expected: &[(&str, &str)]) {
    let forced = [
        ("GIT_EDITOR", "true"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
        ("TERM", "dumb"),
    ];
    let mut expected = pairs(&[expected, &forced].concat());
    expected.sort();
    assert_eq!(child_environment(pairs(parent).into_iter(), &pairs(extra)), expected);
}

#[test]
fn the_environment_is_an_allow_list_with_forced_values_p86() {
    check_environment(
        &[
            ("HOME", "/home/u"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_TIME", "C"),
            ("LC_API_KEY", "secret"),
            ("TERM", "xterm"),
            ("PAGER", "less"),
            ("OPENAI_API_KEY", "secret"),
            ("DIFY_KEY", "secret"),
            ("GITHUB_TOKEN", "secret"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("BASH_ENV", "/tmp/x"),
            ("BASH_FUNC_ls%%", "() { :; }"),
            ("NODE_OPTIONS", "--require x"),
            ("HTTP_PROXY", "http://proxy"),
            ("PORT", "1"),
        ],
        &[],
        &[("HOME", "/home/u"), ("LANG", "de_DE.UTF-8"), ("LC_TIME", "C")],
    );
}

#[test]
fn granted_names_are_added_but_none_that_loads_code_or_is_forced() {
    check_environment(
        &[("TZ", "UTC")],
        &[
            ("MY_TOKEN", "granted"),
            ("TZ", "CET"),
            ("GIT_EDITOR", "vi"),
            ("LD_LIBRARY_PATH", "/x"),
            ("DYLD_INSERT_LIBRARIES", "/x"),
            ("BASH_FUNC_x%%", "() { :; }"),
            ("", "empty"),
            ("A=B", "c"),
        ],
        &[("MY_TOKEN", "granted"), ("TZ", "CET")],
    );
}

#[cfg(unix)]
#[test]
fn relative_entries_of_path_are_dropped() {
    check_environment(&[("PATH", ".:/usr/bin::bin:/bin")], &[], &[("PATH", "/usr/bin:/bin")]);
}

fn make(root: &Path, files: &[&str]) {
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
        fs::write(path, "").unwrap();
    }
}

fn found(root: &Path) -> Vec<String> {
    let found = protected_paths(root);
    assert!(found.complete);
    let relative = |path: PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    found.paths.into_iter().map(relative).collect()
}

#[test]
fn protected_paths_are_found_at_any_depth_and_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    make(
        folder.path(),
        &[
            ".GIT/config",
            "a/b/.git/config",
            "a/.Envrc",
            "a/x.code-workspace",
            "a/.github/workflows/ci.yml",
            "a/.github/other.md",
            "a/.cargo/config.toml",
            "a/.cargo/other",
            ".yarnrc.yml",
            "git/config",
            "workflows/x",
            "node_modules/x/.npmrc",
        ],
    );
    assert_eq!(
        found(folder.path()),
        [
            ".GIT",
            ".yarnrc.yml",
            "a/.Envrc",
            "a/x.code-workspace",
            "a/.cargo/config.toml",
            "a/.github/workflows",
            "a/b/.git",
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_and_git_files_protect_what_they_name_inside_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("w");
    make(&root, &["real/x", "modules/m/HEAD", "sub/file"]);
    make(folder.path(), &["outside/x"]);
    std::os::unix::fs::symlink("real", root.join(".vscode")).unwrap();
    std::os::unix::fs::symlink("../outside", root.join(".idea")).unwrap();
    std::os::unix::fs::symlink("..", root.join(".claude")).unwrap();
    fs::write(root.join("sub/.git"), "gitdir: ../modules/m\n").unwrap();
    fs::write(root.join(".git"), "gitdir: ../outside\n").unwrap();
    assert_eq!(found(&root.canonicalize().unwrap()), [".git", "real", "modules/m", "sub/.git"]);
}

#[test]
fn the_search_is_bounded_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for index in 0..300 {
        make(folder.path(), &[&format!("p{index}/.npmrc")]);
    }
    make(folder.path(), &[".git/config"]);
    let found = protected_paths(folder.path());
    assert!(!found.complete);
    assert_eq!(found.paths.len(), 256);
    assert_eq!(found.paths[0], folder.path().join(".git"), "shallow ones are never left out");
}

fn request<'a>(workspace: &'a Path, cwd: &'a Path, argv: &'a [OsString]) -> LaunchRequest<'a> {
    LaunchRequest { workspace, cwd, argv, env: &[], writable: &[], home: Some(Path::new("/h/u")) }
}

#[cfg(unix)]
#[test]
fn folders_that_would_hide_nothing_are_refused() {
    let argv = ["true".into()];
    for folder in ["/", "/h", "/h/u", "/proc/1", "/dev", "relative"] {
        let folder = Path::new(folder);
        let refused = prepare(&SandboxPolicy::CONFINED, &request(folder, folder, &argv));
        assert!(matches!(refused, Err(Error::Request(_))), "{}", folder.display());
    }
    for cwd in ["/", "/h/u/other", "/h/u/w/../x"] {
        let request = request(Path::new("/h/u/w"), Path::new(cwd), &argv);
        let refused = prepare(&SandboxPolicy::CONFINED, &request);
        assert!(matches!(refused, Err(Error::Request(_))), "{cwd}");
    }
}

#[test]
fn the_seatbelt_profile_names_no_path_in_its_text() {
    use cairn_protocol::{NetworkAccess, WorkspaceAccess};
    let folder = tempfile::Builder::new().prefix("a\") (allow default) (").tempdir().unwrap();
    make(folder.path(), &["sub/.git/config"]);
    let argv: Vec<OsString> = ["bash", "-c", "true"].iter().map(OsString::from).collect();
    let arguments = |access, network| -> Vec<String> {
        let request = request(folder.path(), folder.path(), &argv);
        let list = macos::arguments(access, network, &request, Path::new("/private/tmp/x"));
        list.into_iter().map(|value| value.into_string().unwrap()).collect()
    };
    let list = arguments(WorkspaceAccess::Write, NetworkAccess::None);
    let (text, rest) = (&list[1], &list[2..]);
    assert_eq!(list[0], "-p");
    assert!(!text.contains("allow default") && !text.contains("/h/u"));
    assert!(text.starts_with("(version 1)\n(deny default)\n"));
    assert!(!text.contains("network"));
    assert!(text.contains(
        r#"(deny file-write* (require-all (subpath (param "WS")) (regex #"/\.[gG][iI][tT](/|$)")))"#
    ));
    assert!(text.contains(r#"(regex #"/[^/]*\.[cC][oO]"#), "classes are left alone");
    let at = |text: &str, part: &str| text.find(part).expect(part);
    assert!(
        at(text, r#"(allow file-write* (subpath (param "WS")))"#) < at(text, "(deny file-write*"),
        "the last matching rule wins"
    );
    let pin = format!("={}", folder.path().join("sub").display());
    assert!(rest.iter().any(|value| value.starts_with("PIN") && value.ends_with(&pin)));
    assert_eq!(&rest[rest.len() - 4..], ["--", "bash", "-c", "true"]);
    assert!(rest.iter().filter(|value| *value == "-D").count() * 2 + 4 == rest.len());

    let read = arguments(WorkspaceAccess::Read, NetworkAccess::Full);
    assert!(!read[1].contains(r#"file-write* (subpath (param "WS"))"#));
    assert!(read[1].contains("network-outbound"));
    let open = |text: &str| text.matches('(').count();
    assert_eq!(
        open(&read[1].replace("(/|$)", "")),
        read[1].replace("(/|$)", "").matches(')').count()
    );
}

#[test]
fn windows_says_that_nothing_is_enforced() {
    let state = windows::detect();
    assert!(!state.enforced && state.reason.contains("not confined"));
}
