/**
 * What the user can do that several views offer: each speaks to the shell, moves where the user is, and keeps what
 * went wrong. Acts of one view only are in that view.
 */
import type { ModelRef, Settings } from "../protocol";
import { useApp } from "./app";
import { useNavigation } from "./navigation";
import { attempt } from "./problems";
import { isBusy } from "./session";
import { adoptSession, closeSession, openSession, useSession } from "./session-store";
import { shell } from "./shell";

/** Shows a session and opens it. */
export function showSession(id: string): void {
  useNavigation.getState().show({ kind: "session", sessionId: id });
  markSeen(id);
  void openSession(id);
}

/** Takes the mark "ready to review" off a session. */
export function markSeen(id: string): void {
  const { unseen } = useApp.getState();
  if (unseen.has(id)) useApp.setState({ unseen: new Set([...unseen].filter((one) => one !== id)) });
}

/** Makes a session in a workspace; in that of the shown session, else the last used, when none is named. */
export function newSession(workspaceId?: string): void {
  const { state } = useApp.getState();
  const target = workspaceId ?? useSession.getState().state?.summary.workspaceId ?? state?.workspaces.find((one) => one.present)?.id;
  if (target === undefined) return useNavigation.getState().show({ kind: "first_run" });
  void attempt("app", async () => {
    const view = await shell().session.create({ workspaceId: target, model: null, mode: null });
    useNavigation.getState().show({ kind: "session", sessionId: view.summary.id });
    await adoptSession(view);
  });
}

/** Lets the user pick a folder, and makes a first session in it. */
export function addFolder(): void {
  void attempt("app", async () => {
    const workspace = await shell().workspace.pick();
    if (workspace) newSession(workspace.id);
  });
}

/** Starts the tour in the sample workspace. */
export function startTour(): Promise<boolean> {
  return attempt("app", async () => {
    const view = await shell().workspace.startTour();
    useNavigation.getState().show({ kind: "session", sessionId: view.summary.id });
    await adoptSession(view);
  });
}

/** Sends a text: starts a turn, or queues it. */
export function send(sessionId: string, text: string): Promise<boolean> {
  return attempt("session", () => shell().session.startTurn({ sessionId, text }));
}

/** Stops the running turn of the open session. */
export function interrupt(): void {
  const { id, state } = useSession.getState();
  if (id && state && isBusy(state.summary)) void attempt("session", () => shell().session.interrupt({ sessionId: id }));
}

/** Takes the last restore of the open session back. */
export function bringBackLast(restoreId: string | null = null): void {
  const { id } = useSession.getState();
  if (id) void attempt("session", () => shell().changes.bringBack({ sessionId: id, restoreId }));
}

/** Deletes a session, after the system's dialog. */
export function deleteSession(id: string): void {
  void attempt("app", async () => {
    await shell().session.delete({ sessionId: id });
    if (useSession.getState().id === id) {
      closeSession();
      useNavigation.getState().show({ kind: "first_run" });
    }
  });
}

/** Chooses the model of a session from its next turn on. */
export function chooseModel(sessionId: string, model: ModelRef): void {
  void attempt("session", () => shell().session.setModel({ sessionId, model }));
}

/** Changes some settings; the window shows them at once and takes over what the shell says. */
export function changeSettings(change: Partial<Settings>): Promise<boolean> {
  return attempt("app", async () => {
    const { state } = useApp.getState();
    if (!state) return;
    const settings = { ...state.settings, ...change };
    useApp.setState({ state: { ...state, settings } });
    const held = await shell()
      .settings.save({ settings })
      .catch((cause: unknown) => {
        useApp.setState({ state: { ...(useApp.getState().state ?? state), settings: state.settings } });
        throw cause;
      });
    useApp.setState({ state: { ...(useApp.getState().state ?? state), settings: held } });
  });
}

const SCALES = [0.9, 1, 1.1, 1.25, 1.5, 1.75, 2];

/** Makes the text one step larger or smaller, or as usual. */
export function stepTextScale(step: 1 | -1 | 0): void {
  const now = useApp.getState().state?.settings.textScale ?? 1;
  const next =
    step === 0 ? 1 : step > 0 ? SCALES.find((scale) => scale > now + 0.01) : SCALES.findLast((scale) => scale < now - 0.01);
  if (next !== undefined && next !== now) void changeSettings({ textScale: next });
}

/** Opens an address outside, after the system's dialog. */
export function openLink(url: string): void {
  void attempt("session", () => shell().app.openLink({ url }));
}
