//! What a neighbour sees: configuration in a temporary folder, with a keychain in memory.

mod providers;
mod secrets;
mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use cairn_protocol::*;
use tempfile::TempDir;

use crate::keychain::Keychain;
use crate::*;

/// A keychain in memory that can be switched off.
#[derive(Clone, Default)]
struct FakeKeychain(Arc<Mutex<FakeState>>);

#[derive(Default)]
struct FakeState {
    text: Option<String>,
    broken: Option<&'static str>,
}

impl FakeKeychain {
    fn broken() -> Self {
        let keychain = Self::default();
        keychain.set_broken(Some("nobody answers"));
        keychain
    }

    fn set_broken(&self, reason: Option<&'static str>) {
        self.0.lock().unwrap().broken = reason;
    }

    fn text(&self) -> Option<String> {
        self.0.lock().unwrap().text.clone()
    }
}

impl Keychain for FakeKeychain {
    fn probe(&self) -> Result<(), String> {
        self.0.lock().unwrap().broken.map_or(Ok(()), |reason| Err(reason.to_owned()))
    }

    fn get(&self) -> Result<Option<Secret>, String> {
        self.probe()?;
        Ok(self.text().map(Secret::new))
    }

    fn set(&self, text: Secret) -> Result<(), String> {
        self.probe()?;
        self.0.lock().unwrap().text = Some(text.expose().to_owned());
        Ok(())
    }

    fn clear(&self) -> Result<(), String> {
        self.probe()?;
        self.0.lock().unwrap().text = None;
        Ok(())
    }
}

fn open_with(root: &Path, keychain: &FakeKeychain) -> Config {
    let (config, problems) = Config::open_with(root, Box::new(keychain.clone())).unwrap();
    assert_eq!(problems, [""; 0]);
    config
}

fn open(root: &Path) -> Config {
    open_with(root, &FakeKeychain::default())
}

fn problems(root: &Path) -> Vec<String> {
    Config::open_with(root, Box::new(FakeKeychain::default())).unwrap().1
}

fn entry(name: &str) -> ProviderEntry {
    ProviderEntry {
        name: name.to_owned(),
        api: WireApi::Chat,
        base_url: "https://models.example/v1".to_owned(),
        headers: BTreeMap::new(),
        models: vec![model("m-1")],
        key: KeySource::None,
    }
}

fn model(id: &str) -> ModelEntry {
    ModelEntry {
        model_id: id.to_owned(),
        display_name: None,
        context_window: Some(8_000),
        max_tokens: None,
        vision: false,
    }
}

fn no_env(_: &str) -> Option<String> {
    None
}

#[test]
fn the_data_root_is_cairn_home_else_below_the_home_d8() {
    let root = |pairs: &'static [(&str, &str)]| {
        data_root(&|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into()))
    };
    assert_eq!(root(&[("HOME", "/h")]), Path::new("/h/.cairn"));
    assert_eq!(root(&[("HOME", "/h"), ("CAIRN_HOME", "/c")]), Path::new("/c"));
    assert_eq!(root(&[("HOME", "/h"), ("CAIRN_HOME", "")]), Path::new("/h/.cairn"));
}

fn rule(effect: RuleEffect, matcher: RuleMatcher) -> Rule {
    Rule {
        id: RuleId::new("r-1"),
        effect,
        matcher,
        scope: GrantScope::Workspace,
        created_at: Timestamp(1_796_000_000_000),
    }
}

#[test]
fn rules_come_back_and_lie_in_a_file_for_the_user_only() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    let workspace = WorkspaceId::new("ws-1");
    assert_eq!(config.workspace_rules(&workspace).unwrap(), []);
    let words = vec!["git".to_owned(), "a \"b\"\nc".to_owned()];
    let rules = [
        rule(RuleEffect::Allow, RuleMatcher::CommandPrefix { words }),
        rule(RuleEffect::Deny, RuleMatcher::Tool { name: "write_file".to_owned() }),
    ];
    config.save_workspace_rules(&workspace, &rules).unwrap();
    assert_eq!(config.workspace_rules(&workspace).unwrap(), rules);
    assert_eq!(config.workspace_rules(&WorkspaceId::new("ws-2")).unwrap(), []);
    let path = root.path().join("rules/ws-1.toml");
    check_mode(&path);
    config.save_workspace_rules(&workspace, &[]).unwrap();
    assert_eq!(config.workspace_rules(&workspace).unwrap(), []);
}

#[track_caller]
fn check_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
}

#[test]
fn damaged_rules_are_an_error_and_are_not_overwritten() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    let workspace = WorkspaceId::new("ws-1");
    fs::create_dir(root.path().join("rules")).unwrap();
    let path = root.path().join("rules/ws-1.toml");
    for bad in [
        "v = 1\nworkspace = \"ws-1\"\nrules = 3",
        "[",
        "v = 2\nworkspace = \"ws-1\"",
        "v = 1\nworkspace = \"ws-2\"",
    ] {
        fs::write(&path, bad).unwrap();
        assert!(matches!(config.workspace_rules(&workspace), Err(Error::Damaged { .. })), "{bad}");
        assert!(config.save_workspace_rules(&workspace, &[]).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    assert!(matches!(config.workspace_rules(&WorkspaceId::new("../x")), Err(Error::Invalid(_))));
}
