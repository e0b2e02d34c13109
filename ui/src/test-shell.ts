/** A shell for tests, made of the parts that a test plays; whatever else is called fails by name. */
import axe from "axe-core";

import { type Backend, ShellError } from "./backend/backend";
import type { AppState, SessionView, Settings } from "./protocol";
import { setAppState } from "./state/app";
import { connectShell } from "./state/shell";
import { openState } from "./state/session";
import { useSession } from "./state/session-store";

/** A resource that refuses by name what is not played. */
function resource(name: string, part: object): object {
  return new Proxy(part, {
    get: (played, verb) => Reflect.get(played, verb) ?? (() => Promise.reject(new ShellError({ code: "unsupported", message: `${name}.${String(verb)} is not played` }))),
  });
}

/** Connects a shell that has only these parts. */
export function playShell(parts: { [Resource in keyof Backend]?: Partial<Backend[Resource]> }): void {
  connectShell(new Proxy({} as Backend, { get: (_, name) => resource(String(name), Reflect.get(parts, name) ?? {}) }));
}

export const TEST_SETTINGS: Settings = {
  theme: "system",
  textScale: 1,
  defaultMode: "interactive",
  defaultModel: null,
  shellPolicy: "approve",
  nativeApprovals: false,
  snapshots: "shadow",
  maxIterations: 800,
  modelIdleTimeoutMs: 120_000,
  diffLayout: "unified",
};

/** Sets what the window knows of the app. */
export function playApp(more: Partial<AppState> = {}): AppState {
  const state: AppState = {
    version: "0.1.0",
    platform: "linux",
    settings: TEST_SETTINGS,
    providers: [],
    workspaces: [],
    sessions: [],
    sandbox: { backend: "bubblewrap", enforced: true, reason: "Commands write inside the folder only and have no network" },
    keychain: { state: "available" },
    problems: [],
    ...more,
  };
  setAppState(state);
  return state;
}

/** Opens a session with these turns and restores. */
export function playSession(turns: SessionView["turns"], restores: SessionView["restores"]): void {
  const view: SessionView = {
    summary: {
      id: "session-1",
      workspaceId: "workspace-1",
      title: "Retry failed webhook deliveries",
      model: null,
      mode: "interactive",
      activity: { state: "idle" },
      createdAt: "2026-11-30T14:00:00.000Z",
      lastActiveAt: "2026-11-30T15:00:00.000Z",
      turns: turns.length,
      usage: { cache_read: 0, cache_write: 0, output: 0, total: 0 },
    },
    page: { messages: [], hasMore: false, gaps: [] },
    turns,
    restores,
    pending: [],
    questions: [],
    todos: [],
    sandbox: { backend: "bubblewrap", enforced: true, reason: "" },
    queue: [],
    interruptedCalls: [],
  };
  const before = useSession.getState().state;
  const state = openState(view);
  useSession.setState({ id: view.summary.id, state: before === null ? state : { ...before, turns, restores }, error: null });
}

/** Runs axe on what is drawn and returns each violation in a line. Contrast needs pixels and is checked by the tokens' script. */
export async function violations(node: Element): Promise<string[]> {
  const result = await axe.run(node, { rules: { "color-contrast": { enabled: false }, region: { enabled: false } } });
  return result.violations.map((violation) => `${violation.id}: ${violation.nodes.map((one) => one.html).join(" | ")}`);
}
