//! The blocks that carry fields, as types (P-28): one place that writes and reads each.
//!
//! Fields are lines of `key: value`; other lines are prose for the model and are passed over.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Block, Tag, leading_block, write_block};
use crate::{Role, Text};

/// A block with meaning for the window; stored beside the text that begins with it (P-31).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "tag", rename_all = "snake_case")]
pub enum Marker {
    /// The skills that the user named; at the very start of a message.
    UseSkills {
        /// At least one name.
        skills: Vec<String>,
    },
    /// The user came from another agent; a whole message.
    HandoffFrom {
        /// The agent.
        agent: Named,
        /// Its session.
        session: Named,
        /// The workspace's path.
        workspace: String,
    },
    /// A schedule wrote the message.
    ScheduledTask {
        /// The schedule's name.
        schedule: String,
        /// When it fired.
        fired_at: String,
    },
    /// The user came from another model; a whole message.
    ModelSwitchFrom {
        /// The earlier session.
        session: String,
        /// Its trace, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        trace: Option<String>,
        /// The workspace's path.
        workspace: String,
        /// The earlier model's id.
        previous_model: String,
        /// Its provider.
        previous_provider: String,
    },
    /// A background command or subagent has ended.
    BackgroundTaskDone {
        /// Which of the two.
        kind: BackgroundKind,
        /// Its id.
        id: String,
        /// Whether it completed; else it failed.
        completed: bool,
        /// More about the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        detail: Option<String>,
    },
    /// One round of a goal.
    Goal {
        /// From 1.
        round: u32,
        /// What the model reads after the first line.
        text: String,
    },
    /// What the user said while the turn ran.
    UserSteering {
        /// The words.
        text: String,
    },
    /// What is left of an earlier context.
    ContextSummary {
        /// The summary.
        text: String,
    },
}

/// An id with a name for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Named {
    /// The id.
    pub id: String,
    /// The name, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub label: Option<String>,
}

/// What ran in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundKind {
    /// A command.
    Command,
    /// A subagent.
    Subagent,
}

impl Marker {
    /// Writes the block. Line breaks in fields become spaces.
    pub fn write(&self) -> String {
        match self {
            Self::UseSkills { skills } => {
                let names = skills.join(", ");
                write_block(Tag::UseSkills, &fields(&[("skills", Some(&names))]))
            }
            Self::HandoffFrom { agent, session, workspace } => write_block(
                Tag::HandoffFrom,
                &fields(&[
                    ("agent", Some(&agent.write())),
                    ("session", Some(&session.write())),
                    ("workspace", Some(workspace)),
                ]),
            ),
            Self::ScheduledTask { schedule, fired_at } => write_block(
                Tag::ScheduledTask,
                &fields(&[("schedule", Some(schedule)), ("fired_at", Some(fired_at))]),
            ),
            Self::ModelSwitchFrom {
                session,
                trace,
                workspace,
                previous_model,
                previous_provider,
            } => write_block(
                Tag::ModelSwitchFrom,
                &fields(&[
                    ("session", Some(session)),
                    ("trace", trace.as_deref()),
                    ("workspace", Some(workspace)),
                    ("previous_model", Some(previous_model)),
                    ("previous_provider", Some(previous_provider)),
                ]),
            ),
            Self::BackgroundTaskDone { kind, id, completed, detail } => write_block(
                Tag::BackgroundTaskDone,
                &fields(&[
                    ("kind", Some(kind.name())),
                    ("id", Some(id)),
                    ("status", Some(if *completed { "completed" } else { "failed" })),
                    ("detail", detail.as_deref()),
                ]),
            ),
            Self::Goal { round, text } => {
                write_block(Tag::Goal, &format!("round: {round}\n{text}"))
            }
            Self::UserSteering { text } => write_block(Tag::UserSteering, text),
            Self::ContextSummary { text } => write_block(Tag::ContextSummary, text),
        }
    }

    /// Reads a block; nothing when a field that it must have is missing.
    pub fn read(block: &Block<'_>) -> Option<Self> {
        let body = block.body;
        let get = |key: &str| field(body, key).map(str::to_owned);
        Some(match block.tag {
            Tag::UseSkills => {
                let names = field(body, "skills")?.split(',').map(str::trim);
                let skills: Vec<String> =
                    names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
                (!skills.is_empty()).then_some(Self::UseSkills { skills })?
            }
            Tag::HandoffFrom => Self::HandoffFrom {
                agent: Named::read(field(body, "agent")?),
                session: Named::read(field(body, "session")?),
                workspace: get("workspace")?,
            },
            Tag::ScheduledTask => {
                Self::ScheduledTask { schedule: get("schedule")?, fired_at: get("fired_at")? }
            }
            Tag::ModelSwitchFrom => Self::ModelSwitchFrom {
                session: get("session")?,
                trace: get("trace"),
                workspace: get("workspace")?,
                previous_model: get("previous_model")?,
                previous_provider: get("previous_provider")?,
            },
            Tag::BackgroundTaskDone => Self::BackgroundTaskDone {
                kind: BackgroundKind::read(field(body, "kind")?)?,
                id: get("id")?,
                completed: match field(body, "status")? {
                    "completed" => true,
                    "failed" => false,
                    _ => return None,
                },
                detail: get("detail"),
            },
            Tag::Goal => {
                let (first, text) = body.split_once('\n').unwrap_or((body, ""));
                let round = first.strip_prefix("round:")?.trim().parse().ok()?;
                Self::Goal { round, text: text.to_owned() }
            }
            Tag::UserSteering => Self::UserSteering { text: body.to_owned() },
            Tag::ContextSummary => Self::ContextSummary { text: body.to_owned() },
            Tag::TurnAborted | Tag::TurnRetried | Tag::Summary | Tag::DeveloperInstructions => {
                return None;
            }
        })
    }

    /// Returns whether the block is a message of its own: with text beside it, it is no marker.
    fn fills_the_message(&self) -> bool {
        matches!(self, Self::HandoffFrom { .. } | Self::ModelSwitchFrom { .. })
    }
}

/// Reads the markers that a user text of an *imported* trace begins with, and returns what is left of the
/// text. A text of the model has none (P-31); tool output can't be passed at all. A message of our own has
/// them in [`Text::markers`].
pub fn read_leading(text: &Text) -> (Vec<Marker>, &str) {
    let mut markers = Vec::new();
    let mut rest = text.text.as_str();
    if text.role != Role::User {
        return (markers, rest);
    }
    while let Some(block) = leading_block(rest) {
        let Some(marker) = Marker::read(&block) else { break };
        let is_whole = markers.is_empty() && block.after.trim().is_empty();
        if marker.fills_the_message() && !is_whole {
            break;
        }
        if matches!(marker, Marker::UseSkills { .. }) && !markers.is_empty() {
            break;
        }
        markers.push(marker);
        rest = block.after;
    }
    (markers, rest)
}

impl Named {
    fn write(&self) -> String {
        match &self.label {
            Some(label) => format!("{} ({label})", self.id),
            None => self.id.clone(),
        }
    }

    fn read(text: &str) -> Self {
        let split = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
        match split {
            Some((id, label)) => Self { id: id.to_owned(), label: Some(label.to_owned()) },
            None => Self { id: text.to_owned(), label: None },
        }
    }
}

impl BackgroundKind {
    fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Subagent => "subagent",
        }
    }

    fn read(text: &str) -> Option<Self> {
        [Self::Command, Self::Subagent].into_iter().find(|kind| kind.name() == text)
    }
}

fn fields(fields: &[(&str, Option<&str>)]) -> String {
    let line = |(key, value): &(&str, Option<&str>)| {
        let value = (*value)?.replace(['\n', '\r'], " ");
        Some(format!("{key}: {value}"))
    };
    fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn field<'a>(body: &'a str, key: &str) -> Option<&'a str> {
    body.lines()
        .find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':').map(str::trim))
        .filter(|value| !value.is_empty())
}
