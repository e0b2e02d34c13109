//! The smallest window of the same kit: one blank page with one word. What Cairn's window costs is
//! compared with it, in the same run.
//!
//! Like Cairn it shows the window when the page's first frame is drawn.

use tauri::WebviewWindow;

#[tauri::command]
fn drawn(window: WebviewWindow) -> tauri::Result<()> {
    window.show()
}

fn main() {
    tauri::Builder::default()
        .invoke_handler(tauri::generate_handler![drawn])
        .run(tauri::generate_context!("tests/bench/hello/tauri.conf.json"))
        .expect("a blank window opens");
}
