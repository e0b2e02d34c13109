//! Holds `ui/src/protocol` against the Rust types.

use std::collections::BTreeMap;
use std::path::Path;

/// Where the generated TypeScript lives, seen from this package.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/src/protocol");

#[test]
fn the_typescript_is_up_to_date() {
    let folder = Path::new(FOLDER);
    let wanted = cairn_protocol::typescript::files();
    if std::env::var_os("UPDATE_PROTOCOL").is_some() {
        rewrite(folder, &wanted);
    }
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("ui/src/protocol is there") {
        let path = entry.expect("reads").path();
        let name = path.file_name().expect("has a name").to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(&path).expect("reads"));
    }
    let stale = |(name, text): (&&str, &String)| {
        (found.get(*name) != Some(text)).then_some((*name).to_owned())
    };
    let stale: Vec<String> = wanted.iter().filter_map(stale).collect();
    let foreign: Vec<&String> =
        found.keys().filter(|name| !wanted.contains_key(name.as_str())).collect();
    assert!(
        stale.is_empty() && foreign.is_empty(),
        "stale: {stale:?}, not generated: {foreign:?}; \
         run `UPDATE_PROTOCOL=1 cargo test -p cairn-tests --test contract`"
    );
}

fn rewrite(folder: &Path, wanted: &BTreeMap<&str, String>) {
    std::fs::create_dir_all(folder).expect("makes the folder");
    for entry in std::fs::read_dir(folder).expect("reads the folder") {
        std::fs::remove_file(entry.expect("reads").path()).expect("removes an old file");
    }
    for (name, text) in wanted {
        std::fs::write(folder.join(name), text).expect("writes");
    }
}
