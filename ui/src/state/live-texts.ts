/**
 * Text that streams, outside of React: deltas are added at once and told to whoever shows them at most once a frame.
 *
 * One object a session. The places of the text are in `session.ts`, so that a delta renders one block and nothing else.
 */
import type { FeedItem, Message } from "../protocol";

/** Text of one place at most; a running command may give more than a window can show. */
export const KEPT_CHARACTERS = 200_000;

/** Calls back before the next frame is drawn. */
export type Schedule = (flush: () => void) => void;

const nextFrame: Schedule = (flush) => {
  requestAnimationFrame(flush);
};

export type LiveKind = "text" | "thinking" | "call" | "output";

/** Names a place: one of a kind is open at a time, calls by their id. */
export function liveName(kind: LiveKind, callId: string | null): string {
  return callId === null ? kind : `${kind}:${callId}`;
}

export class LiveTexts {
  readonly #texts = new Map<string, string>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #changed = new Set<string>();
  readonly #schedule: Schedule;
  #scheduled = false;

  constructor(schedule: Schedule = nextFrame) {
    this.#schedule = schedule;
  }

  get(name: string): string {
    return this.#texts.get(name) ?? "";
  }

  subscribe(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  }

  /** Takes the deltas out of a batch of the feed. */
  apply(items: readonly FeedItem[]): void {
    for (const item of items) {
      if (item.kind === "partial") this.#partial(item.message);
      else if (item.kind === "stored") this.#whole(item.message);
    }
  }

  /** Forgets everything: the session was opened again. */
  clear(): void {
    for (const name of this.#texts.keys()) this.#tell(name);
    this.#texts.clear();
  }

  #partial(message: Message): void {
    if (message.type !== "model_msg" || (message.origin?.length ?? 0) > 0) return;
    const said = message.payload;
    switch (said.type) {
      case "partial_text":
        return this.#add(liveName("text", null), said.text, said.event_type === "start");
      case "partial_thinking":
        return this.#add(liveName("thinking", null), said.thinking, said.event_type === "start");
      case "partial_tool_call":
        return this.#add(liveName("call", said.tool_call_id), said.arguments, said.event_type === "start");
      case "partial_tool_call_output":
        return this.#add(liveName("output", said.tool_call_id), said.output, said.event_type === "start");
      default:
        return undefined;
    }
  }

  /** The whole message is there: its parts are no longer needed. */
  #whole(message: Message): void {
    if (message.type !== "model_msg" || (message.origin?.length ?? 0) > 0) return;
    const said = message.payload;
    switch (said.type) {
      case "text":
        if (said.role === "assistant") this.#texts.delete(liveName("text", null));
        break;
      case "thinking":
        this.#texts.delete(liveName("thinking", null));
        break;
      case "tool_call":
        this.#texts.delete(liveName("call", said.tool_call_id));
        break;
      case "tool_call_output":
        this.#texts.delete(liveName("output", said.tool_call_id));
        break;
      default:
        break;
    }
  }

  #add(name: string, delta: string, fresh: boolean): void {
    const before = fresh ? "" : (this.#texts.get(name) ?? "");
    const whole = before + delta;
    this.#texts.set(name, whole.length > KEPT_CHARACTERS ? whole.slice(-KEPT_CHARACTERS) : whole);
    if (delta !== "" || fresh) this.#tell(name);
  }

  #tell(name: string): void {
    this.#changed.add(name);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const one of changed) for (const listener of this.#listeners.get(one) ?? []) listener();
    });
  }
}
