/**
 * Plays the shell in memory, for tests and for `npm run dev` with `?demo`. It is not in the product.
 *
 * It keeps sessions as data and lets a test send feed items; what it does by itself is little: it queues, answers
 * approvals, and plays a short reply to a message. Its world is in `scripted-demo.ts`.
 */
import type { AppEvent, AppState, FeedItem, SessionSummary, SessionView, StoredMessage } from "../protocol";
import { type Backend, ShellError } from "./backend";
import { demoWorld, playReply, type World } from "./scripted-demo";
import { scriptedChanges } from "./scripted-changes";
import { scriptedProvider } from "./scripted-provider";
import { scriptedTerminal } from "./scripted-terminal";

export interface ScriptedSession {
  view: SessionView;
  /** Messages before the view's page, oldest first. */
  older: StoredMessage[];
}

type FeedListener = (items: readonly FeedItem[]) => void;

export class ScriptedShell {
  readonly state: AppState;
  readonly sessions: Map<string, ScriptedSession>;
  /** Every command with its parameters, in order. */
  readonly calls: { command: string; params: unknown }[] = [];
  readonly #feeds = new Map<string, Set<FeedListener>>();
  readonly #appListeners = new Set<(events: readonly AppEvent[]) => void>();

  constructor(world: World) {
    this.state = world.state;
    this.sessions = world.sessions;
  }

  /** Sends items to whoever follows a session, and keeps what is stored. */
  emit(sessionId: string, items: readonly FeedItem[]): void {
    const session = this.sessions.get(sessionId);
    for (const item of items) {
      if (item.kind === "stored") session?.view.page.messages.push({ seq: item.seq, message: item.message });
      if (item.kind === "summary" && session) {
        session.view.summary = item.summary;
        this.emitApp([{ kind: "session", summary: item.summary }]);
      }
    }
    for (const listener of this.#feeds.get(sessionId) ?? []) listener(items);
  }

  emitApp(events: readonly AppEvent[]): void {
    for (const listener of this.#appListeners) listener(events);
  }

  /** Changes a session's summary and tells it. */
  summarise(sessionId: string, change: Partial<SessionSummary>): void {
    const session = this.#session(sessionId);
    this.emit(sessionId, [{ kind: "summary", summary: { ...session.view.summary, ...change } }]);
  }

  #session(id: string): ScriptedSession {
    const session = this.sessions.get(id);
    if (!session) throw new ShellError({ code: "not_found", message: "This session does not exist any more." });
    return session;
  }

  #log(command: string, params: unknown): void {
    this.calls.push({ command, params });
  }

  #requeue(sessionId: string, queue: SessionView["queue"]): void {
    this.#session(sessionId).view.queue = queue;
    this.emit(sessionId, [{ kind: "queue", queue }]);
  }

  backend(): Backend {
    const changes = scriptedChanges([...(this.sessions.values().next().value?.view.turns ?? [])], (turns, restores) => {
      for (const id of this.#feeds.keys()) this.emit(id, [{ kind: "turns", turns, restores }]);
    });
    const providers = scriptedProvider(this.state.providers, (entries) => this.emitApp([{ kind: "providers", providers: entries }]));
    return {
      app: this.#app(),
      workspace: this.#workspace(),
      session: this.#sessionPart(),
      approval: {
        answer: async (params) => {
          this.#log("approval.answer", params);
          const { view } = this.#session(params.sessionId);
          view.pending = view.pending.filter((one) => one.approval_id !== params.approvalId);
          const callId = `call-${params.approvalId}`;
          const last = view.page.messages.at(-1)?.seq ?? 0;
          const allowed = params.answer.kind !== "deny" && params.answer.kind !== "stop";
          const decision: FeedItem = {
            kind: "stored",
            seq: last + 1,
            message: {
              timestamp: new Date().toISOString(),
              type: "event_msg",
              payload: { type: "approval_decision", decision: allowed ? "allow" : "deny", tool_call_id: callId, source: "user", scope: "once" },
            },
          };
          this.emit(params.sessionId, [decision]);
          return { applied: true };
        },
      },
      changes: changes.changes,
      terminal: scriptedTerminal().terminal,
      provider: providers.provider,
      settings: {
        save: async ({ settings }) => {
          this.#log("settings.save", settings);
          this.emitApp([{ kind: "settings", settings }]);
          return settings;
        },
      },
    };
  }

  #app(): Backend["app"] {
    return {
      state: async () => this.state,
      subscribe: async (listener) => {
        this.#appListeners.add(listener);
        return () => this.#appListeners.delete(listener);
      },
      openLink: async (params) => this.#log("app.open_link", params),
      ready: async () => this.#log("app.ready", {}),
    };
  }

  #workspace(): Backend["workspace"] {
    return {
      pick: async () => this.state.workspaces[0] ?? null,
      forget: async (params) => this.#log("workspace.forget", params),
      startTour: async () => [...this.sessions.values()][0]?.view ?? this.#session("none").view,
    };
  }

  #sessionPart(): Backend["session"] {
    return {
      create: async (params) => {
        this.#log("session.create", params);
        const first = [...this.sessions.values()].find((one) => one.view.page.messages.length === 0) ?? [...this.sessions.values()][0];
        if (!first) throw new ShellError({ code: "not_found", message: "There is no workspace." });
        return first.view;
      },
      open: async ({ sessionId }) => structuredClone(this.#session(sessionId).view),
      history: async ({ sessionId, before, limit }) => {
        const older = this.#session(sessionId).older.filter((one) => one.seq < before);
        return { messages: older.slice(-limit), hasMore: older.length > limit, gaps: [] };
      },
      subscribe: async ({ sessionId }, listener) => {
        const listeners = this.#feeds.get(sessionId) ?? new Set();
        this.#feeds.set(sessionId, listeners);
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      startTurn: async (params) => {
        this.#log("session.start_turn", params);
        const { view } = this.#session(params.sessionId);
        const idle = view.summary.activity.state === "idle" || view.summary.activity.state === "failed";
        if (idle) playReply(this, params.sessionId, params.text);
        else this.#requeue(params.sessionId, [...view.queue, { id: `queued-${view.queue.length + 1}`, text: params.text }]);
      },
      unqueue: async ({ sessionId, queuedId }) => {
        const { queue } = this.#session(sessionId).view;
        this.#requeue(sessionId, queue.filter((one) => one.id !== queuedId));
        return queue.find((one) => one.id === queuedId)?.text ?? "";
      },
      interrupt: async (params) => {
        this.#log("session.interrupt", params);
        this.summarise(params.sessionId, { activity: { state: "idle" } });
      },
      stopCommand: async (params) => this.#log("session.stop_command", params),
      retryNow: async (params) => this.#log("session.retry_now", params),
      setMode: async ({ sessionId, mode }) => {
        this.summarise(sessionId, { mode });
        return mode;
      },
      setModel: async ({ sessionId, model }) => this.summarise(sessionId, { model }),
      rename: async ({ sessionId, title }) => this.summarise(sessionId, { title }),
      delete: async ({ sessionId }) => {
        this.sessions.delete(sessionId);
        this.emitApp([{ kind: "session_gone", sessionId }]);
      },
      answerQuestion: async (params) => this.#log("session.answer_question", params),
    };
  }
}

/** The backend for `npm run dev`; `?demo=<name>` chooses what is shown. */
export function demoBackend(query: URLSearchParams): Backend {
  return new ScriptedShell(demoWorld(query)).backend();
}
