//! The smallest window of the same kit: one blank page with one word. What Cairn's window costs is
//! compared with it, in the same run.
//!
//! Like Cairn it shows the window when its page is there.

use tauri::webview::PageLoadEvent;

fn main() {
    tauri::Builder::default()
        .on_page_load(|webview, load| {
            if load.event() == PageLoadEvent::Finished {
                webview.window().show().expect("the window is shown");
            }
        })
        .run(tauri::generate_context!("tests/bench/hello/tauri.conf.json"))
        .expect("a blank window opens");
}
