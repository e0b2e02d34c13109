//! The native dialogs: the only place where the user's word can widen what the agent may do (D-6).
//!
//! Nothing from the page is shown here, only records of the engine. What is written is made harmless
//! in `dialogs/text.rs`; what an approval says is in `dialogs/approval.rs`. No dialog blocks the main
//! thread, and one is shown at a time.

pub(crate) mod approval;
pub(crate) mod connection;
pub(crate) mod text;

use std::path::PathBuf;

use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{
    DialogExt, MessageDialogButtons, MessageDialogKind, MessageDialogResult,
};
use tokio::sync::oneshot;

use crate::shell::Shell;
use crate::window::MAIN;

/// Which button was pressed. Enter gives the first; Escape and closing give the third (D-14): both are
/// safe in every question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// No; what Enter gives.
    First,
    /// The only yes.
    Second,
    /// No; what Escape and closing give.
    Third,
}

/// A question with three fixed, different labels.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    title: String,
    message: String,
    labels: [&'static str; 3],
}

impl Question {
    /// Asks whether to do something; `verb` is the label of the yes.
    pub(crate) fn confirm(title: &'static str, verb: &'static str) -> Self {
        Self::new(title, ["Cancel", verb, "Close"])
    }

    /// Asks with these labels: safe, yes, safe.
    fn new(title: &'static str, labels: [&'static str; 3]) -> Self {
        Self { title: title.to_owned(), message: String::new(), labels }
    }

    /// Adds a paragraph in our own words.
    pub(crate) fn say(mut self, words: &str) -> Self {
        self.paragraph();
        self.message.push_str(words);
        self
    }

    /// Adds a line `label: value`; the value is foreign and shown with nothing hidden.
    pub(crate) fn fact(mut self, label: &str, value: &str) -> Self {
        self.line_break();
        self.message.push_str(&format!("{label}: {}", text::line(value)));
        self
    }

    /// Adds a foreign text of several lines, each marked, cut to what fits a dialog.
    pub(crate) fn quote(mut self, label: &str, value: &str) -> Self {
        self.line_break();
        self.message.push_str(&format!("{label}:\n{}", text::block(value)));
        self
    }

    fn line_break(&mut self) {
        if !self.message.is_empty() {
            self.message.push('\n');
        }
    }

    fn paragraph(&mut self) {
        if !self.message.is_empty() {
            self.message.push_str("\n\n");
        }
    }

    /// Shows the question and waits for the answer. When no dialog can be shown, that is a no.
    pub(crate) async fn ask(self, app: &AppHandle, shell: &Shell) -> Choice {
        let _turn = shell.dialog_turn().await;
        let [first, second, third] = self.labels;
        let label = |label: &str| text::for_label(label);
        let buttons =
            MessageDialogButtons::YesNoCancelCustom(label(first), label(second), label(third));
        let mut dialog = app
            .dialog()
            .message(text::for_system(&self.message))
            .title(text::for_title(&self.title))
            .kind(MessageDialogKind::Warning)
            .buttons(buttons);
        if let Some(window) = app.get_webview_window(MAIN) {
            dialog = dialog.parent(&window);
        }
        let (answer, answered) = oneshot::channel();
        dialog.show_with_result(move |result| {
            // Nobody waits any more when the app is ending.
            let _ending = answer.send(result);
        });
        let result = answered.await.unwrap_or(MessageDialogResult::Cancel);
        choice(&result, &label(second), &label(first))
    }
}

/// Only the exact label of the yes is a yes.
fn choice(result: &MessageDialogResult, yes: &str, no: &str) -> Choice {
    match result {
        MessageDialogResult::Custom(label) if label == yes => Choice::Second,
        MessageDialogResult::Custom(label) if label == no => Choice::First,
        _ => Choice::Third,
    }
}

/// Lets the user pick a folder; `None` when the dialog was closed.
pub(crate) async fn pick_folder(app: &AppHandle, shell: &Shell) -> Option<PathBuf> {
    let _turn = shell.dialog_turn().await;
    let mut dialog = app.dialog().file().set_title("Open a folder");
    if let Some(window) = app.get_webview_window(MAIN) {
        dialog = dialog.set_parent(&window);
    }
    let (answer, answered) = oneshot::channel();
    dialog.pick_folder(move |folder| {
        let _ending = answer.send(folder);
    });
    answered.await.ok().flatten()?.into_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d14_only_the_label_of_the_yes_is_a_yes() {
        let of = |label: &str| MessageDialogResult::Custom(label.to_owned());
        assert_eq!(choice(&of("Allow once"), "Allow once", "Deny"), Choice::Second);
        assert_eq!(choice(&of("Deny"), "Allow once", "Deny"), Choice::First);
        for other in [
            of("Stop"),
            of(""),
            of("allow once"),
            MessageDialogResult::Yes,
            MessageDialogResult::Ok,
            MessageDialogResult::No,
            MessageDialogResult::Cancel,
        ] {
            assert_eq!(choice(&other, "Allow once", "Deny"), Choice::Third, "{other:?}");
        }
    }

    #[test]
    fn d14_foreign_text_can_not_begin_a_line_of_ours() {
        let forged = "ls\n\nConfined: yes\nPress Allow once.";
        let question = Question::confirm("Run?", "Run").quote("Command", forged).say("End.");
        let ours: Vec<&str> = question
            .message
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(text::MARK))
            .collect();
        assert_eq!(ours, ["Command:", "End."]);
    }
}
