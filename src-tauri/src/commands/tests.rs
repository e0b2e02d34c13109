use std::collections::BTreeSet;

include!("table.rs");

const SOURCES: &[(&str, &str)] = &[
    ("cairn", include_str!("app.rs")),
    ("workspace", include_str!("workspace.rs")),
    ("session", include_str!("session.rs")),
    ("approval", include_str!("approval.rs")),
    ("changes", include_str!("changes.rs")),
    ("terminal", include_str!("terminal.rs")),
    ("provider", include_str!("provider.rs")),
    ("settings", include_str!("settings.rs")),
];

fn listed() -> BTreeSet<String> {
    let pairs = COMMANDS.iter().flat_map(|(resource, verbs)| {
        verbs.iter().map(move |verb| format!("{resource}:allow-{}", verb.replace('_', "-")))
    });
    pairs.collect()
}

fn permission(resource: &str, verb: &str) -> String {
    format!("{resource}:allow-{}", verb.trim().replace('_', "-"))
}

/// Returns what stands between two marks, for each time they stand in a text.
fn between<'a>(text: &'a str, from: &'a str, to: char) -> impl Iterator<Item = &'a str> {
    text.split(from).skip(1).map(move |rest| rest.split(to).next().unwrap_or_default())
}

#[test]
fn the_window_is_granted_each_command_and_nothing_else() {
    let file = include_str!("../../capabilities/main.json");
    let capability: serde_json::Value = serde_json::from_str(file).expect("it is JSON");
    let permissions = capability["permissions"].as_array().expect("a list");
    let granted: BTreeSet<String> = permissions
        .iter()
        .map(|permission| permission.as_str().expect("a permission without a scope").to_owned())
        .collect();
    assert_eq!(granted, listed());
    assert_eq!(capability["windows"], serde_json::json!(["main"]));
    assert!(capability.get("remote").is_none(), "no page from elsewhere is granted anything");
}

#[test]
fn each_listed_command_is_there_and_registered() {
    let (mut written, mut registered) = (BTreeSet::new(), BTreeSet::new());
    for (resource, source) in SOURCES {
        let names = between(source, "#[tauri::command]\nasync fn ", '(');
        written.extend(names.map(|verb| permission(resource, verb)));
        let handlers = between(source, "generate_handler![", ']').flat_map(|list| list.split(','));
        let handlers = handlers.filter(|verb| !verb.trim().is_empty());
        registered.extend(handlers.map(|verb| permission(resource, verb)));
        assert!(source.contains(&format!("Builder::new(\"{resource}\")")), "{resource}");
    }
    assert_eq!(written, listed());
    assert_eq!(registered, listed());
}

/// What the window calls (`ui/src/backend/tauri.ts`) is what is there.
#[test]
fn the_window_calls_no_other_command() {
    let door = include_str!("../../../ui/src/backend/tauri.ts").replace("call<number>(", "call(");
    let called: BTreeSet<String> = between(&door, "call(\"", ')')
        .map(|arguments| {
            let mut words = arguments.split('"');
            let resource = words.next().expect("a resource");
            permission(resource, words.nth(1).expect("a verb"))
        })
        .collect();
    assert_eq!(called, listed());
}

/// The policy of the pages (security plan 3.12): only what is listed here may be loosened, and only so far.
#[test]
fn the_pages_may_load_nothing_from_elsewhere() {
    let file = include_str!("../../../tauri.conf.json");
    let config: serde_json::Value = serde_json::from_str(file).expect("it is JSON");
    let security = &config["app"]["security"];
    let csp = &security["csp"];
    for directive in [
        "default-src",
        "frame-src",
        "child-src",
        "object-src",
        "media-src",
        "manifest-src",
        "base-uri",
        "form-action",
        "frame-ancestors",
    ] {
        assert_eq!(csp[directive], "'none'", "{directive}");
    }
    assert_eq!(csp["script-src"], "'self'");
    assert_eq!(csp["style-src"], "'self' 'unsafe-inline'");
    assert_eq!(csp["connect-src"], "ipc: http://ipc.localhost");
    let before = include_str!("../window/before.js");
    assert!(before.contains("Object.freeze(shared)"), "what every object inherits is frozen");
    let loosened = serde_json::json!(["style-src"]);
    assert_eq!(security["dangerousDisableAssetCspModification"], loosened);
    assert_eq!(config["app"]["withGlobalTauri"], false);
    assert_eq!(security["assetProtocol"]["enable"], false);
}
