/** What the palette offers for a query: acts, sessions and stones, with what matched. Pure but for the acts themselves. */
import type { IconName } from "../../components/icons";
import type { AppState, Theme } from "../../protocol";
import { addFolder, bringBackLast, changeSettings, newSession, showSession } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import type { SessionState } from "../../state/session";
import { type SessionSign, signOf } from "../../state/session-sign";
import { text } from "../../text/en";

const words = text.frame.palette;

export interface Entry {
  key: string;
  group: string;
  label: string;
  /** More words, shown muted and searched too. */
  detail: string;
  icon: IconName | null;
  sign: SessionSign | null;
  keys: string;
  act: () => void;
}

/** Entries shown of one group at most. */
const GROUP_LIMIT = 8;

const entry = (key: string, group: string, label: string, act: () => void, more: Partial<Entry> = {}): Entry => ({
  key,
  group,
  label,
  act,
  detail: "",
  icon: null,
  sign: null,
  keys: "",
  ...more,
});

/** Returns every entry, in order of groups. */
export function allEntries(app: AppState, unseen: ReadonlySet<string>, session: SessionState | null): Entry[] {
  return [...acts(session), ...sessions(app, unseen), ...stones(session)];
}

function acts(session: SessionState | null): Entry[] {
  const { openDialog, show, setSideOpen, setTerminalOpen, sideOpen, terminalOpen, setRailOpen, railOpen } = useNavigation.getState();
  const group = words.doGroup;
  const themes = Object.keys(words.themes) as Theme[];
  const undoable = session?.restores.some((one) => one.undoneBy === null && one.report.undoes === undefined) ?? false;
  return [
    entry("new", group, text.frame.rail.newSession, () => newSession(), { icon: "plus", keys: "Ctrl N" }),
    entry("folder", group, text.frame.rail.addFolder, addFolder, { icon: "folder" }),
    ...(undoable ? [entry("bring", group, words.bringBack, () => bringBackLast(), { icon: "forth" as const, keys: "Ctrl Z" })] : []),
    entry("model", group, words.connect, () => openDialog({ kind: "connect_model", name: null }), { icon: "model" }),
    ...(session
      ? [
          entry("side", group, text.frame.keys.side, () => setSideOpen(!sideOpen), { icon: "panel-right" as const, keys: "Ctrl Alt B" }),
          entry("terminal", group, text.frame.keys.terminal, () => setTerminalOpen(!terminalOpen), { icon: "shell" as const, keys: "Ctrl J" }),
        ]
      : []),
    entry("rail", group, text.frame.keys.sessions, () => setRailOpen(!railOpen), { icon: "panel-left", keys: "Ctrl B" }),
    entry("settings", group, text.frame.rail.settings, () => show({ kind: "settings", page: "models" }), { icon: "gear", keys: "Ctrl ," }),
    entry("keys", group, text.frame.keys.help, () => openDialog({ kind: "keys" }), { icon: "info", keys: "Ctrl /" }),
    ...themes.map((theme) => entry(`theme-${theme}`, group, words.theme(words.themes[theme]), () => void changeSettings({ theme }), { icon: "eye" as const })),
  ];
}

function sessions(app: AppState, unseen: ReadonlySet<string>): Entry[] {
  const names = new Map(app.workspaces.map((workspace) => [workspace.id, workspace.name]));
  return app.sessions.map((session) =>
    entry(`session-${session.id}`, words.sessions, session.title, () => showSession(session.id), {
      detail: names.get(session.workspaceId) ?? "",
      sign: signOf(session, unseen.has(session.id)),
    }),
  );
}

function stones(session: SessionState | null): Entry[] {
  if (!session) return [];
  const { review, openDialog } = useNavigation.getState();
  const sessionId = session.summary.id;
  const set = session.turns.filter((turn) => turn.summary.files > 0 && turn.state !== "open").toReversed();
  return set.flatMap((turn) => {
    const detail = words.files(turn.summary.files);
    const { turnId, number } = turn;
    const found = [entry(`review-${turnId}`, words.stones, words.review(number), () => review(turnId), { icon: "eye", detail })];
    if (turn.standing.state !== "rolled_back" && turn.before !== null) {
      const rollBack = () => openDialog({ kind: "roll_back", sessionId, turnId, target: "revert", paths: null });
      found.push(entry(`back-${turnId}`, words.stones, words.rollBack(number), rollBack, { icon: "back", detail }));
    }
    return found;
  });
}

/** Keeps what matches: every word of the query must be in the label or the detail. A prefix narrows to one group. */
export function matching(entries: readonly Entry[], query: string): Entry[] {
  const prefix = query[0];
  const group = prefix === ">" ? words.doGroup : prefix === "#" ? words.stones : null;
  const parts = (group ? query.slice(1) : query).toLowerCase().split(/\s+/).filter(Boolean);
  const taken = new Map<string, number>();
  return entries.filter((one) => {
    if (group && one.group !== group) return false;
    const whole = `${one.label} ${one.detail}`.toLowerCase();
    if (!parts.every((part) => whole.includes(part))) return false;
    const before = taken.get(one.group) ?? 0;
    taken.set(one.group, before + 1);
    return before < (group ? 50 : GROUP_LIMIT);
  });
}

/** Cuts a label into what matched and what did not. */
export function highlighted(label: string, query: string): { text: string; hit: boolean }[] {
  const [part] = query.replace(/^[>#]/, "").toLowerCase().split(/\s+/).filter(Boolean);
  const at = part ? label.toLowerCase().indexOf(part) : -1;
  if (!part || at === -1) return [{ text: label, hit: false }];
  const pieces = [
    { text: label.slice(0, at), hit: false },
    { text: label.slice(at, at + part.length), hit: true },
    { text: label.slice(at + part.length), hit: false },
  ];
  return pieces.filter((piece) => piece.text !== "");
}
