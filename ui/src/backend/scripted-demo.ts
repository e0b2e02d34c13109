/**
 * The made-up world of `npm run dev` with `?demo`: turn, approval, edit, errors, crash, empty, long, first.
 *
 * All names of models, companies, hosts and files are made up. `theme` and `text` in the address set the look.
 */
import type { AppState, FeedItem, PendingQuestion, SessionSummary, SessionView, Theme, TurnRecord } from "../protocol";
import { scriptedTurn } from "./scripted-changes";
import type { ScriptedSession, ScriptedShell } from "./scripted";
import { commandRequest, editRequest, Story } from "./scripted-messages";

export interface World {
  state: AppState;
  sessions: Map<string, ScriptedSession>;
}

const MODEL = { provider: "northlight", model_id: "northlight-2" };
const NO_TOKENS = { cache_read: 0, cache_write: 0, output: 0, total: 0 };
const MINUTE = 60_000;

function summary(id: string, workspaceId: string, title: string, more: Partial<SessionSummary> = {}): SessionSummary {
  const at = new Date(Date.now() - 26 * 60 * MINUTE).toISOString();
  return { id, workspaceId, title, model: MODEL, mode: "interactive", activity: { state: "idle" }, createdAt: at, lastActiveAt: at, turns: 3, usage: NO_TOKENS, ...more };
}

function viewOf(of: SessionSummary, story: Story, more: Partial<SessionView> = {}): SessionView {
  return {
    summary: of,
    page: { messages: story.stored, hasMore: false, gaps: [] },
    turns: [],
    restores: [],
    pending: [],
    questions: [],
    todos: [],
    sandbox: SANDBOX,
    queue: [],
    interruptedCalls: [],
    ...more,
  };
}

const SANDBOX = { backend: "bubblewrap" as const, enforced: true, reason: "Shell commands run in bubblewrap: they write inside the folder only and have no network." };

const TODOS: SessionView["todos"] = [
  { id: "1", text: "Find where a failure becomes final", status: "done" },
  { id: "2", text: "Backoff with ceiling and jitter", status: "done" },
  { id: "3", text: "Test the ceiling", status: "done" },
  { id: "4", text: "Retry a 5xx in the worker", status: "in_progress" },
  { id: "5", text: "Test the clock edge", status: "pending" },
];

function stones(): TurnRecord[] {
  return [
    scriptedTurn(5, [9, 418, 0]),
    scriptedTurn(6, [4, 97, 8]),
    scriptedTurn(7, [2, 30, 12], { standing: { state: "rolled_back" } }),
    scriptedTurn(9, [1, 11, 11]),
    scriptedTurn(10, [5, 88, 31], { standing: { state: "partly", rolled_back: 2 } }),
    scriptedTurn(12, [3, 64, 12]),
  ];
}

/** Turn 12, done; the head of every story. */
function turnTwelve(story: Story): void {
  story.event({ type: "sandbox_state", ...SANDBOX });
  story.begin("turn-12", 12, "Store the attempt count with each delivery, and show it in the admin list.");
  story.ran("c12", "replace_in_file", { path: "src/admin/list.rs" }, "ok", { edits: [{ path: "src/admin/list.rs", kind: "modified", added: 64, removed: 12 }] });
  story.answer("Done. The table has an `attempts` column with a default of 0, and the admin list shows it in a column after the status.");
  story.event({ type: "snapshot", turn_id: "turn-12", side: "after", snapshot_id: "a1", completeness: { state: "protected" }, changes: { files: 3, added: 64, removed: 12 }, duration_ms: 14 });
  story.end("turn-12");
}

const ASK = "Deliveries that fail with a 5xx are dropped after the first try. Retry them with a bounded backoff and jitter, and cover the clock edge in a test.";

function turnThirteen(story: Story): void {
  story.begin("turn-13", 13, ASK);
  story.think("Every error is final today. The count from turn 12 is enough for the delay, so no new state. The clock is read in two places: pass one in.", 9000);
  story.ran("c1", "read_file", { path: "src/delivery/worker.rs" }, "…", { summary: "312 lines" });
  story.ran("c2", "write_file", { path: "src/delivery/backoff.rs" }, "ok", { edits: [{ path: "src/delivery/backoff.rs", kind: "created", added: 58, removed: 0 }] });
  story.ran("c3", "run_shell", { command: "cargo test -p harbour-delivery backoff" }, "running 3 tests\ntest backoff::tests::never_exceeds_the_ceiling ... FAILED\n  delay at attempt 40 was 0 ms: the shift wraps at 32\n", { exit_code: 101, duration_ms: 11_400 });
  story.ran("c4", "replace_in_file", { path: "src/delivery/backoff.rs" }, "ok", { edits: [{ path: "src/delivery/backoff.rs", kind: "modified", added: 6, removed: 2 }] });
}

function working(more: Partial<SessionSummary> = {}): SessionSummary {
  const started_at = new Date(Date.now() - 134_000).toISOString();
  return summary("s1", "w1", "Retry failed webhook deliveries", { activity: { state: "working", turn_id: "turn-13", started_at }, lastActiveAt: new Date().toISOString(), ...more });
}

function running(): ScriptedSession {
  const story = new Story(Date.now() - 5 * MINUTE);
  turnTwelve(story);
  story.wait(2 * MINUTE);
  turnThirteen(story);
  const late = new Story(Date.now() - 14_000, story.stored.length);
  late.call("c5", "run_shell", { command: "cargo test --workspace --no-fail-fast" });
  late.started("c5");
  story.stored.push(...late.stored);
  const turns = [...stones(), scriptedTurn(13, [0, 0, 0], { state: "open", after: null, endedAt: null })];
  const queue = [{ id: "q1", text: "Then add a line to the changelog and bump the patch version." }];
  return { view: viewOf(working(), story, { turns, todos: TODOS, queue }), older: [] };
}

const EDIT_DIFF = `@@ -12,6 +12,14 @@
 [limits]
-per_minute = 600
-burst = 60
-scope = "address"
+enabled = true
+scope = "token"
+
+[limits.default]
+per_minute = 300
+burst = 40
+
+[limits.trusted]
+per_minute = 3000
+burst = 200
 
 [log]
 level = "info"
`;

function asking(first: "shell" | "edit" | "question"): ScriptedSession {
  const story = new Story(Date.now() - 5 * MINUTE);
  turnTwelve(story);
  story.begin("turn-13", 13, "Add the limiter to the public routes, one bucket per API token.");
  story.answer("The old fixtures shadow the new ones. I will remove those, run the suite and replay one request against the dev server.");
  const command = "find fixtures -name '*.json' -mtime +30 -print0 \\\n  | xargs -0 rm -f \\\n  && cargo test --workspace --no-fail-fast 2>&1 \\\n  | tee target/test.log";
  const requests = [
    commandRequest("a1", "s1", command),
    editRequest("a2", "s1", "config/limits.toml", EDIT_DIFF),
    commandRequest("a3", "s1", "docker compose up -d postgres", { class: "widening", sandbox: { kind: "unconfined" }, reason: "It can't run confined: it talks to the Docker engine" }),
  ];
  if (first === "edit") requests.reverse();
  const pending = first === "question" ? [] : first === "edit" ? requests.filter((one) => one.approval_id !== "a3") : requests;
  for (const request of pending) {
    story.call(request.tool_call_id, request.tool, JSON.parse(request.arguments) as object);
    story.event({ type: "approval_request", ...request });
  }
  const questions: PendingQuestion[] =
    first === "question"
      ? [{ questionId: "q1", toolCallId: "cq", question: "Two tables hold tokens. Which one should the limiter read?", options: ["api_tokens", "sessions", "Both, tokens first"], allowText: true, multi: false }]
      : [];
  const started_at = new Date(Date.now() - 134_000).toISOString();
  const activity = { state: "needs_you" as const, turn_id: "turn-13", waiting: pending.length + questions.length, started_at };
  const turns = [...stones(), scriptedTurn(13, [0, 0, 0], { state: "open", after: null, endedAt: null })];
  return { view: viewOf(working({ title: "Rate limits per API token", activity }), story, { turns, pending, questions, todos: TODOS }), older: [] };
}

function failing(): ScriptedSession {
  const story = new Story(Date.now() - 40 * MINUTE);
  story.begin("turn-14", 14, "Document the retry settings.");
  story.end("turn-14", "error", { error: { code: "auth", message: "northlight refused the key: it answered 401, \"key revoked\". The turn is kept and goes on once a key works." } });
  story.wait(2 * MINUTE);
  story.begin("turn-15", 15, "Import the archive of last year's deliveries.");
  story.answer("Imported 18,204 rows. The import wrote 2.1 GB to `data/`.\n\n| table | rows |\n|---|---|\n| deliveries | 18,204 |\n| attempts | 41,077 |\n\n```rust\n/// The delay before the next try.\npub fn delay(attempt: u32) -> Duration {\n    Duration::from_millis(250 << attempt.min(6))\n}\n```\n\nSee [the notes](https://example.org/notes) and ![a chart](https://example.org/c.png).");
  story.end("turn-15");
  story.event({ type: "restore", restore_id: "r1", session_id: "s1", turn_id: "turn-12", target: "revert", outcome: { kind: "exact" }, steps: [{ path: "src/admin/list.rs", action: "taken_back", note: null, added: 12, removed: 64 }], not_covered: [], safety: "s", at: story.now });
  story.begin("turn-16", 16, "Tidy the helper names.");
  story.end("turn-16", "max_iterations_exceeded", { iterations: 800 });
  story.begin("turn-17", 17, "Then add a line to the changelog.");
  story.wait(36 * MINUTE);
  const late = new Story(Date.now() - 2000, story.stored.length);
  late.event({ type: "request_end", status: "failed", error_message: "No connection to api.northlight.example: the name does not resolve.", attempt: 3, retry_in_ms: 20_000 });
  story.stored.push(...late.stored);
  const turns = [...stones(), scriptedTurn(15, [9, 2100, 0], { completeness: { state: "not_protected", reason: "Disk full while recording: 3 of 9 files have no copy" } }), scriptedTurn(16, [6, 48, 48]), scriptedTurn(17, [0, 0, 0], { state: "open", after: null })];
  return { view: viewOf(working(), story, { turns }), older: [] };
}

function crashed(): ScriptedSession {
  const story = new Story(Date.now() - 40 * MINUTE);
  turnTwelve(story);
  story.begin("turn-14", 14, "Move the fixtures into one folder.");
  story.call("c9", "run_shell", { command: "git mv fixtures tests/fixtures" });
  story.started("c9");
  story.end("turn-14", "interrupted");
  const turns = [...stones(), scriptedTurn(14, [4, 6, 6], { state: "crashed" })];
  return { view: viewOf(summary("s1", "w1", "Retry failed webhook deliveries"), story, { turns, interruptedCalls: ["c9"] }), older: [] };
}

/** Several thousand messages, of which only the last page is in the view. */
function long(): ScriptedSession {
  const story = new Story(Date.now() - 600 * MINUTE);
  for (let turn = 1; turn <= 200; turn += 1) {
    story.begin(`turn-${turn}`, turn, `Message ${turn}: change one thing and say what you did.`);
    story.think("A short thought about the next step.", 1200);
    for (let call = 0; call < 6; call += 1) story.ran(`c${turn}-${call}`, "read_file", { path: `src/part-${call}.rs` }, "…", { summary: "120 lines" });
    story.answer(`Done with ${turn}. ${"This is a sentence that makes the answer a little longer. ".repeat((turn % 5) + 1)}`);
    story.end(`turn-${turn}`);
  }
  const page = story.stored.slice(-200);
  const view = viewOf(summary("s1", "w1", "A long session"), new Story(0), { turns: Array.from({ length: 200 }, (_, i) => scriptedTurn(i + 1, [1, 3, 1])) });
  view.page = { messages: page, hasMore: true, gaps: [] };
  return { view, older: story.stored.slice(0, -200) };
}

function chosen(name: string): ScriptedSession {
  switch (name) {
    case "approval":
      return asking("shell");
    case "edit":
      return asking("edit");
    case "question":
      return asking("question");
    case "errors":
      return failing();
    case "crash":
      return crashed();
    case "long":
      return long();
    case "empty":
      return { view: viewOf(summary("s1", "w3", "New session"), new Story(Date.now())), older: [] };
    default:
      return running();
  }
}

function workspace(id: string, folder: string): AppState["workspaces"][number] {
  return { id, name: folder, path: `/home/mara/${folder}`, lastUsedAt: new Date().toISOString(), present: true };
}

export function demoWorld(query: URLSearchParams): World {
  const name = query.get("demo") ?? "";
  const shown = chosen(name);
  const others = [
    summary("s2", "w1", "Fix the flaky clock test"),
    summary("s3", "w1", "Upgrade the SQL layer"),
    summary("s4", "w1", "Explain the queue module"),
    summary("s5", "w2", "Offline search index", { activity: { state: "failed", message: "The provider refused the key" } }),
    summary("s6", "w2", "Tidy the export script"),
  ];
  const all = name === "first" ? [] : [shown.view.summary, ...others];
  const state: AppState = {
    version: "0.1.0",
    platform: "linux",
    settings: {
      theme: (query.get("theme") as Theme | null) ?? "light",
      textScale: Number(query.get("text") ?? 100) / 100,
      defaultMode: "interactive",
      defaultModel: MODEL,
      shellPolicy: "approve",
      nativeApprovals: false,
      snapshots: "shadow",
      maxIterations: 800,
      modelIdleTimeoutMs: 120_000,
      diffLayout: "unified",
    },
    providers: name === "first" ? [] : [{ name: "northlight", api: "chat", baseUrl: "https://api.northlight.example/v1", headers: {}, models: [{ modelId: "northlight-2", contextWindow: 200_000, vision: false }], key: { kind: "keychain" } }],
    workspaces: name === "first" ? [] : [workspace("w1", "harbour-api"), workspace("w2", "field-notes"), workspace("w3", "ledger-tools")],
    sessions: all,
    sandbox: SANDBOX,
    keychain: { state: "available" },
    problems: [],
  };
  const sessions = new Map(others.map((one): [string, ScriptedSession] => [one.id, { view: viewOf(one, new Story(Date.now())), older: [] }]));
  sessions.set("s1", shown);
  return { state, sessions: name === "first" ? new Map([["s1", shown]]) : new Map([["s1", shown], ...sessions]) };
}

const REPLY = "I looked at the folder. **Nothing here is real**: this reply is played by the demo.\n\n- It streams a few words at a time\n- It runs no tool\n\nSet up a model in the app to work on your own files.";

/** Plays a short reply, a few words at a time. */
export function playReply(shell: ScriptedShell, sessionId: string, input: string): void {
  const view = shell.sessions.get(sessionId)?.view;
  if (!view) return;
  const number = view.summary.turns + 20;
  const turnId = `turn-${number}`;
  const story = new Story(Date.now(), view.page.messages.at(-1)?.seq ?? 0);
  shell.summarise(sessionId, { activity: { state: "working", turn_id: turnId, started_at: story.now }, turns: view.summary.turns + 1 });
  shell.emit(sessionId, story.begin(turnId, number, input));
  shell.emit(sessionId, [story.part({ type: "partial_text", role: "assistant", event_type: "start", text: "" })]);
  const words = REPLY.split(/(?<= )/);
  let at = 0;
  const step = () => {
    const text = words.slice(at, at + 3).join("");
    at += 3;
    if (text !== "") {
      shell.emit(sessionId, [story.part({ type: "partial_text", role: "assistant", event_type: "delta", text })]);
      setTimeout(step, 40);
      return;
    }
    const end: FeedItem[] = [story.say({ type: "text", role: "assistant", text: REPLY, stop_reason: "completed" }), ...story.end(turnId)];
    shell.emit(sessionId, end);
    shell.summarise(sessionId, { activity: { state: "idle" } });
  };
  step();
}
