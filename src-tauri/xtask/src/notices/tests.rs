use super::*;

fn package(name: &str, version: &str, licence: &str) -> Package {
    (name.to_owned(), version.to_owned(), licence.to_owned())
}

#[test]
fn a_line_of_the_tree_is_a_package_and_ours_are_not() {
    assert_eq!(
        crate_of("serde v1.0.1|MIT OR Apache-2.0"),
        Some(package("serde", "1.0.1", "MIT OR Apache-2.0"))
    );
    assert_eq!(
        crate_of("darling v0.2.0 (proc-macro)|MIT (*)"),
        Some(package("darling", "0.2.0", "MIT"))
    );
    assert_eq!(crate_of("cairn-cli v0.1.0 (/home/me/cairn/src-tauri/crates/cairn-cli)|MIT"), None);
    assert_eq!(crate_of(""), None);
}

#[test]
fn what_only_builds_the_interface_is_left_out() {
    let lock = r#"{
  "packages": {
    "": {
      "name": "cairn-ui",
      "version": "0.1.0"
    },
    "node_modules/@xterm/xterm": {
      "version": "6.0.0",
      "license": "MIT"
    },
    "node_modules/a/node_modules/b": {
      "version": "2.0.0",
      "license": "ISC",
      "dependencies": {
        "version": "^1.0.0"
      }
    },
    "node_modules/vite": {
      "version": "8.0.0",
      "dev": true,
      "license": "MIT"
    }
  }
}"#;
    let expected = [package("@xterm/xterm", "6.0.0", "MIT"), package("b", "2.0.0", "ISC")];
    assert_eq!(modules_of(lock), BTreeSet::from(expected));
}
