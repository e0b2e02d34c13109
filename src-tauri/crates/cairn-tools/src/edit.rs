//! What `write_file` and `replace_in_file` have in common: looking at what is there, planning the write, and doing exactly that.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, ChangeKind, FileEdit, PlannedWrite, ToolClass, ToolDetails};

use crate::diff::Difference;
use crate::path::describe;
use crate::place::{self, Expected, PlaceError};
use crate::{
    Action, Done, Identity, Ordering, Plan, Run, Standing, Target, TargetKind, ToolContext, resolve,
};

/// The largest file that is edited or overwritten. Larger ones are data, and their old content would have to be kept in memory.
pub(crate) const EDIT_LIMIT_BYTES: u64 = 32 * 1024 * 1024;

/// What is at a path before an edit.
pub(crate) struct Before {
    /// The whole content.
    pub(crate) content: Vec<u8>,
    /// Its identity.
    pub(crate) identity: Identity,
}

/// Whether an edit may touch a file that the model has not read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    Refuse,
    Overwrite,
}

/// Reads what is at a path that is about to be edited; nothing when nothing is there. An error is a text for the model.
pub(crate) fn look(
    ctx: &ToolContext,
    target: &Target,
    unread: Unread,
) -> Result<Option<Before>, String> {
    let requested = &target.path.requested;
    match target.kind {
        TargetKind::Missing => {
            check_writable(target)?;
            return Ok(None);
        }
        TargetKind::Folder => return Err(format!("`{requested}` is a folder.")),
        TargetKind::Other => return Err(format!("`{requested}` is not a regular file.")),
        TargetKind::File => {}
    }
    let failed =
        |error: std::io::Error| format!("`{requested}` can't be read: {}.", describe(&error));
    let mut file = place::open(&target.real).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.len() > EDIT_LIMIT_BYTES {
        return Err(format!(
            "`{requested}` is larger than 32 MiB. Edit it with a command through run_shell."
        ));
    }
    let mut content = Vec::new();
    file.by_ref().take(EDIT_LIMIT_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    let sha256 = Some(place::sha256(&content));
    let identity =
        Identity { bytes: content.len() as u64, modified: metadata.modified().ok(), sha256 };
    match ctx.ledger.standing(&target.real, &identity) {
        Standing::Known => {}
        Standing::NeverRead if unread == Unread::Overwrite => {}
        Standing::NeverRead => {
            return Err(format!(
                "`{requested}` exists but was not read in this session. Read it with read_file first, then make the change."
            ));
        }
        Standing::ChangedSince => {
            return Err(format!(
                "`{requested}` was changed by someone else since you read it. Read it again with read_file, then make the change on what is there now."
            ));
        }
    }
    check_writable(target)?;
    Ok(Some(Before { content, identity }))
}

/// Refuses early what the system would refuse later.
#[cfg(unix)]
fn check_writable(target: &Target) -> Result<(), String> {
    use nix::unistd::{AccessFlags, access};
    let refused = |path: &Path, error: nix::Error| {
        format!(
            "`{}` can't be written: {} ({}).",
            target.path.requested,
            describe(&error.into()),
            path.display()
        )
    };
    if target.kind == TargetKind::File {
        access(&target.real, AccessFlags::W_OK).map_err(|error| refused(&target.real, error))?;
    }
    let mut folder = target.real.parent();
    while let Some(path) = folder.filter(|path| !path.exists()) {
        folder = path.parent();
    }
    let Some(folder) = folder else { return Ok(()) };
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK).map_err(|error| refused(folder, error))
}

#[cfg(not(unix))]
fn check_writable(_: &Target) -> Result<(), String> {
    Ok(())
}

/// A planned edit.
pub(crate) struct Edit {
    pub(crate) target: Target,
    pub(crate) before: Option<Before>,
    pub(crate) after: Vec<u8>,
    pub(crate) difference: Difference,
    /// What the model reads when it is done.
    pub(crate) success: String,
    pub(crate) notes: Vec<String>,
}

impl Edit {
    /// Makes the plan of the edit.
    pub(crate) fn plan(self, verb: &str, timeout: Option<Duration>) -> Plan {
        let kind = if self.before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
        let shown = self.target.label();
        let write = PlannedWrite {
            path: self.target.path.clone(),
            kind,
            before_sha256: self.before.as_ref().and_then(|before| before.identity.sha256.clone()),
            diff: self.difference.unified.clone(),
            added: self.difference.added,
            removed: self.difference.removed,
        };
        let effects = CallEffects {
            class: ToolClass::WriteLocal,
            title: format!("{verb} {shown}"),
            reads: Vec::new(),
            writes: vec![write],
            command: None,
        };
        let ordering = Ordering::Paths(vec![self.target.real.clone()]);
        Plan { effects, ordering, timeout, action: Box::new(EditAction { edit: self, kind }) }
    }
}

struct EditAction {
    edit: Edit,
    kind: ChangeKind,
}

#[async_trait]
impl Action for EditAction {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        let Self { edit, kind } = *self;
        let real = edit.target.real.clone();
        let _lock = run.ctx.locks.lock(&real).await;
        if run.stop.is_cancelled() {
            return Done::failed("Nothing was written.");
        }
        if let Err(reason) = run.port.before_edit(&real).await {
            return Done::failed(format!(
                "Nothing was written, because the old content could not be kept safe: {reason}"
            ));
        }
        let ctx = run.ctx.clone();
        let written = tokio::task::spawn_blocking(move || write(&ctx, &edit).map(|()| edit)).await;
        run.port.after_edit(&real).await;
        match written {
            Ok(Ok(edit)) => done(edit, kind),
            Ok(Err(text)) => Done::failed(text),
            Err(error) => Done::failed(format!(
                "The write broke: {error}. Read the file to see what it holds."
            )),
        }
    }
}

/// Writes what was planned, if the path still leads where it led and holds what it held.
fn write(ctx: &ToolContext, edit: &Edit) -> Result<(), String> {
    let requested = &edit.target.path.requested;
    let now = resolve(ctx, requested)?;
    if now.real != edit.target.real {
        return Err(format!(
            "`{requested}` leads somewhere else than when this change was prepared; nothing was written."
        ));
    }
    let expected = match &edit.before {
        Some(before) => Expected::Content(before.identity.sha256.clone().unwrap_or_default()),
        None => Expected::Nothing,
    };
    if !ctx.workspace.is_dir() {
        // Missing folders are made for a new file, but the workspace is the user's to make.
        let gone = ctx.workspace.display();
        return Err(format!(
            "The workspace folder {gone} is not there any more; nothing was written."
        ));
    }
    match place::replace(&edit.target.real, &edit.after, &expected) {
        Ok(()) => {}
        Err(PlaceError::Changed) => {
            return Err(format!(
                "`{requested}` was changed since this change was prepared; nothing was written. Read it again with read_file, then make the change on what is there now."
            ));
        }
        Err(PlaceError::Io(error)) => {
            return Err(format!("`{requested}` could not be written: {}.", describe(&error)));
        }
    }
    let modified =
        std::fs::symlink_metadata(&edit.target.real).and_then(|metadata| metadata.modified()).ok();
    let sha256 = Some(place::sha256(&edit.after));
    ctx.ledger
        .record(&edit.target.real, Identity { bytes: edit.after.len() as u64, modified, sha256 });
    Ok(())
}

fn done(edit: Edit, kind: ChangeKind) -> Done {
    let Difference { added, removed, .. } = edit.difference;
    let path = edit.target.path.relative.unwrap_or(edit.target.path.real);
    let details = ToolDetails {
        summary: Some(format!("+{added} -{removed}")),
        edits: vec![FileEdit { path, kind, added, removed }],
        ..ToolDetails::default()
    };
    Done { failed: false, text: edit.success, notes: edit.notes, details }
}
