//! The real window under load: how soon a long session is on the screen, and what the page does while an
//! answer of 10,000 deltas streams in and somebody types (goals G13 and G15).
//!
//! The window runs under its driver on a virtual screen with software drawing; keys are real X11
//! keys. Times are the page's own: from the event to the second frame after it, by which the first
//! has been drawn. Messages are counted where Tauri hands them to the page.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cairn_tests::desktop::{App, Desktop, Page, wait_for};
use cairn_tests::model_server::{Call, Gate, MODEL, ModelServer, Reply};
use serde_json::{Value, json};

use crate::figure::Figure;
use crate::workspace::{self, name};
use crate::{Options, app};

/// Calls of each turn: with the user's text and the answer they are 42 messages.
const CALLS: usize = 20;
const MESSAGES: usize = 2 + 2 * CALLS;
/// Turns of the long and of the short session.
const TURNS: [usize; 2] = [48, 5];
/// The first task of each session, which names it in the list.
const TITLES: [&str; 2] = ["Read it all", "Read a little"];
const DELTAS: usize = 10_000;
/// Deltas that arrive together, and how often: 2,000 a second.
const BURST: u64 = 40;
const EVERY: Duration = Duration::from_millis(20);
/// Keys that are typed, and the milliseconds between them: a fast typist.
const KEYS: usize = 60;
const KEY_PAUSE: &str = "70";

/// Notes when each message of a channel arrives.
const COUNT_MESSAGES: &str = "
const log = (window.__messages = []);
const all = window.__TAURI_INTERNALS__.callbacks;
for (const [id, call] of [...all]) {
  all.set(id, (data) => {
    if (data && typeof data === 'object' && 'index' in data) log.push([id, performance.now()]);
    return call(data);
  });
}";

/// Notes how long each key takes to be drawn, and the time between frames.
const WATCH_KEYS: &str = "
window.__keys = [];
window.__frames = [];
let last = performance.now();
const frame = (now) => {
  window.__frames.push(now - last);
  last = now;
  if (window.__frames !== undefined && !window.__stop) requestAnimationFrame(frame);
};
window.__stop = false;
requestAnimationFrame(frame);
if (!window.__listens) {
  window.__listens = true;
  document.addEventListener('input', () => {
    const began = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => window.__keys.push(performance.now() - began)));
  }, true);
}";

/// Presses the session of this name and notes when its end has been drawn.
const OPEN_SESSION: &str = "
const [title, wanted] = arguments;
window.__opened = null;
const row = [...document.querySelectorAll('nav button, aside button, button')]
  .find((it) => it.textContent.includes(title) && it.getClientRects().length > 0);
const began = performance.now();
row.click();
const look = () => {
  const seen = [...document.querySelectorAll('main p')].some((it) => it.textContent.includes(wanted));
  if (!seen) return requestAnimationFrame(look);
  requestAnimationFrame(() => requestAnimationFrame(() => { window.__opened = performance.now() - began; }));
};
look();";

/// Measures opening, then streaming.
pub(crate) fn window(options: &Options) -> anyhow::Result<()> {
    ensure!(options.desktop.is_file(), "{} is not built", options.desktop.display());
    let desktop = Desktop::start("bench-window");
    let server = ModelServer::builder().start();
    let folder = prepare(&desktop, &server)?;
    for (turns, title) in TURNS.into_iter().zip(TITLES) {
        make_session(options, &desktop, &server, &folder, turns, title)?;
    }
    let app = desktop.launch_program(&options.desktop);
    let page = app.page();
    page.wait_for_text(TITLES[0]);
    open_sessions(options, &page)?;
    stream(&desktop, &app, &server)?;
    app.close();
    Ok(())
}

/// Makes a data root that knows the server, and a folder.
fn prepare(desktop: &Desktop, server: &ModelServer) -> anyhow::Result<PathBuf> {
    let folder = desktop.home().join("generated");
    workspace::repository(&folder, crate::headless::SMALL)?;
    let root = desktop.data();
    std::fs::create_dir_all(&root)?;
    let providers = format!(
        "[[provider]]\nname = \"fake\"\napi = \"chat\"\nbaseUrl = \"{}\"\n\n[[provider.models]]\n\
         modelId = \"{MODEL}\"\ncontextWindow = 1000000\nvision = false\n",
        server.base_url()
    );
    std::fs::write(root.join("providers.toml"), providers)?;
    let model = format!("defaultModel = {{ provider = \"fake\", model_id = \"{MODEL}\" }}\n");
    std::fs::write(root.join("settings.toml"), model)?;
    Ok(folder)
}

fn make_session(
    options: &Options,
    desktop: &Desktop,
    server: &ModelServer,
    folder: &Path,
    turns: usize,
    title: &str,
) -> anyhow::Result<()> {
    for turn in 0..turns {
        for step in 0..CALLS {
            let (file, offset) = (name((turn + step) % 40), 1 + step);
            let arguments = json!({"file_path": file, "offset": offset, "limit": 12});
            server.push(Reply::calls([Call::json("read_file", arguments)]));
        }
        server.push(Reply::text([format!("The end of turn {turn}: {title}.")]));
        let mut command = desktop.command(&options.cairn);
        command.args(["run", "--mode", "auto"]).arg("--workspace").arg(folder);
        if turn > 0 {
            command.arg("--continue");
        }
        let status = command.arg(title).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        ensure!(status.success(), "the session {title:?} was not made: {status}");
    }
    Ok(())
}

fn open_sessions(options: &Options, page: &Page<'_>) -> anyhow::Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=options.runs(9) {
        for (index, title) in TITLES.into_iter().enumerate() {
            let wanted = format!("The end of turn {}: {title}.", TURNS[index] - 1);
            page.run(OPEN_SESSION, json!([title, wanted]));
            let time =
                wait_for("the session", || page.run("return window.__opened", json!([])).as_f64());
            if round > 0 {
                times[index].push(time);
            }
        }
    }
    let what =
        |index: usize| format!("session of {} messages until drawn", TURNS[index] * MESSAGES);
    Figure::new("window", what(0), "ms", &times[0])
        .against("210 messages", &times[1])
        .ratio_at_most("G15", 1.2)
        .print()
}

/// Types twice: while nothing happens, and while the answer streams in.
fn stream(desktop: &Desktop, app: &App<'_>, server: &ModelServer) -> anyhow::Result<()> {
    let page = app.page();
    let composer = page.find("textarea", "Message");
    composer.click();
    page.run(WATCH_KEYS, json!([]));
    type_keys(desktop, &page)?;
    let idle = numbers(&page, "__keys");
    page.run("document.activeElement.select?.()", json!([]));

    let gate = Gate::closed();
    let words = (0..DELTAS).map(|index| match index % 40 {
        39 => format!("word{index}.\n\n"),
        _ => format!("word{index} "),
    });
    let seen = server.requests().len();
    server.push(Reply::text(words).gated(&gate));
    composer.keys("Tell me much");
    page.press("Send");
    server.wait_for_requests(seen + 1);
    composer.click();
    page.run(COUNT_MESSAGES, json!([]));
    let cpu = busy_ms(app);
    let began = Instant::now();
    let feeder = std::thread::spawn(move || {
        for _ in 0..(DELTAS as u64).div_ceil(BURST) {
            gate.open(BURST);
            std::thread::sleep(EVERY);
        }
        gate.open_all();
    });
    page.wait_for_text("word39.");
    page.run("window.__stop = true", json!([]));
    page.run(WATCH_KEYS, json!([]));
    type_keys(desktop, &page)?;
    let busy = numbers(&page, "__keys");
    let streamed = feeder.is_finished();
    let _fed = feeder.join();
    wait_for("the end of the answer", || {
        let text = page.run("return document.querySelector('main').innerText", json!([]));
        text.as_str()
            .is_some_and(|text| text.contains(&format!("word{}.", DELTAS - 1)))
            .then_some(())
    });
    let wall = crate::process::millis(began.elapsed());
    let cpu = busy_ms(app) - cpu;
    ensure!(!streamed, "the answer had ended before the typing");
    report(&page, &idle, &busy, cpu, wall)
}

fn report(page: &Page<'_>, idle: &[f64], busy: &[f64], cpu: f64, wall: f64) -> anyhow::Result<()> {
    let log = page.run("return window.__messages", json!([]));
    let log = log.as_array().context("the messages were counted")?;
    let (count, most) = busiest_second(log);
    ensure!(count > 50, "{count} messages: they were not counted");
    Figure::new("window", "messages in the busiest second, one view", "", &[most])
        .at_most("G13", 62.0)
        .print()?;
    #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
    let deltas = DELTAS as f64 / count as f64;
    Figure::new("window", "deltas a message, 2,000 deltas a second", "", &[deltas]).print()?;
    Figure::new("window", "a typed key until drawn, 10,000 deltas streaming", "ms", busy)
        .against("nothing streams", idle)
        .print()?;
    Figure::new("window", "the slowest of 20 keys, 10,000 deltas streaming", "ms", &[slow(busy)])
        .against("nothing streams", &[slow(idle)])
        .print()?;
    let frames = numbers(page, "__frames");
    Figure::new("window", "time between frames while it streams", "ms", &frames).print()?;
    Figure::new("window", "the slowest of 20 frames while it streams", "ms", &[slow(&frames)])
        .print()?;
    Figure::new("window", "CPU of all processes a delta", "µs", &[cpu * 1000.0 / 10_000.0])
        .print()?;
    Figure::new("window", "the stream, as it was fed", "ms", &[wall]).print()
}

/// Returns the value that 19 of 20 do not pass.
fn slow(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * 19 / 20).min(sorted.len() - 1)]
}

/// Returns how many messages the busiest channel had, and the most within one second.
fn busiest_second(log: &[Value]) -> (usize, f64) {
    let mut channels = std::collections::BTreeMap::<u64, Vec<f64>>::new();
    for entry in log {
        let (Some(id), Some(time)) = (entry[0].as_u64(), entry[1].as_f64()) else { continue };
        channels.entry(id).or_default().push(time);
    }
    let busiest = channels.into_values().max_by_key(Vec::len).unwrap_or_default();
    let within =
        |from: f64| busiest.iter().filter(|time| **time >= from && **time < from + 1000.0).count();
    let most = busiest.iter().map(|from| within(*from)).max().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
    (busiest.len(), most as f64)
}

fn type_keys(desktop: &Desktop, page: &Page<'_>) -> anyhow::Result<()> {
    let before = numbers(page, "__keys").len();
    let text: String = "a quick typist ".chars().cycle().take(KEYS).collect();
    let mut command = desktop.command("xdotool");
    command.args(["type", "--delay", KEY_PAUSE, &text]);
    ensure!(command.status()?.success(), "no keys were typed");
    wait_for("the typed keys", || (numbers(page, "__keys").len() >= before + KEYS).then_some(()));
    Ok(())
}

fn numbers(page: &Page<'_>, name: &str) -> Vec<f64> {
    let found = page.run("return window[arguments[0]] ?? []", json!([name]));
    found.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// Returns the processor time of the app and its web processes so far, in milliseconds.
fn busy_ms(app: &App<'_>) -> f64 {
    let pid = u32::try_from(app.process()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of minutes are below 2^52")]
    let busy = app::busy_ns(pid) as f64;
    busy / 1e6
}
