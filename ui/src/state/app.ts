/**
 * What the window knows of the app: settings, providers, workspaces, sessions. A fold of `AppState` and `AppEvent`.
 *
 * The content of a session is in `session-store.ts`.
 */
import { create } from "zustand";

import type { AppEvent, AppState, ModelRef, ProviderEntry, SessionSummary, WorkspaceSummary } from "../protocol";
import { never } from "./never";

export interface AppStore {
  /** Null until the shell has answered. */
  state: AppState | null;
  /** Sessions whose turn ended while they were not shown: ready to review. */
  unseen: ReadonlySet<string>;
}

export const useApp = create<AppStore>()(() => ({ state: null, unseen: new Set() }));

/** Sets the whole state, as it was read from the shell. */
export function setAppState(state: AppState): void {
  useApp.setState({ state });
}

/** Applies a batch of events, in order. `shown` is the session that the user looks at. */
export function applyAppEvents(events: readonly AppEvent[], shown: string | null): void {
  const { state, unseen } = useApp.getState();
  if (!state) return;
  const next = events.reduce(reduceApp, state);
  useApp.setState({ state: next, unseen: unseenAfter(state.sessions, next.sessions, unseen, shown) });
}

/** Returns the sessions that are ready to review: their turn ended while another one was shown. Pure. */
export function unseenAfter(
  before: readonly SessionSummary[],
  after: readonly SessionSummary[],
  unseen: ReadonlySet<string>,
  shown: string | null,
): ReadonlySet<string> {
  if (before === after) return unseen;
  const worked = new Set(before.filter((one) => one.activity.state === "working").map((one) => one.id));
  const ids = after
    .filter((one) => one.id !== shown && one.activity.state === "idle" && (worked.has(one.id) || unseen.has(one.id)))
    .map((one) => one.id);
  return new Set(ids);
}

/** Folds one event into the state. Pure. */
export function reduceApp(state: AppState, event: AppEvent): AppState {
  switch (event.kind) {
    case "session":
      return { ...state, sessions: putSession(state.sessions, event.summary) };
    case "session_gone":
      return { ...state, sessions: state.sessions.filter((session) => session.id !== event.sessionId) };
    case "workspaces":
      return { ...state, workspaces: event.workspaces };
    case "settings":
      return { ...state, settings: event.settings };
    case "providers":
      return { ...state, providers: event.providers };
    case "sandbox":
      return { ...state, sandbox: event.sandbox };
    default:
      return never(event, state);
  }
}

function putSession(sessions: readonly SessionSummary[], summary: SessionSummary): SessionSummary[] {
  const rest = sessions.filter((session) => session.id !== summary.id);
  const at = rest.findIndex((session) => session.lastActiveAt < summary.lastActiveAt);
  return at === -1 ? [...rest, summary] : [...rest.slice(0, at), summary, ...rest.slice(at)];
}

/** The built-in provider that plays the guided tour. */
export const TOUR_PROVIDER = "tour";

/** Returns whether a script stands in for the model. */
export function isScript(providers: readonly ProviderEntry[], model: ModelRef | null | undefined): boolean {
  return providers.some((provider) => provider.name === model?.provider && provider.api === "script");
}

/** A model that can be chosen, with the name that is shown. */
export interface KnownModel {
  ref: ModelRef;
  name: string;
  contextWindow: number | null;
}

/** Returns every model of every provider, in the order of the table. */
export function knownModels(providers: readonly ProviderEntry[]): KnownModel[] {
  return providers.flatMap((provider) =>
    provider.models.map((model) => ({
      ref: { provider: provider.name, model_id: model.modelId },
      name: model.displayName ?? model.modelId,
      contextWindow: model.contextWindow ?? null,
    })),
  );
}

/** Sessions of one workspace, last active first. */
export interface WorkspaceGroup {
  workspace: WorkspaceSummary;
  sessions: SessionSummary[];
}

/** Returns each workspace with its sessions; those that need the user are listed apart by the rail. */
export function groupSessions(state: AppState): WorkspaceGroup[] {
  return state.workspaces.map((workspace) => ({
    workspace,
    sessions: state.sessions.filter((session) => session.workspaceId === workspace.id),
  }));
}
