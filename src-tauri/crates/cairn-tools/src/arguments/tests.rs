use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{parse, schema};
use crate::Registry;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Input {
    /// A path.
    path: String,
    #[schemars(range(min = 1, max = 9))]
    count: Option<u32>,
    items: Option<Vec<Item>>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    status: Status,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Open,
    InProgress,
}

#[track_caller]
fn check(arguments: &str, expected: Result<Input, &str>) {
    let parsed = parse::<Input>(arguments, &schema::<Input>(), &[("file", "path")]);
    assert_eq!(parsed, expected.map_err(str::to_owned), "{arguments}");
}

fn input(path: &str) -> Input {
    Input { path: path.to_owned(), count: None, items: None }
}

#[test]
fn p_69_the_error_names_the_field() {
    check(r#"{"path":"a"}"#, Ok(input("a")));
    check(r#"{"file":"a","count":null}"#, Ok(input("a")));
    check("", Err("`path` is missing."));
    check("{}", Err("`path` is missing."));
    check("[]", Err("The arguments must be a JSON object, not an array."));
    check(r#"{"path":3}"#, Err("`path` must be a string, not a number."));
    check(r#"{"path":"a","count":"3"}"#, Err("`count` must be an integer, not a string."));
    check(r#"{"path":"a","count":1.5}"#, Err("`count` must be an integer, not a fraction."));
    check(r#"{"path":"a","count":0}"#, Err("`count` must be at least 1, not 0."));
    check(r#"{"path":"a","count":10}"#, Err("`count` must be at most 9, not 10."));
    check(r#"{"path":"a","file":"b"}"#, Err("`path` is given twice."));
    check(
        r#"{"path":"a","x":1}"#,
        Err("`x` is not known. The fields are: `path`, `count`, `items`."),
    );
    check(
        r#"{"path":"a","items":[{"status":"open"},{"status":"doing"}]}"#,
        Err("`items[1].status` must be one of \"open\", \"in_progress\", not \"doing\"."),
    );
    check(r#"{"path":"a","items":[{}]}"#, Err("`items[0].status` is missing."));
    let broken = parse::<Input>(r#"{"path":"a"#, &schema::<Input>(), &[]).unwrap_err();
    assert!(broken.starts_with("The arguments are not valid JSON: "), "{broken}");
}

#[test]
fn p_68_every_schema_stands_alone() {
    for definition in Registry::builtin().definitions() {
        let schema = definition.parameters.expect("every tool has a schema");
        let text = schema.to_string();
        for word in ["$ref", "$defs", "$schema", "\"null\"", "\"format\""] {
            assert!(!text.contains(word), "{}: {word} in {text}", definition.name);
        }
        assert_eq!(schema["type"], "object", "{}", definition.name);
        assert_eq!(schema["additionalProperties"], false, "{}", definition.name);
        assert!(!definition.description.contains("  "), "{}", definition.name);
    }
}

#[test]
fn a_schema_as_the_model_sees_it() {
    assert_eq!(
        schema::<Input>(),
        json!({
            "type": "object",
            "properties": {
                "path": { "description": "A path.", "type": "string" },
                "count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "status": { "type": "string", "enum": ["open", "in_progress"] } },
                        "required": ["status"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    );
}
