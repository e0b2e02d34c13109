/**
 * Folds the feed of a session into what the window shows of it. Pure: no clock, no I/O, no store.
 *
 * It keeps where text streams, not the text itself: that is in `live-texts.ts`, so that a delta changes no state.
 * The conversation's structure is folded by `timeline-fold.ts`; who opens a session is in `session-store.ts`.
 */
import type {
  ApprovalRequest,
  ContextWindow,
  EventMsg,
  FeedItem,
  HistoryPage,
  Message,
  ModelMsg,
  PendingQuestion,
  QueuedInput,
  RestoreRecord,
  SandboxState,
  SessionSummary,
  SessionView,
  StoredMessage,
  TodoItem,
  TurnRecord,
} from "../protocol";
import { never } from "./never";
import type { Timeline } from "./timeline";
import { foldMessage, foldPage, type KeyBySeq } from "./timeline-fold";

/** A place where text streams: the model's answer, its thinking, or a call that it is writing. */
export interface LiveSegment {
  key: string;
  kind: "text" | "thinking" | "call";
  /** For a call. */
  callId: string | null;
  tool: string;
}

export interface SessionState {
  summary: SessionSummary;
  timeline: Timeline;
  live: readonly LiveSegment[];
  /** Makes keys for live segments. */
  liveCount: number;
  keys: KeyBySeq;
  /** All loaded messages, to fold again when an older page comes in front. */
  messages: readonly StoredMessage[];
  gaps: readonly number[];
  firstSeq: number;
  lastSeq: number;
  hasMore: boolean;
  turns: readonly TurnRecord[];
  restores: readonly RestoreRecord[];
  pending: readonly ApprovalRequest[];
  questions: readonly PendingQuestion[];
  todos: readonly TodoItem[];
  sandbox: SandboxState;
  queue: readonly QueuedInput[];
  interruptedCalls: readonly string[];
  /** Tokens that the last request held. */
  contextTokens: number | null;
  contextWindow: number | null;
}

/** Makes the state out of what the shell answers to `session.open`. */
export function openState(view: SessionView): SessionState {
  const { messages, hasMore, gaps } = view.page;
  const state: SessionState = {
    summary: view.summary,
    timeline: foldPage(messages, gaps, {}),
    live: [],
    liveCount: 0,
    keys: {},
    messages,
    gaps,
    firstSeq: messages[0]?.seq ?? 1,
    lastSeq: messages.at(-1)?.seq ?? 0,
    hasMore,
    turns: view.turns,
    restores: view.restores,
    pending: view.pending,
    questions: view.questions,
    todos: view.todos,
    sandbox: view.sandbox,
    queue: view.queue,
    interruptedCalls: view.interruptedCalls,
    contextTokens: null,
    contextWindow: null,
  };
  return messages.reduce((folded, { message }) => foldMeters(folded, message), state);
}

/** Puts an older page in front. */
export function withOlder(state: SessionState, page: HistoryPage): SessionState {
  const older = page.messages.filter((one) => one.seq < state.firstSeq);
  const messages = [...older, ...state.messages];
  const gaps = [...new Set([...page.gaps, ...state.gaps])];
  return {
    ...state,
    messages,
    gaps,
    firstSeq: messages[0]?.seq ?? state.firstSeq,
    hasMore: page.hasMore && older.length > 0,
    timeline: foldPage(messages, gaps, state.keys),
  };
}

/** What a batch of the feed led to. */
export type FeedResult = { state: SessionState; resync: boolean };

/** Folds a batch, in order. `resync` tells that something was missed and the session must be opened again. */
export function reduceFeed(state: SessionState, items: readonly FeedItem[]): FeedResult {
  let current = state;
  for (const item of items) {
    if (item.kind === "resync" || (item.kind === "stored" && item.seq > current.lastSeq + 1)) {
      return { state: current, resync: true };
    }
    current = reduceItem(current, item);
  }
  return { state: current, resync: false };
}

function reduceItem(state: SessionState, item: Exclude<FeedItem, { kind: "resync" }>): SessionState {
  switch (item.kind) {
    case "stored":
      return item.seq <= state.lastSeq ? state : reduceStored(state, item.seq, item.message);
    case "partial":
      return reducePartial(state, item.message);
    case "summary":
      return { ...state, summary: item.summary };
    case "queue":
      return { ...state, queue: item.queue };
    case "turns":
      return { ...state, turns: item.turns, restores: item.restores };
    default:
      return never(item, state);
  }
}

function reduceStored(state: SessionState, seq: number, message: Message): SessionState {
  const replaced = replacedSegment(state, message);
  const keys = replaced ? { ...state.keys, [seq]: replaced.key } : state.keys;
  const next: SessionState = {
    ...state,
    keys,
    live: replaced ? state.live.filter((segment) => segment !== replaced) : state.live,
    messages: [...state.messages, { seq, message }],
    lastSeq: seq,
    firstSeq: state.messages.length === 0 ? seq : state.firstSeq,
    timeline: foldMessage(state.timeline, seq, message, keys),
  };
  return foldMeters(foldWaiting(next, message), message);
}

/** The whole message takes over the place of what streamed. */
function replacedSegment(state: SessionState, message: Message): LiveSegment | undefined {
  if (message.type !== "model_msg" || isForeign(message)) return undefined;
  const said = message.payload;
  switch (said.type) {
    case "text":
      return said.role === "assistant" ? state.live.find((segment) => segment.kind === "text") : undefined;
    case "thinking":
      return state.live.find((segment) => segment.kind === "thinking");
    case "tool_call":
      return state.live.find((segment) => segment.kind === "call" && segment.callId === said.tool_call_id);
    default:
      return undefined;
  }
}

/** Messages of a subagent are not part of this conversation. */
export function isForeign(message: Message): boolean {
  return message.origin !== undefined && message.origin.length > 0;
}

function reducePartial(state: SessionState, message: Message): SessionState {
  if (message.type !== "model_msg" || isForeign(message)) return state;
  const place = segmentOf(message.payload);
  if (!place || state.live.some((segment) => isSame(segment, place))) return state;
  const key = `l${state.lastSeq}-${state.liveCount}`;
  return { ...state, liveCount: state.liveCount + 1, live: [...state.live, { ...place, key }] };
}

type Place = Omit<LiveSegment, "key">;

function segmentOf(said: ModelMsg): Place | null {
  switch (said.type) {
    case "partial_text":
      // A stop without a start has nothing to show: the whole message follows at once.
      return said.role === "assistant" && said.event_type !== "stop" ? { kind: "text", callId: null, tool: "" } : null;
    case "partial_thinking":
      return said.event_type === "stop" ? null : { kind: "thinking", callId: null, tool: "" };
    case "partial_tool_call":
      return said.event_type === "stop" ? null : { kind: "call", callId: said.tool_call_id, tool: said.name };
    default:
      return null;
  }
}

function isSame(segment: LiveSegment, place: Place): boolean {
  return segment.kind === place.kind && segment.callId === place.callId;
}

/** Keeps what waits for the user. */
function foldWaiting(state: SessionState, message: Message): SessionState {
  if (message.type !== "event_msg" || isForeign(message)) return state;
  const event = message.payload;
  switch (event.type) {
    case "approval_request":
      return { ...state, pending: [...state.pending.filter((one) => one.approval_id !== event.approval_id), event] };
    case "approval_decision":
      return { ...state, pending: state.pending.filter((one) => one.tool_call_id !== event.tool_call_id) };
    case "question":
      return { ...state, questions: [...state.questions.filter((one) => one.questionId !== event.question_id), toQuestion(event)] };
    case "question_answer":
      return { ...state, questions: state.questions.filter((one) => one.questionId !== event.question_id) };
    case "turn_begin":
      return { ...state, live: [], interruptedCalls: [] };
    case "turn_end":
      return { ...state, live: [], pending: [], questions: [] };
    case "request_end":
      // What streamed in a request that failed is thrown away by the engine, or was stored just before.
      return state.live.length === 0 ? state : { ...state, live: [] };
    default:
      return state;
  }
}

function toQuestion(event: Extract<EventMsg, { type: "question" }>): PendingQuestion {
  return {
    questionId: event.question_id,
    toolCallId: event.tool_call_id,
    question: event.question,
    options: event.options,
    allowText: event.allow_text,
    multi: event.multi,
  };
}

/** Keeps the meters and the small facts beside the conversation. */
function foldMeters(state: SessionState, message: Message): SessionState {
  if (isForeign(message)) return state;
  if (message.type === "session_meta") {
    return { ...state, contextWindow: windowTokens(message.payload.model_context_window) };
  }
  if (message.type !== "event_msg") return state;
  const event = message.payload;
  switch (event.type) {
    case "token_usage":
      return { ...state, contextTokens: event.request.total };
    case "sandbox_state":
      return { ...state, sandbox: { backend: event.backend, enforced: event.enforced, reason: event.reason } };
    case "todo":
      return { ...state, todos: event.items };
    case "title":
      return { ...state, summary: { ...state.summary, title: event.title } };
    default:
      return state;
  }
}

function windowTokens(window: ContextWindow): number | null {
  return typeof window === "number" ? window : null;
}

/** Returns whether a turn runs or waits. */
export function isBusy(summary: SessionSummary): boolean {
  return summary.activity.state === "working" || summary.activity.state === "needs_you";
}
