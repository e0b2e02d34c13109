//! Where Cairn keeps everything (D-8).

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the data root: `CAIRN_HOME`, else `.cairn` in the user's home.
pub fn data_root(env: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    set("CAIRN_HOME").unwrap_or_else(|| set(home).unwrap_or_default().join(".cairn"))
}
