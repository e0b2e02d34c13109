//! The page as a user meets it: things are found by what they are and what they are called.

use serde_json::{Value, json};

use super::driver::Driver;
use super::wait_for;

/// The key under which WebDriver wraps an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Finds elements that match a selector, are drawn, and whose accessible name holds a text.
const FIND: &str = "
const [selector, name] = arguments;
const plain = (text) => (text ?? '').replace(/\\s+/g, ' ').trim();
const nameOf = (it) => plain(
  it.getAttribute('aria-label') ||
  (it.labels && [...it.labels].map((label) => label.textContent).join(' ')) ||
  it.textContent || it.getAttribute('placeholder') || it.title);
return [...document.querySelectorAll(selector)].filter((it) =>
  it.getClientRects().length > 0 && nameOf(it).includes(name));
";

/// The page of the app.
pub struct Page<'a> {
    driver: &'a Driver,
}

/// Something on the page.
pub struct Element<'a> {
    driver: &'a Driver,
    id: String,
}

impl<'a> Page<'a> {
    pub(super) fn new(driver: &'a Driver) -> Self {
        Self { driver }
    }

    /// Runs a script and returns what it returns.
    #[track_caller]
    pub fn run(&self, script: &str, arguments: Value) -> Value {
        self.try_run(script, arguments).unwrap_or_else(|error| panic!("the script failed: {error}"))
    }

    fn try_run(&self, script: &str, arguments: Value) -> Result<Value, String> {
        self.driver.post("execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// Returns all that is written on the page.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.run("return document.body.innerText", json!([]));
        text.as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn text_if_any(&self) -> String {
        match self.try_run("return document.body.innerText", json!([])) {
            Ok(text) => text.as_str().unwrap_or_default().to_owned(),
            Err(error) => format!("({error})"),
        }
    }

    /// Waits until a text is on the page.
    #[track_caller]
    pub fn wait_for_text(&self, wanted: &str) {
        wait_for(&format!("the text {wanted:?}"), || self.text().contains(wanted).then_some(()));
    }

    /// Waits until a text is not on the page any more.
    #[track_caller]
    pub fn wait_without_text(&self, gone: &str) {
        wait_for(&format!("no text {gone:?}"), || (!self.text().contains(gone)).then_some(()));
    }

    /// Waits for an element that matches a selector and whose name holds a text; the first of several.
    #[track_caller]
    pub fn find(&self, selector: &str, name: &str) -> Element<'a> {
        wait_for(&format!("{selector} {name:?}"), || self.all(selector, name).into_iter().next())
    }

    /// Returns what matches now.
    #[track_caller]
    pub fn all(&self, selector: &str, name: &str) -> Vec<Element<'a>> {
        let found = self.run(FIND, json!([selector, name]));
        let ids = found.as_array().expect("a list").iter();
        ids.filter_map(|it| it[ELEMENT].as_str())
            .map(|id| Element { driver: self.driver, id: id.to_owned() })
            .collect()
    }

    /// Waits for a button of this name that can be pressed, and presses it.
    #[track_caller]
    pub fn press(&self, name: &str) {
        self.press_in("button, [role=button], [role=menuitem], [role=menuitemradio]", name);
    }

    /// Presses what matches a selector, has this name and is not disabled.
    #[track_caller]
    pub fn press_in(&self, selector: &str, name: &str) {
        wait_for(&format!("a press on {selector} {name:?}"), || {
            let found = self.all(selector, name);
            let ready = found.into_iter().find(Element::is_enabled)?;
            // It may be drawn anew between the look and the press: then look again.
            ready.try_click().ok()
        });
    }

    /// Puts a text into a field, in place of what is in it.
    #[track_caller]
    pub fn fill(&self, field: &str, text: &str) {
        let element = self.find("input, textarea", field);
        element.clear();
        element.keys(text);
    }

    /// Sends keys to what has the focus. Named keys are their WebDriver code points.
    #[track_caller]
    pub fn keys(&self, keys: &str) {
        let mut actions = Vec::new();
        for key in keys.chars() {
            actions.push(json!({"type": "keyDown", "value": key.to_string()}));
            actions.push(json!({"type": "keyUp", "value": key.to_string()}));
        }
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.driver.post("actions", &body).unwrap_or_else(|error| panic!("no keys: {error}"));
    }
}

impl Element<'_> {
    /// Presses it.
    #[track_caller]
    pub fn click(&self) {
        self.try_click().unwrap_or_else(|error| panic!("no press: {error}"));
    }

    fn try_click(&self) -> Result<(), String> {
        self.driver.post(&format!("element/{}/click", self.id), &json!({})).map(drop)
    }

    fn clear(&self) {
        self.driver
            .post(&format!("element/{}/clear", self.id), &json!({}))
            .unwrap_or_else(|error| panic!("not a field: {error}"));
    }

    /// Types into it.
    #[track_caller]
    pub fn keys(&self, text: &str) {
        self.driver
            .post(&format!("element/{}/value", self.id), &json!({"text": text}))
            .unwrap_or_else(|error| panic!("nothing typed: {error}"));
    }

    /// Returns what is written in it.
    #[track_caller]
    pub fn text(&self) -> String {
        let script = "return arguments[0].innerText";
        let body = json!({"script": script, "args": [{ELEMENT: self.id}]});
        let text = self.driver.post("execute/sync", &body).unwrap_or_default();
        text.as_str().unwrap_or_default().to_owned()
    }

    fn is_enabled(&self) -> bool {
        let script = "return !arguments[0].disabled && arguments[0].ariaDisabled !== 'true'";
        let body = json!({"script": script, "args": [{ELEMENT: self.id}]});
        self.driver.post("execute/sync", &body).is_ok_and(|value| value == Value::Bool(true))
    }
}
