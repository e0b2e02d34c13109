//! Starts the app again with safer graphics where the usual ones are known to show nothing.
//!
//! WebKitGTK's DMA-BUF renderer leaves windows blank on NVIDIA's own driver. The switch is an
//! environment variable that must be set before any thread runs, so the program replaces itself.

/// Replaces this process when it must; returns why that failed, and nothing when it need not.
#[cfg(target_os = "linux")]
pub(crate) fn restart_if_unsafe() -> Option<std::io::Error> {
    use std::os::unix::process::CommandExt;

    let wanted = wants_safe(
        std::env::var_os("CAIRN_SAFE_GRAPHICS").is_some_and(|value| value == "1"),
        std::path::Path::new("/proc/driver/nvidia/version").exists(),
        std::env::var_os(SWITCH).is_some(),
    );
    if !wanted {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Some(error),
    };
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env(SWITCH, "1");
    Some(again.exec())
}

/// Other systems draw with their own web views.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restart_if_unsafe() -> Option<std::io::Error> {
    None
}

#[cfg(target_os = "linux")]
const SWITCH: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// A switch that is set already, to whatever, is the user's choice and ends the chain of restarts.
#[cfg(target_os = "linux")]
fn wants_safe(asked: bool, nvidia: bool, already_set: bool) -> bool {
    (asked || nvidia) && !already_set
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::wants_safe;

    #[test]
    fn only_nvidia_or_the_user_asks_for_safe_graphics_and_only_once() {
        assert!(wants_safe(true, false, false));
        assert!(wants_safe(false, true, false));
        assert!(!wants_safe(false, false, false));
        assert!(!wants_safe(true, true, true));
    }
}
