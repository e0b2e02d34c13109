//! The guided tour: a small sample folder and a script that works on it. No model, no network.
//!
//! The window labels it as a script everywhere; its tools, approvals, captures and rollbacks are the
//! real ones.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_protocol::{ErrorCode, ErrorInfo, ModelRef};

use crate::error::Result;

/// The name of the tour's provider.
pub const TOUR_PROVIDER: &str = "tour";

const SCRIPT: &str = include_str!("tour/script.jsonl");
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("tour/sample/README.md")),
    ("greet.py", include_str!("tour/sample/greet.py")),
    ("notes/ideas.txt", include_str!("tour/sample/notes/ideas.txt")),
];
/// Sample folders beside each other before the user is asked to tidy up.
const MAX_FOLDERS: u32 = 100;

/// Returns the tour's model.
pub(crate) fn model() -> ModelRef {
    ModelRef { provider: TOUR_PROVIDER.to_owned(), model_id: "guided-tour".to_owned() }
}

/// Writes the script below the data root and a fresh sample folder below the home folder.
pub(crate) fn prepare(root: &Path, home: &Path) -> Result<PathBuf> {
    write_script(root).map_err(|error| failed(&root.join("tour"), &error))?;
    for number in 1..=MAX_FOLDERS {
        let name =
            if number == 1 { "cairn-tour".to_owned() } else { format!("cairn-tour-{number}") };
        let folder = home.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => {
                fill(&folder).map_err(|error| failed(&folder, &error))?;
                return Ok(folder);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&folder, &error)),
        }
    }
    let text =
        format!("There are {MAX_FOLDERS} tour folders in {} already. Delete some.", home.display());
    Err(ErrorInfo::new(ErrorCode::Io, text))
}

/// Writes the script where the tour's provider reads it.
fn write_script(root: &Path) -> std::io::Result<()> {
    let folder = root.join("tour");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("script.jsonl"), SCRIPT)
}

fn fill(folder: &Path) -> std::io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> ErrorInfo {
    let text = format!("The sample folder {} can't be made: {error}.", path.display());
    ErrorInfo::new(ErrorCode::Io, text)
}
