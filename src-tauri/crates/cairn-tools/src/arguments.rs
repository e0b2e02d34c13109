//! From a typed input to its schema, and from a model's JSON to the typed input.
//!
//! What is wrong is said with the field's name (P-69): the JSON is checked against the same schema that the model was given.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// Returns the schema of an input: an object without `$ref`, without unknown fields, without titles and number formats.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    value
}

fn tidy(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("type").is_some_and(|kind| !kind.is_object()) {
                object.remove("title");
                object.remove("format");
                if object.get("default").is_some_and(Value::is_null) {
                    object.remove("default");
                }
            }
            if let Some(Value::Array(kinds)) = object.get("type") {
                let kept: Vec<Value> =
                    kinds.iter().filter(|kind| *kind != "null").cloned().collect();
                if let [kind] = kept.as_slice() {
                    object.insert("type".to_owned(), kind.clone());
                }
            }
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Reads a model's arguments. `aliases` are other names of fields. An error is a text for the model.
pub(crate) fn parse<T: DeserializeOwned>(
    arguments: &str,
    schema: &Value,
    aliases: &[(&str, &str)],
) -> Result<T, String> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("The arguments are not valid JSON: {error}."))?;
    let Value::Object(given) = value else {
        return Err(format!("The arguments must be a JSON object, not {}.", kind_of(&value)));
    };
    let mut object = Map::new();
    for (key, field) in given {
        let name = aliases
            .iter()
            .find(|(alias, _)| *alias == key)
            .map_or(key.as_str(), |(_, name)| name)
            .to_owned();
        if field.is_null() {
            continue;
        }
        if object.insert(name.clone(), field).is_some() {
            return Err(format!("`{name}` is given twice."));
        }
    }
    let value = Value::Object(object);
    check(&value, schema, "")?;
    serde_json::from_value(value).map_err(|error| format!("The arguments don't fit: {error}."))
}

/// Checks a value against the parts of JSON Schema that our own schemas use.
fn check(value: &Value, schema: &Value, at: &str) -> Result<(), String> {
    let shown = if at.is_empty() { "the arguments".to_owned() } else { format!("`{at}`") };
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !is_of(value, kind)
    {
        return Err(format!("{shown} must be {}, not {}.", article(kind), kind_of(value)));
    }
    let choices = choices(schema);
    if !choices.is_empty() && !choices.contains(&value) {
        let names: Vec<String> = choices.iter().map(ToString::to_string).collect();
        return Err(format!("{shown} must be one of {}, not {value}.", names.join(", ")));
    }
    if let (Some(number), Some(least)) =
        (value.as_f64(), schema.get("minimum").and_then(Value::as_f64))
        && number < least
    {
        return Err(format!("{shown} must be at least {least}, not {value}."));
    }
    if let (Some(number), Some(most)) =
        (value.as_f64(), schema.get("maximum").and_then(Value::as_f64))
        && number > most
    {
        return Err(format!("{shown} must be at most {most}, not {value}."));
    }
    match value {
        Value::Object(object) => check_object(object, schema, at),
        Value::Array(items) => {
            let Some(inner) = schema.get("items") else { return Ok(()) };
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check(item, inner, &format!("{at}[{index}]")))
        }
        _ => Ok(()),
    }
}

fn check_object(object: &Map<String, Value>, schema: &Value, at: &str) -> Result<(), String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    for name in required {
        if !object.contains_key(name) {
            return Err(format!("`{}` is missing.", path(name)));
        }
    }
    for (name, field) in object {
        let Some(inner) = properties.get(name) else {
            let known: Vec<String> = properties.keys().map(|name| format!("`{name}`")).collect();
            return Err(format!(
                "`{}` is not known. The fields are: {}.",
                path(name),
                known.join(", ")
            ));
        };
        check(field, inner, &path(name))?;
    }
    Ok(())
}

/// Returns the values that an `enum`, or a `oneOf` of constants, allows.
fn choices(schema: &Value) -> Vec<&Value> {
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().filter(|value| !value.is_null()).collect();
    }
    match schema.get("oneOf") {
        Some(Value::Array(variants)) => variants
            .iter()
            .flat_map(|variant| {
                let one = variant.get("const").into_iter();
                one.chain(variant.get("enum").and_then(Value::as_array).into_iter().flatten())
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "object" | "array" | "integer" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}
