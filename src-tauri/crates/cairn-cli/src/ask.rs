//! Asks the person at the terminal. Enter alone is no (P-237).

use std::io::{BufRead, IsTerminal};

use cairn_protocol::{ApprovalAnswer, ApprovalRequest};

use crate::print;

/// Whether there is a person to ask.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows the whole call and waits for `y` or `n`; anything else is the reason of a denial.
pub(crate) async fn ask(request: &ApprovalRequest) -> ApprovalAnswer {
    print::note(&format!("\n{}", print::safe(&request.effects.title)));
    if let Some(command) = &request.effects.command {
        print::note(&format!(
            "  in {}\n  $ {}",
            cairn_engine::visible(&command.cwd.real),
            print::safe(&command.command)
        ));
    }
    for write in &request.effects.writes {
        print::note(&format!(
            "  {} +{} -{}",
            cairn_engine::visible(&write.path.real),
            write.added,
            write.removed
        ));
        if let Some(diff) = &write.diff {
            print::note(&print::safe(diff));
        }
    }
    let confined = if request.sandbox.is_confined() { "confined" } else { "NOT CONFINED" };
    print::note(&format!("  {} ({confined})", print::safe(&request.reason)));
    print::note("Allow once? [y/N, or a reason for the model]");
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    })
    .await;
    match line {
        Ok(Ok(line)) => match line.trim() {
            "y" | "Y" | "yes" => ApprovalAnswer::AllowOnce,
            "" | "n" | "N" | "no" => ApprovalAnswer::Deny { reason: String::new() },
            reason => ApprovalAnswer::Deny { reason: reason.to_owned() },
        },
        Ok(Err(_)) | Err(_) => ApprovalAnswer::Deny { reason: String::new() },
    }
}
