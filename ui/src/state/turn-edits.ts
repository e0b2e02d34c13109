/** What a turn's file tools have changed so far, by path. Commands count only when the turn ends and is captured. */
import type { ChangeKind } from "../protocol";
import type { TurnBlock } from "./timeline";

export interface EditSoFar {
  path: string;
  kind: ChangeKind;
  added: number;
  removed: number;
}

/** Returns one entry a path, in the order of the first edit. Pure. */
export function editsSoFar(turn: TurnBlock): EditSoFar[] {
  const byPath = new Map<string, EditSoFar>();
  for (const item of turn.items) {
    if (item.kind !== "call") continue;
    for (const edit of item.details?.edits ?? []) {
      const known = byPath.get(edit.path);
      if (known) byPath.set(edit.path, { ...known, added: known.added + edit.added, removed: known.removed + edit.removed });
      else byPath.set(edit.path, { path: edit.path, kind: edit.kind, added: edit.added, removed: edit.removed });
    }
  }
  return [...byPath.values()];
}
