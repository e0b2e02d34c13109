//! Keys: where they lie, and that they lie nowhere else (D-9, P09 of the security plan).

use super::*;

const KEY: &str = "sk-canary-0123456789";

fn save(config: &Config, entry: ProviderEntry, fallback: KeyFallback) -> KeySource {
    config.save_provider(entry, Some(Secret::new(KEY)), fallback).unwrap()
}

fn key_of(config: &Config, name: &str) -> Result<Option<String>, Error> {
    let entry = config.providers().into_iter().find(|entry| entry.name == name).unwrap();
    config.key(&entry, &no_env).map(|key| key.map(|key| key.expose().to_owned()))
}

/// Returns the files below a folder that have the key in them.
fn files_with_key(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(KEY) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn a_key_goes_into_the_keychain_and_no_file() {
    let root = TempDir::new().unwrap();
    let keychain = FakeKeychain::default();
    let config = open_with(root.path(), &keychain);
    assert_eq!(config.keychain(), KeychainState::Available);
    assert_eq!(save(&config, entry("one"), KeyFallback::File), KeySource::Keychain);
    assert_eq!(save(&config, entry("two"), KeyFallback::File), KeySource::Keychain);
    assert_eq!(files_with_key(root.path()), [""; 0]);
    let later = open_with(root.path(), &keychain);
    assert_eq!(key_of(&later, "one").unwrap().as_deref(), Some(KEY));
    later.delete_provider("one").unwrap();
    assert_eq!(key_of(&later, "two").unwrap().as_deref(), Some(KEY));
    later.delete_provider("two").unwrap();
    assert_eq!(keychain.text(), None);
}

#[test]
fn without_a_keychain_a_key_lives_for_this_run() {
    let root = TempDir::new().unwrap();
    let config = open_with(root.path(), &FakeKeychain::broken());
    let reason = "nobody answers".to_owned();
    assert_eq!(config.keychain(), KeychainState::Unavailable { reason });
    assert_eq!(save(&config, entry("one"), KeyFallback::Memory), KeySource::Memory);
    assert_eq!(key_of(&config, "one").unwrap().as_deref(), Some(KEY));
    assert_eq!(files_with_key(root.path()), [""; 0]);
    let later = open_with(root.path(), &FakeKeychain::broken());
    let error = key_of(&later, "one").unwrap_err();
    assert!(
        matches!(&error, Error::KeyMissing { reason, .. } if reason.contains("one run")),
        "{error}"
    );
}

#[test]
fn a_key_file_is_made_only_by_choice_and_for_the_user_only() {
    let root = TempDir::new().unwrap();
    let config = open_with(root.path(), &FakeKeychain::broken());
    assert_eq!(save(&config, entry("one"), KeyFallback::File), KeySource::File);
    assert_eq!(files_with_key(root.path()), ["secrets.json"]);
    check_mode(&root.path().join("secrets.json"));
    let later = open_with(root.path(), &FakeKeychain::broken());
    assert_eq!(key_of(&later, "one").unwrap().as_deref(), Some(KEY));
    // Once there is a keychain, a new key leaves no copy behind.
    let fixed = open_with(root.path(), &FakeKeychain::default());
    assert_eq!(save(&fixed, entry("one"), KeyFallback::File), KeySource::Keychain);
    assert_eq!(files_with_key(root.path()), [""; 0]);
}

#[test]
fn a_key_stays_when_none_is_entered_but_never_moves_to_another_server() {
    let root = TempDir::new().unwrap();
    let keychain = FakeKeychain::default();
    let config = open_with(root.path(), &keychain);
    save(&config, entry("one"), KeyFallback::Memory);
    let keep = |entry| config.save_provider(entry, None, KeyFallback::Memory);
    let same =
        ProviderEntry { base_url: "https://Models.example:443/v2".to_owned(), ..entry("one") };
    assert_eq!(keep(same).unwrap(), KeySource::Keychain);
    let blank = config.save_provider(entry("one"), Some(Secret::new(" ")), KeyFallback::Memory);
    assert_eq!(blank.unwrap(), KeySource::Keychain);
    let moved = ProviderEntry { base_url: "https://evil.example/v1".to_owned(), ..entry("one") };
    assert!(matches!(keep(moved), Err(Error::KeyMissing { .. })));
    // Nor by an edit of the file.
    let path = root.path().join("providers.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("https://models.example", "https://evil.example")).unwrap();
    let error = key_of(&config, "one").unwrap_err();
    assert!(error.to_string().contains("entered for https://models.example"), "{error}");
}

#[test]
fn a_key_of_the_environment_is_looked_up_when_it_is_needed() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    let env =
        |name: &str| (name == "MY_KEY" || name == "OPENAI_API_KEY").then(|| format!(" {KEY}\n"));
    let source = KeySource::Env { variable: "MY_KEY".to_owned() };
    let with_env = ProviderEntry { key: source.clone(), ..entry("one") };
    assert_eq!(config.save_provider(with_env.clone(), None, KeyFallback::Memory).unwrap(), source);
    let key =
        |entry: &ProviderEntry| config.key(entry, &env).unwrap().map(|key| key.expose().to_owned());
    assert_eq!(key(&config.providers()[0]).as_deref(), Some(KEY));
    assert!(matches!(config.key(&with_env, &no_env), Err(Error::KeyMissing { .. })));
    // P-58: a vendor's variable stands in for a blank key, at the vendor's own host only.
    let at = |url: &str| ProviderEntry { base_url: url.to_owned(), ..entry("x") };
    assert_eq!(key(&at("https://api.openai.com/v1")).as_deref(), Some(KEY));
    for other in
        ["http://api.openai.com/v1", "https://api.openai.com.evil.example", "http://localhost:1"]
    {
        assert_eq!(key(&at(other)), None, "{other}");
    }
}

#[test]
fn a_key_that_can_not_be_a_header_is_refused_without_being_shown() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    for bad in ["sk-a b", "sk-\u{e4}", "sk-a\nb"] {
        let error = config
            .save_provider(entry("one"), Some(Secret::new(bad)), KeyFallback::File)
            .unwrap_err();
        assert!(matches!(&error, Error::Invalid(text) if !text.contains("sk-")));
    }
}

#[test]
fn a_key_file_that_is_damaged_is_told_without_its_content_and_kept() {
    let root = TempDir::new().unwrap();
    let config = open_with(root.path(), &FakeKeychain::broken());
    save(&config, entry("one"), KeyFallback::File);
    let path = root.path().join("secrets.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"v\":1", "\"v\":x");
    fs::write(&path, &text).unwrap();
    let error = key_of(&config, "one").unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }));
    assert!(!format!("{error:?} {}", error.full_text()).contains(KEY));
    assert!(config.save_provider(entry("one"), Some(Secret::new(KEY)), KeyFallback::File).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_keychain_that_fails_later_is_an_error_and_not_a_missing_key() {
    let root = TempDir::new().unwrap();
    let keychain = FakeKeychain::default();
    let config = open_with(root.path(), &keychain);
    save(&config, entry("one"), KeyFallback::Memory);
    keychain.set_broken(Some("locked"));
    assert!(matches!(key_of(&config, "one"), Err(Error::Keychain { .. })));
    keychain.set_broken(None);
    assert_eq!(key_of(&config, "one").unwrap().as_deref(), Some(KEY));
}
