use super::*;

/// A type that is sent but not reached from a root would be missing in the window.
#[test]
fn every_type_of_the_command_file_is_written() {
    let text = &files()["index.ts"];
    let source = include_str!("../ipc.rs");
    let names = source.lines().filter_map(|line| {
        let line = line.trim().strip_prefix("pub struct ").or(line.trim().strip_suffix(" {"))?;
        let name = line.split_whitespace().next()?;
        (name.ends_with("Params") || name == "AppState").then_some(name)
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(text.contains(&format!("export type {name} = ")), "{name}");
    }
}

#[test]
fn optional_fields_and_numbers_have_the_form_that_json_has() {
    let text = &files()["index.ts"];
    assert!(text.contains("sender?: Sender"), "{text}");
    assert!(!text.contains("bigint"), "{text}");
}
