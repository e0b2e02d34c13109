/**
 * Folds stored messages into what the conversation shows.
 *
 * Pure: no clock, no I/O. It keeps structure only; text that still streams is in `live-texts.ts`, its places are in
 * `session.ts`. The single edits are in `timeline-edits.ts`.
 */
import type { EventMsg, Message, ModelMsg, StoredMessage } from "../protocol";
import { never } from "./never";
import { EMPTY_TIMELINE, newCall, type Timeline } from "./timeline";
import { addBlock, addGap, addItem, addNote, addRetry, addTold, editCall, editTurn, emptyTurn, endCompaction, endRetries } from "./timeline-edits";

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
      return addTold(timeline, key, at, said.text);
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
        items: endRetries(turn.items),
        ending: {
          status: event.status,
          durationMs: event.duration_ms,
          iterations: event.iterations,
          error: event.error ?? null,
        },
      }));
    case "request_begin":
      return editTurn(timeline, (turn) => {
        const items = endRetries(turn.items);
        return items === turn.items ? turn : { ...turn, items };
      });
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
      return addBlock(timeline, { kind: "restore", key: `r${event.restore_id}`, report: event, told: null });
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
