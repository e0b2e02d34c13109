//! A difference as a unified patch.

use cairn_protocol::{ChangeKind, DiffContent, FileDiff, LineKind};

/// Returns the patch text of one path; the content of binary files is only named.
pub(crate) fn unified(diff: &FileDiff) -> String {
    let path = cairn_engine::visible(&diff.path);
    let old =
        if diff.kind == ChangeKind::Created { "/dev/null".to_owned() } else { format!("a/{path}") };
    let new =
        if diff.kind == ChangeKind::Deleted { "/dev/null".to_owned() } else { format!("b/{path}") };
    let mut text = String::new();
    if diff.old_mode != diff.new_mode
        && let (Some(old), Some(new)) = (&diff.old_mode, &diff.new_mode)
    {
        text.push_str(&format!("old mode {old}\nnew mode {new}\n"));
    }
    let hunks = match &diff.content {
        DiffContent::Text { hunks, .. } => hunks,
        DiffContent::Binary { reason } | DiffContent::Missing { reason } => {
            return format!("{text}{old} {new}: {reason}\n");
        }
    };
    if hunks.is_empty() {
        return format!("{text}--- {old}\n+++ {new}\n");
    }
    text.push_str(&format!("--- {old}\n+++ {new}\n"));
    for hunk in hunks {
        let on = |kind: LineKind| hunk.lines.iter().filter(|line| line.kind != kind).count();
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@ {}\n",
            hunk.old_start,
            on(LineKind::Added),
            hunk.new_start,
            on(LineKind::Removed),
            hunk.heading
        ));
        for line in &hunk.lines {
            text.push(match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            });
            for run in &line.runs {
                text.push_str(&run.text);
            }
            text.push('\n');
            if line.no_newline {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    text
}
