use std::os::unix::fs::{PermissionsExt, symlink};

use cairn_protocol::{ChangeKind, FileEdit, StopReason};
use serde_json::json;

use crate::testing::{Bench, as_ordinary_user};

#[tokio::test]
async fn p_80_a_new_file_with_its_folders() {
    let bench = Bench::new();
    let arguments = json!({ "file_path": "a b/c'd/e\nf.txt", "content": "one\ntwo" });
    let prepared = bench.prepare("write_file", arguments).unwrap();
    let write = &prepared.effects.writes[0];
    assert_eq!((write.kind, write.before_sha256.as_deref()), (ChangeKind::Created, None));
    assert!(write.diff.as_ref().unwrap().starts_with("--- /dev/null\n+++ b/a b/c'd/e\\nf.txt\n@@"));
    assert!(!bench.path("a b").exists());
    let output = bench.run(prepared).await;
    assert_eq!(output.output, "Created `a b/c'd/e\nf.txt` (2 lines, 7 bytes).");
    assert_eq!(bench.get("a b/c'd/e\nf.txt"), "one\ntwo");
    let edit = FileEdit {
        path: "a b/c'd/e\nf.txt".to_owned(),
        kind: ChangeKind::Created,
        added: 2,
        removed: 0,
    };
    assert_eq!(output.details.unwrap().edits, [edit]);
    let real = bench.path("a b/c'd/e\nf.txt");
    let hooks = [format!("before {}", real.display()), format!("after {}", real.display())];
    assert_eq!(*bench.port.edits.lock().unwrap(), hooks);
}

#[tokio::test]
async fn p_80_overwriting_shows_a_diff_or_two_numbers() {
    let bench = Bench::new();
    let write = |content: String| json!({ "file_path": "a", "content": content });
    bench.call("write_file", write("one\ntwo\n".to_owned())).await;
    // The model's own write counts as read.
    let text = bench.text("write_file", write("one\n2\n".to_owned())).await;
    assert_eq!(text, "Overwrote `a` (2 lines, 6 bytes).\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    let text = bench.text("write_file", write("x\n".repeat(100))).await;
    assert_eq!(text, "Overwrote `a` (100 lines, 200 bytes). +100/-2 lines.");
    let text = bench.text("write_file", write("x\n".repeat(100))).await;
    assert!(text.ends_with("\nThe content is the same as before."), "{text}");
    let text = bench.text("write_file", write(String::new())).await;
    assert!(text.starts_with("Overwrote `a` (0 lines, 0 bytes)."), "{text}");
}

#[tokio::test]
async fn z_31_an_unread_file_is_not_overwritten() {
    let bench = Bench::new();
    bench.put("a", "theirs");
    let text = bench.refused("write_file", json!({ "file_path": "a", "content": "x" }));
    assert!(text.ends_with("then make the change. Or set overwrite to true."), "{text}");
    let output = bench
        .call("write_file", json!({ "file_path": "a", "content": "x", "overwrite": true }))
        .await;
    assert_eq!(output.stop_reason, Some(StopReason::Completed));
    bench.put("a", "changed by the user");
    // Not even `overwrite` covers what changed after the model saw it.
    let text =
        bench.refused("write_file", json!({ "file_path": "a", "content": "y", "overwrite": true }));
    assert!(text.contains("was changed by someone else since you read it"), "{text}");
    assert_eq!(bench.get("a"), "changed by the user");
}

#[tokio::test]
async fn what_is_approved_is_what_runs() {
    let bench = Bench::new();
    let prepared =
        bench.prepare("write_file", json!({ "file_path": "new", "content": "x" })).unwrap();
    bench.put("new", "the user was faster");
    let output = bench.run(prepared).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    assert!(
        output.output.contains("was changed since this change was prepared"),
        "{}",
        output.output
    );
    assert_eq!(bench.get("new"), "the user was faster");
    assert_eq!(output.details.unwrap().edits, []);
}

#[tokio::test]
async fn p06_a_link_that_appears_after_the_approval_is_not_followed() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("folder")).unwrap();
    let prepared =
        bench.prepare("write_file", json!({ "file_path": "folder/x", "content": "x" })).unwrap();
    std::fs::remove_dir(bench.path("folder")).unwrap();
    symlink(&bench.outside, bench.path("folder")).unwrap();
    let output = bench.run(prepared).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    assert!(output.output.contains("leads somewhere else"), "{}", output.output);
    assert_eq!(std::fs::read_dir(&bench.outside).unwrap().count(), 0);
}

#[test]
fn path_012_a_workspace_that_became_a_link_is_outside() {
    let bench = Bench::new();
    let moved = bench.ctx.workspace.with_extension("moved");
    std::fs::rename(&bench.ctx.workspace, moved).unwrap();
    symlink(&bench.outside, &bench.ctx.workspace).unwrap();
    let prepared =
        bench.prepare("write_file", json!({ "file_path": "a", "content": "x" })).unwrap();
    assert_eq!(prepared.effects.writes[0].path.relative, None);
}

#[tokio::test]
async fn without_a_safe_copy_nothing_is_written() {
    let bench = Bench::new();
    *bench.port.refuse_edits.lock().unwrap() = Some("disk full".to_owned());
    let text = bench.text("write_file", json!({ "file_path": "a", "content": "x" })).await;
    assert_eq!(
        text,
        "Nothing was written, because the old content could not be kept safe: disk full"
    );
    assert!(!bench.path("a").exists());
}

/// Root may write everywhere, so this runs as an ordinary user.
#[test]
fn a_read_only_folder_is_said_so() {
    as_ordinary_user("builtin::write_file::tests::a_read_only_folder_is_said_so", || {
        let bench = Bench::new();
        bench.put("locked/old", "x");
        bench.put("mine", "x");
        let lock = |name, mode| {
            std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(mode))
                .unwrap()
        };
        lock("locked", 0o555);
        lock("mine", 0o444);
        let refused = |name| {
            bench.refused(
                "write_file",
                json!({ "file_path": name, "content": "", "overwrite": true }),
            )
        };
        assert!(
            refused("locked/a").starts_with("`locked/a` can't be written: permission denied (")
        );
        assert!(
            refused("locked/old").starts_with("`locked/old` can't be written: permission denied (")
        );
        assert!(
            refused("locked/new/a")
                .starts_with("`locked/new/a` can't be written: permission denied (")
        );
        // A file that is marked read-only is not replaced behind that mark.
        assert!(refused("mine").starts_with("`mine` can't be written: permission denied ("));
        lock("mine", 0o000);
        assert_eq!(refused("mine"), "`mine` can't be read: permission denied.");
        lock("locked", 0o755);
    });
}

#[test]
fn what_can_not_work_is_refused_before_anyone_is_asked() {
    let bench = Bench::new();
    bench.put("file", "x");
    let refused =
        |path: &str| bench.refused("write_file", json!({ "file_path": path, "content": "" }));
    assert_eq!(refused("."), "`.` is a folder.");
    assert_eq!(refused("new/"), "`new/` names a folder, not a file.");
    assert_eq!(
        refused("file/x"),
        "`file/x` can't be resolved: a part of it is a file, not a folder"
    );
}
