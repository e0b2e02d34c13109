/**
 * What the conversation shows: turns with their items, and restores between them.
 *
 * The shape only. How messages become it is in `timeline-fold.ts`, how it becomes rows of a list in `rows.ts`.
 */
import type {
  ApprovalOutcome,
  ApprovalRequest,
  Completeness,
  DecisionSource,
  ErrorInfo,
  GrantScope,
  Mode,
  ModelRef,
  NoticeLevel,
  RestoreReport,
  SnapshotEvent,
  StopReason,
  ToolDetails,
  TurnStatus,
} from "../protocol";

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
  /** `told`: what the model is told of it. */
  | { kind: "restore"; key: string; report: RestoreReport; told: string | null }
  /** A line of the trace that can't be read. */
  | { kind: "gap"; key: string; seq: number };

export interface Timeline {
  blocks: readonly Block[];
  /** When the last message was made: the beginning of a thought. */
  lastAt: string | null;
}

export const EMPTY_TIMELINE: Timeline = { blocks: [], lastAt: null };

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
