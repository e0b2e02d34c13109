//! `settings.toml`.

use super::*;

fn read(root: &Path) -> String {
    fs::read_to_string(root.join("settings.toml")).unwrap()
}

#[test]
fn settings_come_back_and_only_differences_are_written() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    assert_eq!(config.settings(), Settings::default());
    let model = ModelRef { provider: "p".to_owned(), model_id: "m/1".to_owned() };
    let settings = Settings {
        theme: Theme::HcDark,
        text_scale: 1.1,
        default_model: Some(model),
        ..Settings::default()
    };
    config.save_settings(&settings).unwrap();
    assert_eq!(config.settings(), settings);
    insta::assert_snapshot!(read(root.path()), @r#"
    # Cairn's settings. A line that is missing has its default.

    theme = "hc_dark"
    textScale = 1.1
    defaultModel = { provider = "p", model_id = "m/1" }
    "#);
    config.save_settings(&Settings::default()).unwrap();
    assert_eq!(config.settings(), Settings::default());
    check_mode(&root.path().join("settings.toml"));
}

#[test]
fn comments_order_and_unknown_keys_stay() {
    let root = TempDir::new().unwrap();
    let text = "# mine\nfuture = [1, 2] # newer\n\n# why\ntheme = \"dark\" # at night\nmaxIterations = 5\n\n[plugin]\na = 1\n";
    fs::write(root.path().join("settings.toml"), text).unwrap();
    let config = open(root.path());
    assert_eq!(config.settings().theme, Theme::Dark);
    config.save_settings(&config.settings()).unwrap();
    assert_eq!(read(root.path()), text);
    config.save_settings(&Settings { theme: Theme::Light, ..config.settings() }).unwrap();
    assert_eq!(read(root.path()), text.replace("\"dark\"", "\"light\""));
}

#[test]
fn a_value_that_makes_no_sense_has_its_default_and_is_told() {
    let root = TempDir::new().unwrap();
    let text = "theme = \"blue\"\nshellPolicy = 3\ntextScale = nan\ndefaultMode = \"auto\"\nmaxIterations = 7\n[defaultModel]\nprovider = \"p\"\n";
    fs::write(root.path().join("settings.toml"), text).unwrap();
    let told = problems(root.path());
    assert_eq!(told.len(), 5, "{told:?}");
    let (config, _) = Config::open_with(root.path(), Box::new(FakeKeychain::default())).unwrap();
    assert_eq!(config.settings(), Settings { max_iterations: 7, ..Settings::default() });
    // Reading changed nothing.
    assert_eq!(read(root.path()), text);
}

#[test]
fn a_file_that_is_not_toml_is_kept_and_told() {
    for broken in [&b"theme = \"dark\"\n["[..], &b"\xff\xfe"[..]] {
        let root = TempDir::new().unwrap();
        fs::write(root.path().join("settings.toml"), broken).unwrap();
        let told = problems(root.path());
        assert!(told.len() == 1 && told[0].contains("the file is kept"), "{told:?}");
        let (config, _) =
            Config::open_with(root.path(), Box::new(FakeKeychain::default())).unwrap();
        assert_eq!(config.settings(), Settings::default());
        config.save_settings(&Settings { theme: Theme::Light, ..Settings::default() }).unwrap();
        assert_eq!(fs::read(root.path().join("settings.toml.broken-1")).unwrap(), broken);
        assert_eq!(open(root.path()).settings().theme, Theme::Light);
    }
}

#[test]
fn settings_out_of_range_are_not_stored() {
    let root = TempDir::new().unwrap();
    let config = open(root.path());
    for bad in [
        Settings { text_scale: 9.0, ..Settings::default() },
        Settings { default_mode: Mode::Auto, ..Settings::default() },
        Settings { max_iterations: 0, ..Settings::default() },
    ] {
        assert!(matches!(config.save_settings(&bad), Err(Error::Invalid(_))));
    }
    assert!(!root.path().join("settings.toml").exists());
}
