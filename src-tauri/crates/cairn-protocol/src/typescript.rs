//! Writes the TypeScript form of the protocol, so that the window and the shell can't disagree.
//!
//! It only makes text. Who calls it: `tests/contract`, which holds `ui/src/protocol` against it and
//! rewrites that file on `UPDATE_PROTOCOL=1 cargo test -p cairn-tests --test contract`.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use ts_rs::{Config, TS, TypeVisitor};

use crate::*;

const HEADER: &str = "/**
 * Every value that crosses between the window and the shell.
 *
 * Generated from the Rust crate `cairn-protocol`; never edited. To rewrite it:
 * `UPDATE_PROTOCOL=1 cargo test -p cairn-tests --test contract`.
 * A message or event of a newer version may carry a `type` that is not listed: ignore it.
 */
";

/// Returns the files of `ui/src/protocol` by name: at present one, `index.ts`, with every type that
/// a command, an event or a stored line can contain, sorted by name.
pub fn files() -> BTreeMap<&'static str, String> {
    let mut collector = Collector {
        config: Config::new().with_large_int("number"),
        seen: HashSet::new(),
        declarations: BTreeMap::new(),
    };
    collector.visit_roots();
    let mut text = HEADER.to_owned();
    for declaration in collector.declarations.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    BTreeMap::from([("index.ts", text)])
}

struct Collector {
    config: Config,
    seen: HashSet<TypeId>,
    declarations: BTreeMap<String, String>,
}

impl TypeVisitor for Collector {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        if T::output_path().is_some() {
            let docs = T::docs().map(|docs| format!("{}\n", docs.trim_end())).unwrap_or_default();
            let declaration = tidy(&T::decl(&self.config));
            let name = T::ident(&self.config);
            self.declarations.insert(name, format!("{docs}export {declaration}\n"));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// Puts one-line comments on one line and indents what is inside the declaration.
fn tidy(declaration: &str) -> String {
    let lines: Vec<&str> = declaration.lines().map(str::trim).collect();
    let mut text = lines[0].to_owned();
    let mut rest = &lines[1..];
    while let Some((line, after)) = rest.split_first() {
        text.push_str("\n  ");
        if let ["/**", only, "*/", ..] = rest {
            text.push_str(&format!("/** {} */", only.trim_start_matches("* ")));
            rest = &rest[3..];
        } else {
            text.push_str(line);
            rest = after;
        }
    }
    text
}

macro_rules! roots {
    ($($name:ident),* $(,)?) => {
        impl Collector {
            fn visit_roots(&mut self) {
                $(self.visit::<$name>();)*
            }
        }
    };
}

// What commands take and answer, and what streams; the rest is reached from these.
roots!(
    AppEvent,
    AppState,
    SubscriptionParams,
    SettingsSaveParams,
    ApprovalAnswerResult,
    ProviderDraftParams,
    ApprovalAnswerParams,
    ChangesBringBackParams,
    ChangesDiffParams,
    ChangesListParams,
    ChangesPlanParams,
    ChangesRestoreParams,
    ConnectionTest,
    Decision,
    ErrorInfo,
    FeedItem,
    FileDiff,
    HistoryPage,
    OpenLinkParams,
    ProviderDraft,
    ProviderParams,
    RestorePlan,
    RestoreRecord,
    RestoreReport,
    RestoreRequest,
    Rule,
    SessionAnswerParams,
    SessionCreateParams,
    SessionHistoryParams,
    SessionParams,
    SessionRenameParams,
    SessionSetModeParams,
    SessionSetModelParams,
    SessionStartTurnParams,
    SessionStopCommandParams,
    SessionUnqueueParams,
    SessionView,
    Settings,
    StoredMessage,
    TerminalAckParams,
    TerminalOpenParams,
    TerminalParams,
    TerminalResizeParams,
    TerminalSummary,
    TerminalWriteParams,
    ThinkingLevel,
    TurnChanges,
    WorkspaceParams,
    WorkspaceSummary,
);

#[cfg(test)]
mod tests;
