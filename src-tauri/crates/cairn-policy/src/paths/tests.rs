use super::{affects_later_sessions, is_protected, is_secret, is_within};

#[test]
fn security_3_10_protected_names_at_any_depth() {
    for path in [
        ".git",
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".gitmodules",
        ".gitattributes",
        ".lfsconfig",
        ".cairn/config.toml",
        ".vscode/settings.json",
        "a/.idea/x.xml",
        "x.code-workspace",
        ".devcontainer/d.json",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".mcp.json",
        ".cursor/mcp.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".agents/x",
        ".gemini/x",
        ".roo/x",
        ".clinerules",
        ".clinerules-code",
        ".windsurf/x",
        ".envrc",
        ".pre-commit-config.yaml",
        ".husky/pre-push",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".cargo/config",
        ".cargo/config.toml",
        ".ripgreprc",
        ".bashrc",
        ".ssh/authorized_keys",
    ] {
        assert!(is_protected(path), "{path}");
    }
}

#[test]
fn security_3_10_names_are_folded() {
    for path in [
        ".GIT/config",
        ".CaIrN/config.toml",
        ".gi\u{200c}t/config",
        ".git./config",
        ".git /config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        ".hu\u{17f}\u{212a}y/pre-commit",
        ".vſcode/tasks.json",
        ".git\\config",
    ] {
        assert!(is_protected(path), "{path}");
    }
}

#[test]
fn ordinary_names_are_not_protected() {
    for path in [
        "src/main.rs",
        ".gitignore",
        "git/config",
        ".github/ISSUE_TEMPLATE.md",
        "cargo/config.toml",
        "Cargo.toml",
        "my.git",
        ".",
        "",
        "docs/.gitkeep",
        "AGENTS.md",
    ] {
        assert!(!is_protected(path), "{path}");
    }
    assert!(affects_later_sessions("docs/AGENTS.md") && affects_later_sessions("Claude.md"));
}

#[test]
fn z_45_secret_files() {
    for path in [
        "/home/u/.ssh/id_rsa",
        "/work/.env",
        "/work/.ENV",
        "/work/.env.production",
        "/home/u/.aws/credentials",
        "/home/u/.netrc",
        "/etc/shadow",
        "/work/server.pem",
        "/home/u/.config/gh/hosts.yml",
        "/home/u/.local/share/keyrings/login.keyring",
        "/home/u/.cargo/credentials.toml",
        "/home/u/.bash_history",
        "/home/u/Library/Keychains/login.keychain-db",
        "/home/u/.mozilla/firefox/x/key4.db",
    ] {
        assert!(is_secret(path, Some("/home/u")), "{path}");
    }
    for path in [
        "/work/.env.example",
        "/work/src/env.rs",
        "/work/key.rs",
        "/work/.config/gh/hosts.yml",
        "/home/u/a.txt",
    ] {
        assert!(!is_secret(path, Some("/home/u")), "{path}");
    }
}

#[test]
fn a_sibling_with_the_same_beginning_is_outside() {
    assert!(is_within("/w/a", "/w") && is_within("/w", "/w") && is_within("/w", "/w/"));
    assert!(is_within("/any", "/"));
    assert!(!is_within("/w-evil/a", "/w") && !is_within("/", "/w"));
}
