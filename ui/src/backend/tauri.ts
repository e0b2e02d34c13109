/**
 * Speaks to the real shell: one plugin a resource, one command a verb, one `Channel` a stream (D-15).
 *
 * The only file that imports Tauri. It decides nothing: it names commands and turns failures into `ShellError`.
 */
import { Channel, invoke } from "@tauri-apps/api/core";

import type { ErrorInfo, FeedItem, AppEvent } from "../protocol";
import { type Backend, ShellError, type TerminalChunk, type Unsubscribe } from "./backend";
import { inOrder } from "./terminal-input";

function isErrorInfo(value: unknown): value is ErrorInfo {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

/** Calls `plugin:<resource>|<verb>` with one `params` object. */
async function call<T>(resource: string, verb: string, params: object = {}, more: Record<string, unknown> = {}): Promise<T> {
  try {
    return await invoke<T>(`plugin:${resource}|${verb}`, { params, ...more });
  } catch (cause) {
    throw new ShellError(isErrorInfo(cause) ? cause : { code: "internal", message: String(cause) });
  }
}

/** A stream that can be ended: the channel goes silent at once, whatever is still on its way. */
function stream<T>(listener: (message: T) => void): { channel: Channel<T>; end: Unsubscribe } {
  const channel = new Channel<T>();
  // A channel has one receiver, which is a field of it.
  // oxlint-disable unicorn/prefer-add-event-listener
  channel.onmessage = listener;
  return {
    channel,
    end: () => {
      channel.onmessage = () => undefined;
    },
  };
  // oxlint-enable unicorn/prefer-add-event-listener
}

function toChunk(message: ArrayBuffer | Uint8Array | number[]): TerminalChunk {
  const bytes = message instanceof Uint8Array ? message : new Uint8Array(message);
  return bytes.length === 0 ? { kind: "exited" } : { kind: "bytes", bytes };
}

export const tauriBackend: Backend = {
  // The shell itself has a plugin `app`, so that ours has another name.
  app: {
    state: () => call("cairn", "state"),
    subscribe: async (listener) => {
      const { channel, end } = stream<AppEvent[]>(listener);
      await call("cairn", "subscribe", {}, { channel });
      return end;
    },
    openLink: (params) => call("cairn", "open_link", params),
    ready: () => call("cairn", "ready"),
  },
  workspace: {
    pick: () => call("workspace", "pick"),
    forget: (params) => call("workspace", "forget", params),
    startTour: () => call("workspace", "start_tour"),
  },
  session: {
    create: (params) => call("session", "create", params),
    open: (params) => call("session", "open", params),
    history: (params) => call("session", "history", params),
    subscribe: async (params, listener) => {
      const { channel, end } = stream<FeedItem[]>(listener);
      const id = await call<number>("session", "subscribe", params, { channel });
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        end();
        // The session may be gone already: then there is nothing left to end.
        call("session", "unsubscribe", { id }).catch(() => undefined);
      };
    },
    startTurn: (params) => call("session", "start_turn", params),
    unqueue: (params) => call("session", "unqueue", params),
    interrupt: (params) => call("session", "interrupt", params),
    stopCommand: (params) => call("session", "stop_command", params),
    retryNow: (params) => call("session", "retry_now", params),
    setMode: (params) => call("session", "set_mode", params),
    setModel: (params) => call("session", "set_model", params),
    rename: (params) => call("session", "rename", params),
    delete: (params) => call("session", "delete", params),
    answerQuestion: (params) => call("session", "answer_question", params),
  },
  approval: {
    answer: (params) => call("approval", "answer", params),
  },
  changes: {
    list: (params) => call("changes", "list", params),
    diff: (params) => call("changes", "diff", params),
    plan: (params) => call("changes", "plan", params),
    restore: (params) => call("changes", "restore", params),
    bringBack: (params) => call("changes", "bring_back", params),
  },
  terminal: {
    list: () => call("terminal", "list"),
    open: (params) => call("terminal", "open", params),
    attach: async (params, listener) => {
      const { channel, end } = stream<ArrayBuffer>((message) => listener(toChunk(message)));
      await call("terminal", "attach", params, { channel });
      return end;
    },
    write: inOrder((params) => call("terminal", "write", params)),
    ack: (params) => call("terminal", "ack", params),
    resize: (params) => call("terminal", "resize", params),
    close: (params) => call("terminal", "close", params),
  },
  provider: {
    test: (params) => call("provider", "test", params),
    save: (params) => call("provider", "save", params),
    delete: (params) => call("provider", "delete", params),
  },
  settings: {
    save: (params) => call("settings", "save", params),
  },
};
