/** Makes the stones column out of turns and restores, newest first. Pure; it is shown by `stones-column.tsx`. */
import type { RestoreRecord, TurnRecord } from "../../protocol";

/** One entry of the column. */
export type Mile =
  | { kind: "turn"; turn: TurnRecord; title: string }
  | { kind: "restore"; restore: RestoreRecord; turnNumber: number | null; files: number };

/** Mixes turns and restores by time. A turn without a title is shown by its number alone. */
export function miles(turns: readonly TurnRecord[], restores: readonly RestoreRecord[], titles: ReadonlyMap<string, string>): Mile[] {
  const numbers = new Map(turns.map((turn) => [turn.turnId, turn.number]));
  const all: { at: number; order: number; mile: Mile }[] = [];
  turns.forEach((turn, order) => {
    all.push({ at: Date.parse(turn.startedAt), order, mile: { kind: "turn", turn, title: titles.get(turn.turnId) ?? "" } });
  });
  restores.forEach((restore, order) => {
    const { report } = restore;
    const files = report.steps.filter((step) => isWritten(step.action)).length;
    const mile: Mile = { kind: "restore", restore, turnNumber: numbers.get(report.turn_id) ?? null, files };
    all.push({ at: Date.parse(report.at), order, mile });
  });
  all.sort((a, b) => b.at - a.at || b.order - a.order);
  return all.map(({ mile }) => mile);
}

/** Whether an action writes or deletes something. */
export function isWritten(action: RestoreRecord["report"]["steps"][number]["action"]): boolean {
  switch (action) {
    case "taken_back":
    case "created_again":
    case "deleted":
    case "merged":
      return true;
    case "kept_yours":
    case "unchanged":
      return false;
  }
}

/** Returns the last restore that still can be brought back: the one that `Ctrl Z` means. */
export function lastRestore(restores: readonly RestoreRecord[]): RestoreRecord | null {
  const open = restores.filter((restore) => restore.undoneBy === null && restore.report.undoes === undefined);
  return open[open.length - 1] ?? null;
}
