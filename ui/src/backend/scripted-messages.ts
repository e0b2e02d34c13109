/** Makes messages of a trace for tests and for `npm run dev`. One object a story: it keeps the clock and the numbers. */
import type {
  ApprovalRequest,
  EventMsg,
  FeedItem,
  Message,
  ModelMsg,
  StopReason,
  StoredMessage,
  ToolDetails,
  TurnStatus,
} from "../protocol";

const NO_TOKENS = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

export class Story {
  readonly stored: StoredMessage[] = [];
  #seq: number;
  #at: number;

  /** `startAt` is Unix milliseconds; numbers go on after `lastSeq`. */
  constructor(startAt: number, lastSeq = 0) {
    this.#at = startAt;
    this.#seq = lastSeq;
  }

  /** Lets time pass. */
  wait(ms: number): this {
    this.#at += ms;
    return this;
  }

  get now(): string {
    return new Date(this.#at).toISOString();
  }

  event(event: EventMsg): FeedItem {
    return this.#put({ timestamp: this.now, type: "event_msg", payload: event });
  }

  say(said: ModelMsg): FeedItem {
    return this.#put({ timestamp: this.now, type: "model_msg", payload: said });
  }

  /** A part; it is not stored. */
  part(said: ModelMsg): FeedItem {
    return { kind: "partial", message: { timestamp: this.now, type: "model_msg", payload: said } };
  }

  #put(message: Message): FeedItem {
    this.#seq += 1;
    this.stored.push({ seq: this.#seq, message });
    return { kind: "stored", seq: this.#seq, message };
  }

  begin(turnId: string, number: number, input: string): FeedItem[] {
    return [
      this.event({ type: "turn_begin", turn_id: turnId, number, mode: "interactive", model: { provider: "northlight", model_id: "northlight-2" }, input }),
      this.say({ type: "text", role: "user", text: input }),
      this.event({ type: "request_begin" }),
    ];
  }

  answer(text: string): FeedItem {
    return this.wait(2000).say({ type: "text", role: "assistant", text, stop_reason: "completed" });
  }

  think(thinking: string, ms: number): FeedItem {
    return this.wait(ms).say({ type: "thinking", role: "assistant", thinking, stop_reason: "completed" });
  }

  call(id: string, name: string, args: object): FeedItem {
    return this.wait(300).say({ type: "tool_call", role: "assistant", name, arguments: JSON.stringify(args), tool_call_id: id, stop_reason: "completed" });
  }

  started(id: string): FeedItem {
    return this.event({ type: "tool_started", tool_call_id: id });
  }

  output(id: string, output: string, details: Partial<ToolDetails> = {}, stop: StopReason = "completed"): FeedItem {
    return this.wait(details.duration_ms ?? 40).say({
      type: "tool_call_output",
      role: "user",
      output,
      tool_call_id: id,
      stop_reason: stop,
      details: { duration_ms: 40, ...details },
    });
  }

  /** A call that ran: call, start and output. */
  ran(id: string, name: string, args: object, output: string, details: Partial<ToolDetails> = {}): FeedItem[] {
    return [this.call(id, name, args), this.started(id), this.output(id, output, details, details.exit_code ? "failed" : "completed")];
  }

  end(turnId: string, status: TurnStatus = "completed", more: Partial<Extract<EventMsg, { type: "turn_end" }>> = {}): FeedItem[] {
    return [
      this.event({ type: "token_usage", session: NO_TOKENS, request: { cache_read: 90_000, cache_write: 33_900, output: 400, total: 124_300 } }),
      this.event({ type: "turn_end", turn_id: turnId, status, iterations: 4, produced_files: [], usage: NO_TOKENS, duration_ms: 58_000, ...more }),
    ];
  }
}

/** A request for a command, complete but for what a test changes. */
export function commandRequest(id: string, sessionId: string, command: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const cwd = { requested: ".", real: "/home/mara/harbour-api", relative: "." };
  return {
    approval_id: id,
    session_id: sessionId,
    turn_id: "turn-13",
    tool_call_id: `call-${id}`,
    tool: "run_shell",
    arguments: JSON.stringify({ command }),
    effects: { class: "execute", title: `Run ${command}`, reads: [], writes: [], command: { command, cwd, timeoutMs: 600_000, background: false } },
    reason: "No rule allows this command, and commands ask in this mode",
    class: "confined",
    sandbox: { kind: "workspace", access: "write", network: "none" },
    always: { kind: "command_prefix", words: command.split(" ").slice(0, 2) },
    digest: "7c1e09d4b2f0a94f7c1e09d4b2f0a94f7c1e09d4b2f0a94f7c1e09d4b2f0a94f",
    created_at: "2026-11-30T14:52:00.000Z",
    ...more,
  };
}

/** A request for one edit with its diff. */
export function editRequest(id: string, sessionId: string, path: string, diff: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const count = (sign: string) => diff.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return commandRequest(id, sessionId, "", {
    tool: "replace_in_file",
    arguments: JSON.stringify({ path }),
    effects: {
      class: "write_local",
      title: `Edit ${path}`,
      reads: [],
      writes: [
        {
          path: { requested: path, real: `/home/mara/harbour-api/${path}`, relative: path },
          kind: "modified",
          beforeSha256: null,
          diff,
          added: count("+"),
          removed: count("-"),
        },
      ],
      command: null,
    },
    reason: "Mode Act, ask first: what changes files asks",
    always: { kind: "tool", name: "replace_in_file" },
    ...more,
  });
}
