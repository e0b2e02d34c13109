//! The thread and its limits, and the real keychain of this machine.

use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;

use tempfile::TempDir;

use super::*;

/// Set where a test runs inside a session bus of its own.
const INSIDE: &str = "CAIRN_TEST_SESSION_BUS";

#[test]
fn a_keychain_that_hangs_costs_only_its_limit_and_no_late_act() {
    let worker = Worker::default();
    let (release, held) = mpsc::channel::<()>();
    let begun = Instant::now();
    let hung = worker.run(Duration::from_millis(50), move || {
        let _ = held.recv();
        Ok(())
    });
    assert!(hung.unwrap_err().contains("did not answer"));
    let (ran, has_run) = mpsc::channel();
    let behind = worker.run(Duration::from_millis(50), move || {
        let _ = ran.send(());
        Ok(())
    });
    assert!(behind.is_err());
    assert!(begun.elapsed() < Duration::from_secs(10));
    drop(release);
    // The thread is free again, and what was given up did not happen.
    assert_eq!(worker.run(Duration::from_secs(30), || Ok(7)), Ok(7));
    assert!(has_run.try_recv().is_err());
}

#[test]
fn a_panic_in_the_client_is_an_error_and_the_next_act_works() {
    let worker = Worker::default();
    let limit = Duration::from_secs(30);
    let result: Result<(), String> = worker.run(limit, || panic!("injected"));
    assert_eq!(result, Err("its client failed".to_owned()));
    // The thread may still be ending; its channel is closed once it has.
    let again = (0..1_000).find_map(|_| worker.run(limit, || Ok(1)).ok());
    assert_eq!(again, Some(1));
}

/// Runs this test again inside a session bus of its own, by a shell line in which `"$@"` is the test.
fn inside_bus(test: &str, shell: &str, data: &Path) -> Option<std::process::Output> {
    let this = std::env::current_exe().expect("a test knows its own path");
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-c", shell, "sh"])
        .arg(this)
        .args(["--exact", &format!("keychain::tests::{test}"), "--nocapture"])
        .env(INSIDE, data)
        .env("HOME", data)
        .env("XDG_RUNTIME_DIR", data)
        .env("XDG_DATA_HOME", data)
        .env("XDG_CONFIG_HOME", data)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("DISPLAY")
        .output();
    output.inspect_err(|error| eprintln!("skipped: dbus-run-session can't be run: {error}")).ok()
}

#[test]
fn the_real_secret_service_keeps_a_text_d9() {
    if let Some(data) = std::env::var_os(INSIDE) {
        let keychain = OsKeychain::new(Path::new(&data));
        keychain.probe().expect("the service answers");
        assert!(keychain.get().expect("it is unlocked").is_none());
        for text in ["one", "two"] {
            keychain.set(Secret::new(text)).expect("it can be stored");
            let found = keychain.get().expect("it can be read").expect("it is there");
            assert_eq!(found.expose(), text);
        }
        let other = OsKeychain::new(Path::new("/another/root"));
        assert!(other.get().expect("it can be read").is_none());
        keychain.clear().expect("it can be removed");
        keychain.clear().expect("twice, too");
        assert!(keychain.get().expect("it can be read").is_none());
        println!("the keychain works");
        return;
    }
    if Command::new("gnome-keyring-daemon").arg("--version").output().is_err() {
        eprintln!("skipped: gnome-keyring is not installed");
        return;
    }
    let data = TempDir::new().expect("a folder");
    let shell =
        "printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null && \"$@\"";
    let Some(output) = inside_bus("the_real_secret_service_keeps_a_text_d9", shell, data.path())
    else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("the keychain works"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn without_a_secret_service_the_probe_says_so_at_once() {
    if let Some(data) = std::env::var_os(INSIDE) {
        let begun = Instant::now();
        let reason = OsKeychain::new(Path::new(&data)).probe().expect_err("nothing answers");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        println!("reason: {reason}");
        return;
    }
    let data = TempDir::new().expect("a folder");
    // A bus that can start no service.
    let shell = "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent exec \"$@\"";
    let Some(output) =
        inside_bus("without_a_secret_service_the_probe_says_so_at_once", shell, data.path())
    else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("reason: "), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    if cfg!(target_os = "linux") {
        assert!(text.contains("GNOME Keyring"), "{text}");
    }
}
