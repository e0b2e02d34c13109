//! Native windows: found by their title, driven by the keyboard and the pointer like a user's.

use super::{Desktop, wait_for};

/// A native dialog that is shown.
pub struct Dialog<'a> {
    desktop: &'a Desktop,
    window: String,
}

impl<'a> Dialog<'a> {
    #[track_caller]
    pub(super) fn find(desktop: &'a Desktop, title: &str) -> Self {
        let window = wait_for(&format!("a dialog {title:?}"), || find_window(desktop, title));
        let dialog = Self { desktop, window };
        dialog.focus();
        dialog
    }

    /// Presses Enter: the first button.
    pub fn enter(self) {
        self.keys(&["Return"]);
        self.wait_gone();
    }

    /// Presses Escape: the third button.
    pub fn escape(self) {
        self.keys(&["Escape"]);
        self.wait_gone();
    }

    /// Moves to the second button, the only yes, and presses it.
    pub fn second(self) {
        self.keys(&["Right", "space"]);
        self.wait_gone();
    }

    /// Types the path of a folder into a file chooser, and takes it.
    pub fn choose(self, path: &str) {
        // A slash opens the field for a path, which may swallow a key while it opens.
        self.keys(&["slash"]);
        wait_for("the chooser's end", || {
            self.keys(&["ctrl+a"]);
            self.xdotool(&["type", "--clearmodifiers", "--delay", "12", path]);
            self.keys(&["Return"]);
            // A field that lost a key names nothing, and the chooser stays: then type again.
            let looks = 0..60;
            looks.map(|_| self.is_gone_soon()).find(|gone| *gone).map(drop)
        });
    }

    /// Looks once, after a moment.
    fn is_gone_soon(&self) -> bool {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        !is_shown(self.desktop, &self.window)
    }

    fn focus(&self) {
        let active = || run(self.desktop, &["getactivewindow"]);
        wait_for("the dialog's focus", || {
            self.xdotool(&["windowactivate", "--sync", &self.window]);
            (active().trim() == self.window).then_some(())
        });
    }

    fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.xdotool(&["key", "--clearmodifiers", key]);
        }
    }

    fn wait_gone(&self) {
        wait_for("the dialog's end", || (!is_shown(self.desktop, &self.window)).then_some(()));
    }

    fn xdotool(&self, arguments: &[&str]) {
        run(self.desktop, arguments);
    }
}

/// Returns the window that is shown and whose title begins like this.
pub(super) fn find_window(desktop: &Desktop, title: &str) -> Option<String> {
    let pattern = format!("^{}", escape(title));
    let found = run(desktop, &["search", "--onlyvisible", "--name", &pattern]);
    found.lines().next_back().map(str::to_owned)
}

/// Closes a window by the window manager, as its button does.
pub(super) fn close_window(desktop: &Desktop, title: &str) {
    let window = wait_for("the window", || find_window(desktop, title));
    run(desktop, &["windowactivate", "--sync", &window, "key", "--clearmodifiers", "alt+F4"]);
}

fn is_shown(desktop: &Desktop, window: &str) -> bool {
    run(desktop, &["search", "--onlyvisible", "--name", ""]).lines().any(|line| line == window)
}

fn run(desktop: &Desktop, arguments: &[&str]) -> String {
    let told = desktop.command("xdotool").args(arguments).output().expect("xdotool is installed");
    String::from_utf8_lossy(&told.stdout).into_owned()
}

fn escape(title: &str) -> String {
    title.chars().fold(String::new(), |mut text, character| {
        if !character.is_alphanumeric() && character != ' ' {
            text.push('\\');
        }
        text.push(character);
        text
    })
}
