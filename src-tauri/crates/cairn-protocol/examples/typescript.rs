//! Rewrites the TypeScript of the protocol into a folder; a quick way beside `tests/contract`.
//!
//! `cargo run -p cairn-protocol --example typescript -- ui/src/protocol`

use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err(std::io::Error::other("name the folder to write into"));
    };
    std::fs::create_dir_all(&folder)?;
    for (name, text) in cairn_protocol::typescript::files() {
        std::fs::write(Path::new(&folder).join(name), text)?;
    }
    Ok(())
}
