/** What the window shows of a session, folded from its feed (P-12, P-22, Z-39, Z-44, P-115). */
import { expect, it } from "vitest";

import { commandRequest, Story } from "../backend/scripted-messages";
import type { FeedItem, SessionView } from "../protocol";
import { conversationRows, type Row, runningTurn } from "./rows";
import { openState, reduceFeed, type SessionState, withOlder } from "./session";
import type { TurnBlock } from "./timeline";
import { editsSoFar } from "./turn-edits";

const WORKING = { state: "working" as const, turn_id: "t1", started_at: "2026-11-30T14:00:00.000Z" };

function view(more: Partial<SessionView> = {}): SessionView {
  return {
    summary: {
      id: "s1",
      workspaceId: "w1",
      title: "A session",
      model: null,
      mode: "interactive",
      activity: WORKING,
      createdAt: "2026-11-30T14:00:00.000Z",
      lastActiveAt: "2026-11-30T14:00:00.000Z",
      turns: 1,
      usage: { cache_read: 0, cache_write: 0, output: 0, total: 0 },
    },
    page: { messages: [], hasMore: false, gaps: [] },
    turns: [],
    restores: [],
    pending: [],
    questions: [],
    todos: [],
    sandbox: { backend: "none", enforced: false, reason: "" },
    queue: [],
    interruptedCalls: [],
    ...more,
  };
}

const story = () => new Story(Date.UTC(2026, 10, 30, 14));

function fold(items: readonly FeedItem[], start = openState(view())): SessionState {
  const { state, resync } = reduceFeed(start, items);
  expect(resync).toBe(false);
  return state;
}

/** A short line a row: enough to see order and kind. */
function lines(state: SessionState, shown: string | null = null): string[] {
  return conversationRows(state, shown).map((row) => {
    switch (row.kind) {
      case "item":
        return row.item.kind === "say" || row.item.kind === "ask" ? `${row.item.kind}: ${row.item.text}` : row.item.kind;
      case "step":
        return `step: ${row.call.tool}${row.running ? " running" : ""}${row.place.first ? " first" : ""}${row.place.last ? " last" : ""}`;
      case "live":
        return `live: ${row.segment.kind}`;
      case "card":
        return `card: ${row.request.approval_id} ${row.index + 1}/${row.count}`;
      default:
        return row.kind;
    }
  });
}

const text = (event_type: "start" | "delta" | "stop", delta = "") => ({ type: "partial_text" as const, role: "assistant" as const, event_type, text: delta });

it("shows a turn in the order in which it happened", () => {
  const s = story();
  const state = fold([
    ...s.begin("t1", 1, "do it"),
    s.think("hm", 3000),
    ...s.ran("c1", "read_file", { path: "a" }, "x"),
    ...s.ran("c2", "run_shell", { command: "ls" }, "x"),
    s.answer("done"),
    ...s.end("t1"),
  ]);
  expect(lines({ ...state, summary: { ...state.summary, activity: { state: "idle" } } })).toEqual([
    "ask: do it",
    "thought",
    "step: read_file first",
    "step: run_shell last",
    "say: done",
    "stone",
  ]);
});

it("keeps the key of streamed text when the whole message takes its place (P-12)", () => {
  const s = story();
  const streaming = fold([...s.begin("t1", 1, "go"), s.part(text("start")), s.part(text("delta", "Hel"))]);
  expect(lines(streaming)).toEqual(["ask: go", "live: text", "stone"]);
  const live = conversationRows(streaming, null)[1];
  const whole = fold([s.part(text("stop")), s.answer("Hello")], streaming);
  expect(lines(whole)).toEqual(["ask: go", "say: Hello", "stone"]);
  expect(conversationRows(whole, null)[1]?.key).toBe(live?.key);
  // An older page in front changes no key either.
  const older = withOlder(whole, { messages: [], hasMore: false, gaps: [] });
  expect(conversationRows(older, null)[1]?.key).toBe(live?.key);
});

it("does not change the state for a delta", () => {
  const s = story();
  const streaming = fold([...s.begin("t1", 1, "go"), s.part(text("start"))]);
  expect(reduceFeed(streaming, [s.part(text("delta", "more"))]).state).toBe(streaming);
});

it("shows text whose beginning was missed", () => {
  const s = story();
  expect(lines(fold([...s.begin("t1", 1, "go"), s.part(text("delta", "lo"))]))).toEqual(["ask: go", "live: text", "stone"]);
});

it("drops what streamed when its request failed, and counts the attempts in one note (P-22)", () => {
  const s = story();
  const fail = (attempt: number) => s.event({ type: "request_end", status: "failed", error_message: "reset", attempt, retry_in_ms: 5000 });
  const failed = fold([...s.begin("t1", 1, "go"), s.part(text("start")), s.part(text("delta", "Hel")), fail(1)]);
  expect(lines(failed)).toEqual(["ask: go", "note", "stone"]);
  const again = fold([s.event({ type: "request_begin" }), fail(2)], failed);
  const notes = lastTurn(again).items.flatMap((item) => (item.kind === "note" ? [item.note] : []));
  expect(notes).toEqual([{ about: "retry", attempt: 2, message: "reset", until: "2026-11-30T14:00:05.000Z" }]);
  const going = fold([s.event({ type: "request_begin" })], again);
  expect(lastTurn(going).items.at(-1)).toMatchObject({ note: { about: "retry", until: null } });
});

function lastTurn(state: SessionState): TurnBlock {
  const found = state.timeline.blocks.findLast((block) => block.kind === "turn");
  if (found?.kind !== "turn") throw new Error("no turn");
  return found;
}

it("keeps each request until it is decided, and shows the chosen one (Z-44)", () => {
  const s = story();
  const request = (id: string) => s.event({ type: "approval_request", ...commandRequest(id, "s1", `run ${id}`) });
  const asked = fold([...s.begin("t1", 1, "go"), s.call("call-a", "run_shell", {}), s.call("call-b", "run_shell", {}), request("a"), request("b")]);
  expect(lines(asked)).toEqual(["ask: go", "step: run_shell running first", "step: run_shell running last", "card: a 1/2", "waiting", "stone"]);
  expect(lines(asked, "b")[3]).toBe("card: b 2/2");
  const decided = fold([s.event({ type: "approval_decision", decision: "deny", tool_call_id: "call-a", source: "user", reason: "no" })], asked);
  expect(decided.pending.map((one) => one.approval_id)).toEqual(["b"]);
  expect(lastTurn(decided).items[1]).toMatchObject({ decision: { outcome: "deny", source: "user", reason: "no" } });
  expect(fold(s.end("t1", "interrupted"), decided).pending).toEqual([]);
});

it("keeps a question until it is answered (Z-39)", () => {
  const s = story();
  const asked = fold([
    ...s.begin("t1", 1, "go"),
    s.event({ type: "question", question_id: "q", tool_call_id: "c", question: "Which?", options: ["a"], allow_text: false, multi: false }),
  ]);
  expect(asked.questions).toEqual([{ questionId: "q", toolCallId: "c", question: "Which?", options: ["a"], allowText: false, multi: false }]);
  const answered = fold([s.event({ type: "question_answer", question_id: "q", answers: ["a"] })], asked);
  expect(answered.questions).toEqual([]);
  expect(lastTurn(answered).items.at(-1)).toMatchObject({ kind: "question", answers: ["a"] });
});

it("asks for the session again when a message is missing, and ignores what it has", () => {
  const s = story();
  const items = [...s.begin("t1", 1, "go"), s.answer("one"), s.answer("two")];
  const state = fold(items.slice(0, 3));
  expect(reduceFeed(state, [items[4]!]).resync).toBe(true);
  expect(reduceFeed(state, items.slice(0, 3)).state).toBe(state);
  expect(reduceFeed(state, [{ kind: "resync" }]).resync).toBe(true);
});

it("joins a turn that begins on an older page", () => {
  const s = story();
  s.begin("t1", 1, "go");
  s.answer("one");
  s.answer("two");
  s.end("t1");
  const state = openState(view({ page: { messages: s.stored.slice(4), hasMore: true, gaps: [] } }));
  expect(state.timeline.blocks).toHaveLength(1);
  const whole = withOlder(state, { messages: s.stored.slice(0, 4), hasMore: false, gaps: [] });
  expect(whole.timeline.blocks).toHaveLength(1);
  expect(lastTurn(whole)).toMatchObject({ turnId: "t1", number: 1 });
  expect(lastTurn(whole).items.map((item) => item.kind)).toEqual(["ask", "say", "say"]);
  expect(whole.hasMore).toBe(false);
});

it("folds the same whether messages come in a page or in the feed", () => {
  const s = story();
  const items = [...s.begin("t1", 1, "go"), ...s.ran("c1", "run_shell", { command: "ls" }, "x", { exit_code: 1 }), s.answer("done"), ...s.end("t1")];
  expect(fold(items).timeline).toEqual(openState(view({ page: { messages: s.stored, hasMore: false, gaps: [] } })).timeline);
});

it("leaves messages of a subagent out", () => {
  const s = story();
  const items = s.begin("t1", 1, "go");
  const foreign = s.answer("inner");
  if (foreign.kind === "stored") foreign.message.origin = ["child"];
  expect(lines(fold([...items, foreign]))).toEqual(["ask: go", "stone"]);
});

it("shows a line that can't be read as a gap", () => {
  const s = story();
  s.begin("t1", 1, "go");
  s.answer("done");
  s.end("t1");
  const state = openState(view({ page: { messages: s.stored.filter((one) => one.seq !== 4), hasMore: false, gaps: [4] } }));
  expect(state.timeline.blocks.map((block) => block.kind)).toEqual(["turn", "gap"]);
  // What comes after the gap still belongs to its turn.
  expect(state.timeline.blocks[0]).toMatchObject({ ending: { status: "completed" } });
});

it("sums the edits of a running turn by path", () => {
  const s = story();
  const edit = (id: string, added: number) => s.ran(id, "replace_in_file", {}, "ok", { edits: [{ path: "a.rs", kind: "modified", added, removed: 1 }] });
  const state = fold([...s.begin("t1", 1, "go"), ...edit("c1", 2), ...edit("c2", 3)]);
  const turn = runningTurn(state);
  expect(turn && editsSoFar(turn)).toEqual([{ path: "a.rs", kind: "modified", added: 5, removed: 2 }]);
});

it("keeps rows of turns that did not change", () => {
  const s = story();
  const first = fold([...s.begin("t1", 1, "go"), s.answer("a"), ...s.end("t1"), ...s.begin("t2", 2, "on")]);
  const second = fold([s.answer("b")], first);
  const of = (state: SessionState): Row[] => conversationRows(state, null);
  expect(of(second)[0]).toBe(of(first)[0]);
  expect(of(second)[1]).toBe(of(first)[1]);
});

it("follows the queue, the title, the plan and the context", () => {
  const s = story();
  const queue = [{ id: "q1", text: "next" }];
  const todos = [{ id: "1", text: "a", status: "done" as const }];
  const state = fold([
    { kind: "queue", queue },
    s.event({ type: "todo", items: todos }),
    s.event({ type: "title", title: "Named", source: "auto" }),
    s.event({ type: "token_usage", session: { cache_read: 0, cache_write: 0, output: 0, total: 9 }, request: { cache_read: 1, cache_write: 2, output: 3, total: 6 } }),
  ]);
  expect([state.queue, state.todos, state.summary.title, state.contextTokens]).toEqual([queue, todos, "Named", 6]);
});

it("tells a turn in which Cairn was closed, with the calls that have no result (Z-66)", () => {
  const s = story();
  s.begin("t1", 1, "go");
  s.call("c1", "run_shell", { command: "make" });
  s.started("c1");
  s.end("t1", "interrupted");
  const record = {
    turnId: "t1", number: 1, before: "a", after: null, state: "crashed" as const, completeness: { state: "protected" as const },
    summary: { files: 1, added: 1, removed: 0 }, standing: { state: "active" as const }, startedAt: "", endedAt: null,
  };
  const idle = view({ page: { messages: s.stored, hasMore: false, gaps: [] }, turns: [record], interruptedCalls: ["c1"] });
  idle.summary.activity = { state: "idle" };
  const rows = conversationRows(openState(idle), null);
  expect(rows.map((row) => row.kind)).toEqual(["item", "step", "crash", "stone"]);
  expect(rows[2]).toMatchObject({ last: true, calls: [{ callId: "c1" }] });
});
