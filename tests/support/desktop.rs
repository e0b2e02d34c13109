//! The real app in a real window, for tests: a screen of its own, a session bus, a keyring, a driver.
//!
//! Every test has its own screen, home and data root, so that they run side by side. All that was
//! started ends with [`Desktop`], each by its own process id. How the page is driven is in
//! `desktop/page.rs`, the wire below it in `desktop/driver.rs`, native dialogs in `desktop/native.rs`.

#[path = "desktop/driver.rs"]
mod driver;
#[path = "desktop/native.rs"]
mod native;
#[path = "desktop/page.rs"]
mod page;
#[path = "desktop/process.rs"]
mod process;

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use native::Dialog;
pub use page::{Element, Page};

use driver::Driver;
use process::Owned;

/// How long anything may take before the test fails. Far beyond what it takes on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Polls until a value is there. The only way to wait: on a state, never for a time.
///
/// # Panics
/// When it is not there after [`PATIENCE`].
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        // Between two looks; nothing depends on its length.
        std::thread::park_timeout(Duration::from_millis(40));
    }
}

/// A screen with a window manager, a session bus and an unlocked keyring, in a home of its own.
pub struct Desktop {
    name: String,
    home: tempfile::TempDir,
    display: String,
    bus: String,
    shots: Cell<u32>,
    // In the order of their end: what others need ends last.
    _keyring: Owned,
    _manager: Owned,
    _bus: Owned,
    _screen: Owned,
}

impl Desktop {
    /// Starts all of it. `name` is that of the test, for its screenshots.
    ///
    /// # Panics
    /// When a program that the test needs is not installed.
    pub fn start(name: &str) -> Self {
        let home = tempfile::Builder::new().prefix("cairn-desktop-").tempdir().expect("a folder");
        let runtime = home.path().join("runtime");
        std::fs::create_dir(&runtime).expect("a folder");
        set_private(&runtime);
        let (screen, display) = start_screen();
        let (bus_process, bus) = start_bus(home.path());
        let env = environment(home.path(), &display, &bus);
        let manager = Owned::spawn(with(Command::new("openbox"), &env), "openbox");
        wait_for("the window manager", || {
            let root = ["-root", "_NET_SUPPORTING_WM_CHECK"];
            let told = with(Command::new("xprop"), &env).args(root).output().ok()?;
            String::from_utf8_lossy(&told.stdout).contains("window id").then_some(())
        });
        let keyring = start_keyring(&env);
        Self {
            name: name.to_owned(),
            home,
            display,
            bus,
            shots: Cell::new(0),
            _keyring: keyring,
            _manager: manager,
            _bus: bus_process,
            _screen: screen,
        }
    }

    /// Returns the home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns Cairn's data root.
    pub fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Makes a folder with these files in the home folder, and returns it.
    pub fn folder(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = self.home.path().join(name);
        for (path, content) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        }
        std::fs::canonicalize(folder).expect("the folder is there")
    }

    /// Starts the app and waits until its window shows its first view.
    pub fn launch(&self) -> App<'_> {
        App::start(self, binary())
    }

    /// The same with a program that was built before.
    pub fn launch_program(&self, program: &Path) -> App<'_> {
        App::start(self, program.to_owned())
    }

    /// Returns a program that sees this screen, bus and home.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        with(Command::new(program), &environment(self.home.path(), &self.display, &self.bus))
    }

    /// Waits for a native window whose title begins like this.
    #[track_caller]
    pub fn dialog(&self, title: &str) -> Dialog<'_> {
        Dialog::find(self, title)
    }

    /// Keeps a picture of the whole screen in `test-results/`.
    pub fn shot(&self, what: &str) {
        let number = self.shots.get() + 1;
        self.shots.set(number);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-results/desktop");
        std::fs::create_dir_all(&folder).expect("a folder for pictures");
        let path = folder.join(format!("{}-{number:02}-{what}.png", self.name));
        let done = self.command("import").args(["-window", "root"]).arg(&path).status();
        assert!(done.is_ok_and(|status| status.success()), "`import` made no picture");
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path = format!("{}-failed", self.name);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-results/desktop");
            let picture = folder.join(format!("{path}.png"));
            // The failure itself is what counts; a picture only helps.
            let _picture = self.command("import").args(["-window", "root"]).arg(picture).status();
        }
    }
}

/// The running app with its page.
pub struct App<'a> {
    desktop: &'a Desktop,
    driver: Driver,
    process: i32,
    binary: PathBuf,
    service: Owned,
}

impl<'a> App<'a> {
    fn start(desktop: &'a Desktop, binary: PathBuf) -> Self {
        let port = free_port();
        let mut service = desktop.command("WebKitWebDriver");
        service.arg(format!("--port={port}")).env("TAURI_WEBVIEW_AUTOMATION", "true");
        let service = Owned::spawn(service, "WebKitWebDriver");
        wait_for("the driver", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
        let driver = Driver::open(port, &binary);
        let process =
            wait_for("the app's process", || process::child_of(service.id(), "cairn-desktop"));
        let app = Self { desktop, driver, process, binary, service };
        let _shown = wait_for("the window", || native::find_window(desktop, "Cairn"));
        app
    }

    /// Returns the page.
    pub fn page(&self) -> Page<'_> {
        Page::new(&self.driver)
    }

    /// Returns the app's process id.
    pub fn process(&self) -> i32 {
        self.process
    }

    /// Returns the app's program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Closes the window as a user does, and waits until the app has ended.
    pub fn close(self) {
        self.ask_to_close();
        self.wait_for_end();
    }

    /// Presses the window's button for closing; the app may ask back.
    pub fn ask_to_close(&self) {
        native::close_window(self.desktop, "Cairn");
    }

    /// Waits until the app has ended by itself.
    pub fn wait_for_end(self) {
        wait_for("the end of the app", || (!process::runs(self.process)).then_some(()));
    }

    /// Kills the app with no chance to tidy up.
    pub fn kill(self) {
        process::kill(self.process);
        wait_for("the end of the app", || (!process::runs(self.process)).then_some(()));
    }
}

impl Drop for App<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.desktop.shot("failed");
            eprintln!("the page said:\n{}", self.page().text_if_any());
        }
        if process::runs(self.process) {
            process::kill(self.process);
        }
        self.service.end();
    }
}

/// Returns the app's program, built when it is not up to date.
fn binary() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let index = root.join("ui/dist/index.html");
    assert!(index.is_file(), "the window is not built: run `npm run build` in ui/");
    // This file is target/<profile>/deps/desktop-…; the program lies two folders above.
    let own = std::env::current_exe().expect("the test's own path");
    let profile = own.ancestors().nth(2).expect("a target folder").to_path_buf();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--bin", "cairn-desktop"]).current_dir(&root);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    if let Some(target) = profile.parent() {
        build.env("CARGO_TARGET_DIR", target);
    }
    let built = build.status().expect("cargo runs");
    assert!(built.success(), "the app does not build");
    std::fs::canonicalize(profile.join("cairn-desktop")).expect("the app was built")
}

fn environment(home: &Path, display: &str, bus: &str) -> Vec<(String, String)> {
    let at = |name: &str| home.join(name).display().to_string();
    let pairs = [
        ("HOME", home.display().to_string()),
        ("CAIRN_HOME", at("data")),
        ("XDG_RUNTIME_DIR", at("runtime")),
        ("XDG_CONFIG_HOME", at(".config")),
        ("XDG_DATA_HOME", at(".local/share")),
        ("XDG_CACHE_HOME", at(".cache")),
        ("DISPLAY", display.to_owned()),
        ("DBUS_SESSION_BUS_ADDRESS", bus.to_owned()),
        ("GDK_BACKEND", "x11".to_owned()),
        ("NO_AT_BRIDGE", "1".to_owned()),
        ("GTK_THEME", "Adwaita".to_owned()),
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "1".to_owned()),
        ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
        ("SHELL", "/bin/bash".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn with(mut command: Command, env: &[(String, String)]) -> Command {
    command
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("XAUTHORITY")
        .env_remove("CAIRN_SAFE_GRAPHICS");
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command
}

fn start_screen() -> (Owned, String) {
    let mut command = Command::new("Xvfb");
    // Without `-noreset` the server begins anew when its last client leaves, and drops who comes just then.
    command.args([
        "-displayfd",
        "1",
        "-screen",
        "0",
        "1440x900x24",
        "-nolisten",
        "tcp",
        "-noreset",
    ]);
    command.stdout(Stdio::piped());
    let mut screen = Owned::spawn(command, "Xvfb");
    let number = first_line(&mut screen);
    (screen, format!(":{number}"))
}

fn start_bus(home: &Path) -> (Owned, String) {
    let mut command = Command::new("dbus-daemon");
    command.args(["--session", "--nofork", "--nopidfile", "--print-address=1"]);
    command.arg(format!("--address=unix:dir={}", home.join("runtime").display()));
    command.env("HOME", home).stdout(Stdio::piped());
    let mut bus = Owned::spawn(command, "dbus-daemon");
    let address = first_line(&mut bus);
    (bus, address)
}

fn start_keyring(env: &[(String, String)]) -> Owned {
    let mut command = with(Command::new("gnome-keyring-daemon"), env);
    command.args(["--foreground", "--unlock", "--components=secrets"]).stdin(Stdio::piped());
    let mut keyring = Owned::spawn(command, "gnome-keyring-daemon");
    let mut password = keyring.stdin();
    password.write_all(b"a password of this test").expect("the keyring reads");
    drop(password);
    wait_for("the keyring", || {
        let ask = [
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/",
            "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets",
        ];
        let told = with(Command::new("dbus-send"), env).args(ask).output().ok()?;
        String::from_utf8_lossy(&told.stdout).contains("boolean true").then_some(())
    });
    keyring
}

fn first_line(process: &mut Owned) -> String {
    let mut line = String::new();
    BufReader::new(process.stdout()).read_line(&mut line).expect("it says its address");
    assert!(!line.trim().is_empty(), "it ended before it said its address");
    line.trim().to_owned()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

fn set_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, mode).expect("one's own folder");
}
