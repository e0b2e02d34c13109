//! Which paths are protected and which hold secrets, by name alone.
//!
//! Names are compared as the most forgiving file system would: without case, without characters that are drawn as
//! nothing, without a trailing dot or blank, and with 8.3 short names. Whether a path is a link is not asked here:
//! whoever calls passes real paths.

use crate::visible::is_ignorable;

#[cfg(test)]
mod tests;

/// Folders whose whole content is protected, at any depth (security plan 3.10).
const PROTECTED_FOLDERS: &[&str] = &[
    ".git",
    "git~1",
    ".cairn",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".cursor",
    ".claude",
    ".codex",
    ".agents",
    ".agent",
    ".gemini",
    ".roo",
    ".windsurf",
    ".husky",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
];

/// Files that are protected at any depth.
const PROTECTED_FILES: &[&str] = &[
    ".gitmodules",
    ".gitattributes",
    ".gitconfig",
    ".lfsconfig",
    ".gitlab-ci.yml",
    ".mcp.json",
    ".envrc",
    ".pre-commit-config.yaml",
    ".npmrc",
    ".ripgreprc",
    ".netrc",
    "_netrc",
    ".devcontainer.json",
    // Files that a shell reads when it starts.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".pam_environment",
];

/// Protected files that are known by how their name begins.
const PROTECTED_PREFIXES: &[&str] = &[".clinerules", ".yarnrc"];

/// Pairs of a folder and a name below it, where only the pair is protected. An empty name means everything.
const PROTECTED_PAIRS: &[(&str, &str)] = &[
    (".github", "workflows"),
    (".cargo", "config"),
    (".cargo", "config.toml"),
    (".config", "git"),
    (".config", "fish"),
    (".config", "autostart"),
    (".config", "systemd"),
    (".config", "environment.d"),
    ("library", "launchagents"),
];

/// Files that tell every later session what to do.
const INSTRUCTION_FILES: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
];

/// Folders whose content is secret wherever they are.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    "keyrings",
    "keychains",
    ".mozilla",
    ".thunderbird",
];

/// Folders below the home folder whose content is secret.
const SECRET_HOME_FOLDERS: &[&str] = &[
    ".config/gh",
    ".config/gcloud",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/google-chrome",
    ".config/chromium",
    ".config/microsoft-edge",
    ".config/bravesoftware",
    ".config/vivaldi",
    ".config/1password",
    ".config/keepassxc",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/gnupg",
    "library/keychains",
    "library/cookies",
    "library/application support/google/chrome",
    "library/application support/firefox",
    "library/safari",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".terraform.d",
    ".var/app/org.mozilla.firefox",
    "snap/firefox",
    "snap/chromium",
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
];

/// Names of secret files.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "shadow",
    "gshadow",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "credentials.json",
    "service-account.json",
    ".dockercfg",
    "login.keychain-db",
    "key4.db",
    "logins.json",
    "cookies.sqlite",
    "login data",
];

/// Endings of secret files.
const SECRET_ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".keychain",
    ".keychain-db",
    ".ppk",
    ".asc.key",
];

/// Endings of a `.env.…` name that say it is a template without values.
const ENV_TEMPLATES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// Returns whether a path, relative to the workspace, is protected: no allow rule and no mode lets a tool
/// write it without a native dialog.
pub fn is_protected(relative: &str) -> bool {
    let parts = folded_parts(relative);
    let Some(name) = parts.last() else { return false };
    if parts.iter().any(|part| PROTECTED_FOLDERS.contains(&part.as_str())) {
        return true;
    }
    if parts.windows(2).any(|pair| {
        PROTECTED_PAIRS.iter().any(|(folder, below)| pair[0] == *folder && pair[1] == *below)
    }) {
        return true;
    }
    PROTECTED_FILES.contains(&name.as_str())
        || PROTECTED_PREFIXES.iter().any(|prefix| parts.iter().any(|part| part.starts_with(prefix)))
        || name.ends_with(".code-workspace")
}

/// Returns whether a file is read as instructions by later sessions, so that a change to it outlives this one.
pub fn affects_later_sessions(relative: &str) -> bool {
    folded_parts(relative).last().is_some_and(|name| INSTRUCTION_FILES.contains(&name.as_str()))
}

/// Returns whether a file is likely to hold keys, passwords or cookies. `real` is absolute.
pub fn is_secret(real: &str, home: Option<&str>) -> bool {
    let parts = folded_parts(real);
    let Some(name) = parts.last() else { return false };
    if parts.iter().any(|part| SECRET_FOLDERS.contains(&part.as_str())) {
        return true;
    }
    if SECRET_FILES.contains(&name.as_str())
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
    {
        return true;
    }
    if let Some(kind) = name.strip_prefix(".env.") {
        return !ENV_TEMPLATES.contains(&kind);
    }
    let Some(home) = home else { return false };
    let home = folded_parts(home);
    if !parts.starts_with(&home) || home.is_empty() {
        return false;
    }
    let below = parts[home.len()..].join("/");
    SECRET_HOME_FOLDERS
        .iter()
        .any(|folder| below == *folder || below.starts_with(&format!("{folder}/")))
}

/// Returns whether `path` is `root` or lies below it. Both are absolute and canonical.
pub(crate) fn is_within(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    match path.strip_prefix(root) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Returns the components of a path, folded.
fn folded_parts(path: &str) -> Vec<String> {
    path.split(['/', '\\']).map(fold).filter(|part| !part.is_empty() && part != ".").collect()
}

/// Folds one name: without case, ignorable characters, stream name, trailing dots and blanks.
fn fold(name: &str) -> String {
    let kept: String = name.chars().filter(|&character| !is_ignorable(character)).collect();
    let folded: String = kept.to_lowercase().chars().map(plain_letter).collect();
    let stem = folded.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_owned()
}

/// Maps the few letters that fold to an ASCII letter only in upper case.
fn plain_letter(character: char) -> char {
    match character {
        'ſ' => 's',
        'ı' => 'i',
        other => other,
    }
}
