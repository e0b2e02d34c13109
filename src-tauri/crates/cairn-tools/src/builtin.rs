//! The built-in tools, a file each.

use crate::Tool;

mod ask_user;
mod grep;
mod list_files;
mod read_file;
mod replace_in_file;
mod run_shell;
mod shell_task_kill;
mod shell_task_output;
mod task_logs;
mod todo_write;
mod write_file;

/// Returns the built-in tools in the order in which the model is offered them.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    let logs = std::sync::Arc::new(task_logs::TaskLogs::default());
    vec![
        Box::new(read_file::ReadFile::new()),
        Box::new(list_files::ListFiles::new()),
        Box::new(grep::Grep::new()),
        Box::new(replace_in_file::ReplaceInFile::new()),
        Box::new(write_file::WriteFile::new()),
        Box::new(run_shell::RunShell::new(logs.clone())),
        Box::new(shell_task_output::ShellTaskOutput::new(logs.clone())),
        Box::new(shell_task_kill::ShellTaskKill::new(logs)),
        Box::new(todo_write::TodoWrite::new()),
        Box::new(ask_user::AskUserTool::new()),
    ]
}
