//! `providers.toml`.

use super::*;

fn read(root: &Path) -> String {
    fs::read_to_string(root.join("providers.toml")).unwrap()
}

fn save(config: &Config, entry: ProviderEntry) -> Result<KeySource, Error> {
    config.save_provider(entry, None, KeyFallback::Memory)
}

#[test]
fn providers_come_back_in_order() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    let headers = BTreeMap::from([("X-Title".to_owned(), "Cairn".to_owned())]);
    let first = ProviderEntry { headers, models: vec![model("b"), model("a/x:1")], ..entry("one") };
    let second = ProviderEntry { api: WireApi::Anthropic, models: Vec::new(), ..entry("two") };
    save(&config, first.clone()).unwrap();
    save(&config, second.clone()).unwrap();
    assert_eq!(config.providers(), [first.clone(), second.clone()]);
    insta::assert_snapshot!(read(root.path()), @r#"
    # Providers and their models. Keys are not kept here.

    [[provider]]
    name = "one"
    api = "chat"
    baseUrl = "https://models.example/v1"
    headers = { X-Title = "Cairn" }

    [[provider.models]]
    modelId = "b"
    contextWindow = 8000
    vision = false

    [[provider.models]]
    modelId = "a/x:1"
    contextWindow = 8000
    vision = false

    [[provider]]
    name = "two"
    api = "anthropic"
    baseUrl = "https://models.example/v1"
    "#);
    let first = ProviderEntry { headers: BTreeMap::new(), models: vec![model("c")], ..first };
    save(&config, first.clone()).unwrap();
    assert_eq!(open(root.path()).providers(), [first, second.clone()]);
    config.delete_provider("one").unwrap();
    assert_eq!(config.providers(), [second]);
    assert!(matches!(config.delete_provider("one"), Err(Error::UnknownProvider(_))));
    check_mode(&root.path().join("providers.toml"));
}

#[test]
fn comments_and_unknown_keys_of_providers_and_models_stay() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    save(&config, entry("one")).unwrap();
    let text = read(root.path())
        .replace("name = \"one\"", "# the good one\nname = \"one\" # yes\nregion = \"eu\"")
        .replace("modelId = \"m-1\"", "modelId = \"m-1\"\npricing = { output = 2.5 }");
    fs::write(root.path().join("providers.toml"), &text).unwrap();
    let changed = ModelEntry { context_window: None, vision: true, ..model("m-1") };
    save(&config, ProviderEntry { models: vec![changed.clone(), model("m-2")], ..entry("one") })
        .unwrap();
    let after = read(root.path());
    for kept in ["# the good one", "# yes", "region = \"eu\"", "pricing = { output = 2.5 }"] {
        assert!(after.contains(kept), "{kept}:\n{after}");
    }
    assert_eq!(config.providers()[0].models, [changed, model("m-2")]);
}

#[test]
fn entries_that_make_no_sense_are_refused() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    let with_url = |url: &str| ProviderEntry { base_url: url.to_owned(), ..entry("x") };
    let with_header = |name: &str, value: &str| ProviderEntry {
        headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..entry("x")
    };
    let bad = [
        entry(""),
        entry("a/b"),
        ProviderEntry { api: WireApi::Script, ..entry("tour") },
        with_url(""),
        with_url("models.example/v1"),
        with_url("ftp://models.example"),
        with_url("https://user:key@models.example"),
        with_url("https://models.example/v1?key=1"),
        with_url("https://models.example:99999"),
        with_url("https://models.example\n.evil/"),
        with_url("https:///v1"),
        with_header("Authorization", "Bearer x"),
        with_header("x-API-key", "x"),
        with_header("a b", "x"),
        with_header("a", "x\r\ny: z"),
        ProviderEntry { models: vec![model("m"), model("m")], ..entry("x") },
        ProviderEntry { models: vec![model(" ")], ..entry("x") },
    ];
    for entry in bad {
        let text = format!("{entry:?}");
        assert!(matches!(save(&config, entry), Err(Error::Invalid(_))), "{text}");
    }
    assert_eq!(config.providers(), []);
    for good in ["http://127.0.0.1:8080", "http://[::1]:80/v1", "HTTPS://Models.Example:443/v1/"] {
        save(&config, with_url(good)).unwrap();
    }
}

#[test]
fn a_bad_entry_is_passed_over_told_and_kept() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    save(&config, entry("good")).unwrap();
    let bad = "\n[[provider]]\nname = \"bad\"\napi = \"smoke\"\n\n[[provider]]\nname = \"good\"\napi = \"chat\"\nbaseUrl = \"https://x\"\n";
    fs::write(root.path().join("providers.toml"), read(root.path()) + bad).unwrap();
    assert_eq!(config.providers(), [entry("good")]);
    assert_eq!(problems(root.path()).len(), 2);
    save(&config, entry("third")).unwrap();
    assert!(read(root.path()).contains("api = \"smoke\""));
    // A file that is not TOML is put aside by the next change.
    fs::write(root.path().join("providers.toml"), "[[").unwrap();
    assert_eq!((config.providers().len(), problems(root.path()).len()), (0, 1));
    save(&config, entry("new")).unwrap();
    assert_eq!(fs::read_to_string(root.path().join("providers.toml.broken-1")).unwrap(), "[[");
    assert_eq!(config.providers(), [entry("new")]);
}
