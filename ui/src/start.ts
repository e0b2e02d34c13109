/** Starts the window: reads the state, follows its events, decides what is shown first. */
import { showSession } from "./state/actions";
import { applyAppEvents, setAppState, useApp } from "./state/app";
import { shownSession, useNavigation } from "./state/navigation";
import { closeSession, useSession } from "./state/session-store";
import { shell } from "./state/shell";
import type { AppEvent } from "./protocol";

/** Reads what the window needs. Events that come meanwhile are applied after it. */
export async function start(): Promise<void> {
  let held: AppEvent[] | null = [];
  await shell().app.subscribe((events) => {
    if (held) held.push(...events);
    else receive(events);
  });
  const state = await shell().app.state();
  setAppState(state);
  const late = held;
  held = null;
  receive(late);
  showFirst();
}

/** The session that was used last, in a workspace that is there; else the first run. */
function showFirst(): void {
  const last = lastSession();
  if (last) showSession(last);
  else useNavigation.getState().show({ kind: "first_run" });
}

function lastSession(): string | null {
  const { state } = useApp.getState();
  const present = new Set(state?.workspaces.filter((one) => one.present).map((one) => one.id));
  return state?.sessions.find((session) => present.has(session.workspaceId))?.id ?? null;
}

function receive(events: readonly AppEvent[]): void {
  const { view, show } = useNavigation.getState();
  applyAppEvents(events, shownSession(view));
  for (const event of events) {
    if (event.kind !== "session_gone" || event.sessionId !== useSession.getState().id) continue;
    closeSession();
    show({ kind: "first_run" });
  }
}
