/** The keys that hold everywhere. In a terminal, the keys of the shell stay with it. */
import { lastRestore } from "./features/changes/stones";
import { bringBackLast, newSession, showSession, stepTextScale } from "./state/actions";
import { useApp } from "./state/app";
import { shownSession, useNavigation } from "./state/navigation";
import { useSession } from "./state/session-store";

/** Keys with Ctrl that belong to the shell while a terminal has the focus. */
const SHELL_KEYS = new Set(["c", "d", "w", "k", "l", "r", "n", "b", "p", "z", "a", "e", "u"]);

/** Handles one key; returns whether it was one of these. */
export function handleKey(event: KeyboardEvent): boolean {
  if (event.isComposing || event.defaultPrevented) return false;
  if (!(event.ctrlKey || event.metaKey)) return false;
  const key = event.key.toLowerCase();
  const inTerminal = event.target instanceof Element && event.target.closest(".xterm") !== null;
  if (inTerminal && !event.metaKey && SHELL_KEYS.has(key) && !event.shiftKey && !event.altKey) return false;
  const navigation = useNavigation.getState();
  if (navigation.dialog && key !== "k" && key !== "/") return false;
  if (event.shiftKey && (event.code === "BracketLeft" || event.code === "BracketRight")) {
    stepSession(event.code === "BracketLeft" ? -1 : 1);
    return true;
  }
  if (event.altKey) {
    if (event.code !== "KeyB") return false;
    navigation.setSideOpen(!navigation.sideOpen);
    return true;
  }
  switch (key) {
    case "k":
      if (navigation.dialog?.kind === "palette") navigation.closeDialog();
      else navigation.openDialog({ kind: "palette", query: "" });
      return true;
    case "n":
      newSession();
      return true;
    case "b":
      navigation.setRailOpen(!navigation.railOpen);
      return true;
    case "j":
      navigation.setTerminalOpen(!navigation.terminalOpen);
      return true;
    case ",":
      navigation.show({ kind: "settings", page: "models" });
      return true;
    case "/":
      if (navigation.dialog?.kind === "keys") navigation.closeDialog();
      else navigation.openDialog({ kind: "keys" });
      return true;
    case ".":
      return nextRequest();
    case "z":
      return !event.shiftKey && bringBack(event.target);
    // A page that is loaded again would lose what was typed.
    case "r":
      return true;
    case "+":
    case "=":
      stepTextScale(1);
      return true;
    case "-":
      stepTextScale(-1);
      return true;
    case "0":
      stepTextScale(0);
      return true;
    default:
      return /^[1-9]$/.test(key) && sessionByPlace(Number(key));
  }
}

/** Brings the last restore back; in a field the key takes typing back. */
function bringBack(target: EventTarget | null): boolean {
  const { state } = useSession.getState();
  const field = target instanceof Element && target.closest("input, textarea, [contenteditable]") !== null;
  const restore = state && lastRestore(state.restores);
  if (field || !restore || shownSession(useNavigation.getState().view) === null) return false;
  bringBackLast(restore.report.restore_id);
  return true;
}

/** Sessions in the order of the rail. */
function railOrder(): string[] {
  const { state } = useApp.getState();
  if (!state) return [];
  const needing = state.sessions.filter((session) => session.activity.state === "needs_you");
  const rest = state.workspaces.flatMap((workspace) =>
    state.sessions.filter((session) => session.workspaceId === workspace.id && session.activity.state !== "needs_you"),
  );
  return [...needing, ...rest].map((session) => session.id);
}

function stepSession(step: 1 | -1): void {
  const ids = railOrder();
  const at = ids.indexOf(shownSession(useNavigation.getState().view) ?? "");
  const next = ids[(at + step + ids.length) % ids.length];
  if (next) showSession(next);
}

function sessionByPlace(place: number): boolean {
  const id = railOrder()[place - 1];
  if (id) showSession(id);
  return id !== undefined;
}

/** The next request: of the open session, else the first session that needs the user. */
function nextRequest(): boolean {
  const { state } = useSession.getState();
  const { shownApproval, showApproval } = useNavigation.getState();
  const [first] = state?.pending ?? [];
  if (!state || !first) {
    const waiting = useApp.getState().state?.sessions.find((session) => session.activity.state === "needs_you");
    if (waiting) showSession(waiting.id);
    return waiting !== undefined;
  }
  const at = state.pending.findIndex((one) => one.approval_id === (shownApproval ?? first.approval_id));
  const card = document.querySelector<HTMLElement>(".card[data-approval]");
  const next = document.activeElement === card || at === -1 ? state.pending[(at + 1) % state.pending.length] : state.pending[at];
  showApproval((next ?? first).approval_id);
  card?.focus();
  return true;
}
