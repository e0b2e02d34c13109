//! `todo_write`: replaces the session's task list (Z-42).

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, TodoItem, TodoStatus, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool, ToolContext, arguments};

#[cfg(test)]
mod tests;

const ITEM_LIMIT: usize = 50;

/// A task is one line on the panel.
const TEXT_LIMIT_CHARS: usize = 500;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The whole list, in order; it replaces the one before. At most 50.
    items: Vec<Item>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// Names the task within the list. Numbered when left out.
    id: Option<String>,
    /// What is to do, in one line.
    text: String,
    /// How far it is. At most one task is in progress.
    status: Status,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
}

/// The tool.
pub(super) struct TodoWrite {
    spec: Spec,
}

impl TodoWrite {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "todo_write",
            aliases: &[],
            description: "Replaces the task list that the user sees. Use it for work of several steps, and keep it up to date.",
            class: ToolClass::State,
            parameters: arguments::schema::<Input>(),
            timeout: Some(Duration::from_secs(30)),
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for TodoWrite {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, _: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("todos", "items")])?;
        let items = checked(input.items)?;
        let effects = CallEffects {
            class: ToolClass::State,
            title: format!("Update the task list ({} tasks)", items.len()),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Serial,
            timeout: self.spec.timeout,
            action: Box::new(SetTodos { items }),
        })
    }
}

fn checked(given: Vec<Item>) -> Result<Vec<TodoItem>, String> {
    if given.len() > ITEM_LIMIT {
        return Err(format!(
            "`items` has {} tasks; at most {ITEM_LIMIT} are allowed.",
            given.len()
        ));
    }
    let mut ids = HashSet::new();
    let mut items = Vec::with_capacity(given.len());
    for (index, item) in given.into_iter().enumerate() {
        let text = item.text.trim().to_owned();
        if text.is_empty() {
            return Err(format!("`items[{index}].text` is empty."));
        }
        if text.chars().count() > TEXT_LIMIT_CHARS {
            return Err(format!(
                "`items[{index}].text` is longer than {TEXT_LIMIT_CHARS} characters."
            ));
        }
        let id = item.id.unwrap_or_else(|| (index + 1).to_string());
        if !ids.insert(id.clone()) {
            return Err(format!("`items[{index}].id` is used twice: {id}."));
        }
        let status = match item.status {
            Status::Pending => TodoStatus::Pending,
            Status::InProgress => TodoStatus::InProgress,
            Status::Done => TodoStatus::Done,
        };
        items.push(TodoItem { id, text, status });
    }
    let running = items.iter().filter(|item| item.status == TodoStatus::InProgress).count();
    if running > 1 {
        return Err(format!("{running} tasks are in_progress; at most one may be."));
    }
    Ok(items)
}

struct SetTodos {
    items: Vec<TodoItem>,
}

#[async_trait]
impl Action for SetTodos {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let total = self.items.len();
        let finished = self.items.iter().filter(|item| item.status == TodoStatus::Done).count();
        run.port.set_todos(self.items).await;
        Done::completed(
            format!("The task list has {total} tasks, {finished} done."),
            format!("{finished} of {total} done"),
        )
    }
}
