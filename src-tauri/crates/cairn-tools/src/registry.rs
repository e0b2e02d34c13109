//! The tools by name, and a call from its arguments to its output.
//!
//! What a name or an argument is wrong about is said in words that the model can act on (P-69); nothing runs then.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_protocol::{
    CallEffects, CallGrant, Role, StopReason, ToolCall, ToolCallId, ToolCallOutput, ToolClass,
    ToolDefinition, ToolDetails,
};
use tokio_util::sync::CancellationToken;

use crate::close_out::{self, Limits};
use crate::{Action, Ordering, OutputSink, SessionPort, Spec, Tool, ToolContext, builtin};

#[cfg(test)]
mod tests;

/// The longest arguments that are looked at. A file that is longer can't be written in one call.
const ARGUMENTS_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// The tools that a session offers.
pub struct Registry {
    tools: Vec<Box<dyn Tool>>,
}

impl Registry {
    /// Returns the built-in tools.
    pub fn builtin() -> Self {
        Self { tools: builtin::all() }
    }

    /// Adds a tool; one of the same name is replaced (Z-28).
    pub fn add(&mut self, tool: Box<dyn Tool>) {
        self.tools.retain(|other| other.spec().name != tool.spec().name);
        self.tools.push(tool);
    }

    /// Returns the tools as the model is offered them, in a fixed order.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let definition = |spec: &Spec| ToolDefinition {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            parameters: Some(spec.parameters.clone()),
        };
        self.tools.iter().map(|tool| definition(tool.spec())).collect()
    }

    /// Returns the names, in the same order.
    pub fn names(&self) -> Vec<&'static str> {
        self.tools.iter().map(|tool| tool.spec().name).collect()
    }

    /// Returns the most that a tool may do.
    pub fn class(&self, name: &str) -> Option<ToolClass> {
        self.find(name).map(|tool| tool.spec().class)
    }

    /// Checks a call and plans it, without side effects; blocking. An error is a text for the model.
    pub fn prepare(&self, call: &ToolCall, ctx: &ToolContext) -> Result<PreparedCall, String> {
        let Some(tool) = self.find(&call.name) else {
            let shown: String = call.name.chars().take(80).collect();
            return Err(format!(
                "There is no tool named `{shown}`. The tools are: {}.",
                self.names().join(", ")
            ));
        };
        if call.stop_reason.is_some_and(|reason| reason != StopReason::Completed) {
            return Err(
                "The call did not arrive whole, so it was not run. Send it again.".to_owned()
            );
        }
        if call.arguments.len() > ARGUMENTS_LIMIT_BYTES {
            return Err("The arguments are longer than 8 MiB. Do it in smaller parts.".to_owned());
        }
        let spec = tool.spec();
        let plan = tool.prepare(&call.arguments, ctx)?;
        let limits = Limits {
            timeout: plan.timeout,
            max_output_chars: spec.max_output_chars,
            cut: spec.cut,
        };
        Ok(PreparedCall {
            effects: plan.effects,
            tool: spec.name,
            call: call.tool_call_id.clone(),
            ordering: plan.ordering,
            limits,
            action: plan.action,
        })
    }

    fn find(&self, name: &str) -> Option<&dyn Tool> {
        let mut tools = self.tools.iter().map(AsRef::as_ref);
        tools.find(|tool| tool.spec().name == name || tool.spec().aliases.contains(&name))
    }
}

/// A call that was checked and planned, and waits for a decision.
pub struct PreparedCall {
    /// What it will do.
    pub effects: CallEffects,
    /// The tool's own name, also when the call used another.
    pub tool: &'static str,
    call: ToolCallId,
    ordering: Ordering,
    limits: Limits,
    action: Box<dyn Action>,
}

impl std::fmt::Debug for PreparedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedCall")
            .field("tool", &self.tool)
            .field("effects", &self.effects)
            .finish_non_exhaustive()
    }
}

impl PreparedCall {
    /// Returns what may run beside the call.
    pub fn ordering(&self) -> Ordering {
        self.ordering.clone()
    }

    /// Returns the files that the call writes.
    pub fn written_paths(&self) -> Vec<PathBuf> {
        self.effects.writes.iter().map(|write| PathBuf::from(&write.path.real)).collect()
    }

    /// Runs the call. It never fails: timeout, stop, error and panic all become an output (P-70 … P-72). Live text goes to
    /// `output`; a receiver that is slow gets larger pieces, and one that is gone does not stop the call.
    pub async fn run(
        self,
        grant: CallGrant,
        ctx: &ToolContext,
        port: Arc<dyn SessionPort>,
        output: OutputSink,
        cancel: CancellationToken,
    ) -> ToolCallOutput {
        let call = close_out::Call {
            tool: self.tool,
            id: self.call,
            limits: self.limits,
            grant,
            action: self.action,
        };
        call.run(ctx, port.as_ref(), output, cancel).await
    }
}

/// Returns the output of a call that did not run: it could not be prepared, or was not allowed.
pub fn refusal(call: &ToolCallId, text: impl Into<String>) -> ToolCallOutput {
    ToolCallOutput {
        role: Role::User,
        output: text.into(),
        images: Vec::new(),
        tool_call_id: call.clone(),
        stop_reason: Some(StopReason::Failed),
        details: Some(ToolDetails::default()),
    }
}
