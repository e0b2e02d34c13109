//! `ask_user`: a question to the user; the answer is the result (Z-39).

use async_trait::async_trait;
use cairn_protocol::{CallEffects, ToolClass};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Action, AskUser, Cut, Done, Ordering, Plan, Run, Spec, Tool, ToolContext, arguments};

#[cfg(test)]
mod tests;

const OPTION_LIMIT: usize = 20;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// What to ask.
    question: String,
    /// Answers to choose from. May be left out when text is allowed.
    options: Option<Vec<String>>,
    /// Whether the user may type an answer of their own. Default true.
    allow_text: Option<bool>,
    /// Whether several options may be chosen. Default false.
    multi: Option<bool>,
}

/// The tool.
pub(super) struct AskUserTool {
    spec: Spec,
}

impl AskUserTool {
    pub(super) fn new() -> Self {
        let spec = Spec {
            name: "ask_user",
            aliases: &[],
            description: "Asks the user a question and waits for the answer. Use it only when you can't go on without it.",
            class: ToolClass::Interactive,
            parameters: arguments::schema::<Input>(),
            timeout: None,
            max_output_chars: 16_000,
            cut: Cut::Head,
        };
        Self { spec }
    }
}

impl Tool for AskUserTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: &str, _: &ToolContext) -> Result<Plan, String> {
        let input: Input =
            arguments::parse(arguments, &self.spec.parameters, &[("allowText", "allow_text")])?;
        if input.question.trim().is_empty() {
            return Err("`question` is empty.".to_owned());
        }
        let options = input.options.unwrap_or_default();
        if options.len() > OPTION_LIMIT {
            return Err(format!(
                "`options` has {} entries; at most {OPTION_LIMIT} are allowed.",
                options.len()
            ));
        }
        if let Some(index) = options.iter().position(|option| option.trim().is_empty()) {
            return Err(format!("`options[{index}]` is empty."));
        }
        let allow_text = input.allow_text.unwrap_or(true);
        if options.is_empty() && !allow_text {
            return Err("`options` is empty and `allow_text` is false: the user could not answer."
                .to_owned());
        }
        let question = AskUser {
            question: input.question,
            options,
            allow_text,
            multi: input.multi.unwrap_or_default(),
        };
        let effects = CallEffects {
            class: ToolClass::Interactive,
            title: "Ask you a question".to_owned(),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        };
        Ok(Plan {
            effects,
            ordering: Ordering::Serial,
            timeout: None,
            action: Box::new(Ask { question }),
        })
    }
}

struct Ask {
    question: AskUser,
}

#[async_trait]
impl Action for Ask {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let answer = tokio::select! {
            biased;
            () = run.stop.cancelled() => return Done::default(),
            answer = run.port.ask(run.call, self.question) => answer,
        };
        match answer {
            Some(answers) if !answers.is_empty() => Done::completed(answers.join("\n"), "answered"),
            Some(_) | None => Done::completed("The user declined to answer.", "declined"),
        }
    }
}
