/**
 * Folds stored messages into what the conversation shows: turns with their items, and restores between them.
 *
 * Pure: no clock, no I/O. It keeps structure only; text that still streams is in `live-texts.ts`, its places are in
 * `session.ts`. How the result becomes rows of a list is in `rows.ts`.
 */
import type {
  ApprovalOutcome,
  ApprovalRequest,
  Completeness,
  DecisionSource,
  ErrorInfo,
  EventMsg,
  GrantScope,
  Message,
  Mode,
  ModelMsg,
  ModelRef,
  NoticeLevel,
  RestoreReport,
  SnapshotEvent,
  StopReason,
  StoredMessage,
  ToolDetails,
  TurnStatus,
} from "../protocol";
import { never } from "./never";

/** How a call was decided. */
export interface CallDecision {
  outcome: ApprovalOutcome;
  source: DecisionSource | null;
  rule: string | null;
  scope: GrantScope | null;
  reason: string | null;
  at: string;
}

/** A tool call and all that is known of it. */
export interface CallItem {
  kind: "call";
  key: string;
  callId: string;
  tool: string;
  /** JSON text, exactly as the model sent it. */
  arguments: string;
  at: string;
  request: ApprovalRequest | null;
  decision: CallDecision | null;
  startedAt: string | null;
  output: string | null;
  stop: StopReason | null;
  details: ToolDetails | null;
}

/** What a notice in the conversation is about. */
export type Note =
  | { about: "retry"; attempt: number; message: string; until: string | null }
  | { about: "compacted"; ended: StopReason | null; message: string | null }
  | { about: "servers_failed"; servers: string[] }
  | { about: "mode"; mode: Mode }
  | { about: "model"; model: ModelRef }
  | { about: "subagent" }
  | { about: "engine_text"; text: string }
  | { about: "picture" }
  | { about: "notice"; level: NoticeLevel; info: ErrorInfo };

/** One visible thing inside a turn, in order. */
export type Item =
  | { kind: "ask"; key: string; text: string; at: string }
  | { kind: "say"; key: string; text: string; stop: StopReason | null }
  | { kind: "thought"; key: string; text: string; startedAt: string; at: string }
  | CallItem
  | { kind: "question"; key: string; questionId: string; question: string; answers: string[] | null }
  | { kind: "note"; key: string; note: Note; at: string };

/** How a turn ended. */
export interface TurnEnding {
  status: TurnStatus;
  durationMs: number;
  iterations: number;
  error: ErrorInfo | null;
}

/** One user input and all that it caused. */
export interface TurnBlock {
  kind: "turn";
  key: string;
  /** Null while the turn's beginning is on an older page. */
  turnId: string | null;
  number: number | null;
  startedAt: string | null;
  items: readonly Item[];
  before: Completeness | null;
  after: SnapshotEvent | null;
  ending: TurnEnding | null;
  abortReason: string | null;
}

export type Block =
  | TurnBlock
  | { kind: "restore"; key: string; report: RestoreReport }
  /** A line of the trace that can't be read. */
  | { kind: "gap"; key: string; seq: number };

export interface Timeline {
  blocks: readonly Block[];
  /** When the last message was made: the beginning of a thought. */
  lastAt: string | null;
}

export const EMPTY_TIMELINE: Timeline = { blocks: [], lastAt: null };

/** Keys under which stored messages are shown, where they took over the place of streamed text. */
export type KeyBySeq = Readonly<Record<number, string>>;

/** Folds whole pages: messages in order, with a gap for each line that can't be read. */
export function foldPage(messages: readonly StoredMessage[], gaps: readonly number[], keys: KeyBySeq): Timeline {
  const gapsLeft = gaps.toSorted((a, b) => a - b);
  let timeline = EMPTY_TIMELINE;
  for (const { seq, message } of messages) {
    while (gapsLeft[0] !== undefined && gapsLeft[0] < seq) timeline = addGap(timeline, gapsLeft.shift() ?? 0);
    timeline = foldMessage(timeline, seq, message, keys);
  }
  return gapsLeft.reduce(addGap, timeline);
}

function addGap(timeline: Timeline, seq: number): Timeline {
  return { ...timeline, blocks: [...timeline.blocks, { kind: "gap", key: `gap${seq}`, seq }] };
}

/** Folds one stored message. */
export function foldMessage(timeline: Timeline, seq: number, message: Message, keys: KeyBySeq): Timeline {
  if (message.origin && message.origin.length > 0) return timeline;
  const key = keys[seq] ?? `s${seq}`;
  const next = foldBody(timeline, key, message);
  return next.lastAt === message.timestamp ? next : { ...next, lastAt: message.timestamp };
}

function foldBody(timeline: Timeline, key: string, message: Message): Timeline {
  switch (message.type) {
    case "session_meta":
      return timeline;
    case "model_msg":
      return foldModel(timeline, key, message.timestamp, message.payload);
    case "event_msg":
      return foldEvent(timeline, key, message.timestamp, message.payload);
    default:
      return never(message, timeline);
  }
}

function foldModel(timeline: Timeline, key: string, at: string, said: ModelMsg): Timeline {
  switch (said.type) {
    case "text":
      if (said.role === "assistant") {
        return addItem(timeline, { kind: "say", key, text: said.text, stop: said.stop_reason ?? null });
      }
      if (said.sender === undefined || said.sender === "user") {
        return addItem(timeline, { kind: "ask", key, text: said.text, at });
      }
      return addNote(timeline, key, at, { about: "engine_text", text: said.text });
    case "thinking":
      if (said.thinking.trim() === "") return timeline;
      return addItem(timeline, { kind: "thought", key, text: said.thinking, startedAt: timeline.lastAt ?? at, at });
    case "tool_call":
      return addItem(timeline, newCall(key, said.tool_call_id, said.name, said.arguments, at));
    case "tool_call_output":
      return editCall(timeline, said.tool_call_id, (call) => ({
        ...call,
        output: said.output,
        stop: said.stop_reason ?? "completed",
        details: said.details ?? null,
      }));
    case "image_url":
    case "inline_data":
      return addNote(timeline, key, at, { about: "picture" });
    case "inline_thinking":
    case "partial_text":
    case "partial_thinking":
    case "partial_tool_call":
    case "partial_tool_call_output":
      return timeline;
    default:
      return never(said, timeline);
  }
}

/** A call of which nothing is known but what the model sent. */
export function newCall(key: string, callId: string, tool: string, args: string, at: string): CallItem {
  return {
    kind: "call",
    key,
    callId,
    tool,
    arguments: args,
    at,
    request: null,
    decision: null,
    startedAt: null,
    output: null,
    stop: null,
    details: null,
  };
}

function foldEvent(timeline: Timeline, key: string, at: string, event: EventMsg): Timeline {
  switch (event.type) {
    case "turn_begin":
      return addBlock(timeline, {
        ...emptyTurn(`t${event.turn_id}`),
        turnId: event.turn_id,
        number: event.number,
        startedAt: at,
      });
    case "turn_end":
      return editTurn(timeline, (turn) => ({
        ...turn,
        turnId: event.turn_id,
        items: turn.items.map(endRetry),
        ending: {
          status: event.status,
          durationMs: event.duration_ms,
          iterations: event.iterations,
          error: event.error ?? null,
        },
      }));
    case "request_begin":
      return editTurn(timeline, (turn) => (turn.items.some(isOpenRetry) ? { ...turn, items: turn.items.map(endRetry) } : turn));
    case "request_end":
      return event.retry_in_ms === undefined ? timeline : addRetry(timeline, key, at, event, event.retry_in_ms);
    case "approval_request":
      return editCall(timeline, event.tool_call_id, (call) => ({ ...call, request: event }));
    case "approval_decision":
      return editCall(timeline, event.tool_call_id, (call) => ({
        ...call,
        decision: {
          outcome: event.decision,
          source: event.source ?? null,
          rule: event.rule ?? null,
          scope: event.scope ?? null,
          reason: event.reason ?? null,
          at,
        },
      }));
    case "tool_started":
      return editCall(timeline, event.tool_call_id, (call) => ({ ...call, startedAt: at }));
    case "compaction_begin":
      return addNote(timeline, key, at, { about: "compacted", ended: null, message: null });
    case "compaction_end":
      return endCompaction(timeline, key, at, event.status, event.error_message ?? null);
    case "mcp_connect_end": {
      const servers = event.results.filter((one) => one.status !== "completed").map((one) => one.server);
      return servers.length === 0 ? timeline : addNote(timeline, key, at, { about: "servers_failed", servers });
    }
    case "abort":
      return editTurn(timeline, (turn) => ({ ...turn, abortReason: event.reason }));
    case "subagent":
      return addNote(timeline, key, at, { about: "subagent" });
    case "snapshot":
      return editTurn(timeline, (turn) =>
        event.side === "before" ? { ...turn, before: event.completeness } : { ...turn, after: event },
      );
    case "restore":
      return addBlock(timeline, { kind: "restore", key: `r${event.restore_id}`, report: event });
    case "question":
      return addItem(timeline, { kind: "question", key, questionId: event.question_id, question: event.question, answers: null });
    case "question_answer":
      return editTurn(timeline, (turn) => ({
        ...turn,
        items: turn.items.map((item) =>
          item.kind === "question" && item.questionId === event.question_id ? { ...item, answers: event.answers } : item,
        ),
      }));
    case "mode_change":
      return addNote(timeline, key, at, { about: "mode", mode: event.mode });
    case "model_change":
      return addNote(timeline, key, at, { about: "model", model: event.model });
    case "notice":
      return addNote(timeline, key, at, { about: "notice", level: event.level, info: event.info });
    case "tool_list_ready":
    case "token_usage":
    case "mcp_connect_begin":
    case "goal_finished":
    case "sandbox_state":
    case "todo":
    case "title":
      return timeline;
    default:
      return never(event, timeline);
  }
}

function emptyTurn(key: string): TurnBlock {
  return {
    kind: "turn",
    key,
    turnId: null,
    number: null,
    startedAt: null,
    items: [],
    before: null,
    after: null,
    ending: null,
    abortReason: null,
  };
}

function addBlock(timeline: Timeline, block: Block): Timeline {
  return { ...timeline, blocks: [...timeline.blocks, block] };
}

/** Edits the last turn; makes one without a beginning where a page starts inside a turn, or after a restore. */
function editTurn(timeline: Timeline, edit: (turn: TurnBlock) => TurnBlock): Timeline {
  const last = timeline.blocks.at(-1);
  if (last?.kind === "turn") {
    const edited = edit(last);
    return edited === last ? timeline : { ...timeline, blocks: [...timeline.blocks.slice(0, -1), edited] };
  }
  const index = timeline.blocks.findLastIndex((block) => block.kind === "turn");
  const found = timeline.blocks[index];
  if (found?.kind === "turn" && found.ending === null) {
    return { ...timeline, blocks: timeline.blocks.with(index, edit(found)) };
  }
  return addBlock(timeline, edit(emptyTurn(`f${timeline.blocks.length}-${timeline.lastAt ?? ""}`)));
}

function addItem(timeline: Timeline, item: Item): Timeline {
  return editTurn(timeline, (turn) => ({ ...turn, items: [...turn.items, item] }));
}

function addNote(timeline: Timeline, key: string, at: string, note: Note): Timeline {
  return addItem(timeline, { kind: "note", key, note, at });
}

/** Edits a call, wherever it is; the newest turns are looked at first. A call on an older page is left out. */
function editCall(timeline: Timeline, callId: string, edit: (call: CallItem) => CallItem): Timeline {
  for (let b = timeline.blocks.length - 1; b >= 0; b -= 1) {
    const block = timeline.blocks[b];
    if (block?.kind !== "turn") continue;
    const i = block.items.findLastIndex((item) => item.kind === "call" && item.callId === callId);
    const call = block.items[i];
    if (call?.kind !== "call") continue;
    return { ...timeline, blocks: timeline.blocks.with(b, { ...block, items: block.items.with(i, edit(call)) }) };
  }
  return timeline;
}

function isOpenRetry(item: Item): boolean {
  return item.kind === "note" && item.note.about === "retry" && item.note.until !== null;
}

function endRetry(item: Item): Item {
  if (item.kind !== "note" || item.note.about !== "retry" || item.note.until === null) return item;
  return { ...item, note: { ...item.note, until: null } };
}

type RequestEnd = Extract<EventMsg, { type: "request_end" }>;

/** Several attempts in a row are one note whose number grows. */
function addRetry(timeline: Timeline, key: string, at: string, event: RequestEnd, delayMs: number): Timeline {
  const until = new Date(Date.parse(at) + delayMs).toISOString();
  const note: Note = { about: "retry", attempt: event.attempt ?? 1, message: event.error_message ?? "", until };
  const block = timeline.blocks.at(-1);
  const last = block?.kind === "turn" ? block.items.at(-1) : undefined;
  if (last?.kind === "note" && last.note.about === "retry") {
    return editTurn(timeline, (turn) => ({ ...turn, items: [...turn.items.slice(0, -1), { ...last, note, at }] }));
  }
  return addNote(timeline, key, at, note);
}

function endCompaction(timeline: Timeline, key: string, at: string, ended: StopReason, message: string | null): Timeline {
  const note: Note = { about: "compacted", ended, message };
  let found = false;
  const edited = editTurn(timeline, (turn) => {
    const i = turn.items.findLastIndex((item) => item.kind === "note" && item.note.about === "compacted" && item.note.ended === null);
    const item = turn.items[i];
    if (item?.kind !== "note") return turn;
    found = true;
    return { ...turn, items: turn.items.with(i, { ...item, note }) };
  });
  return found ? edited : addNote(timeline, key, at, note);
}
