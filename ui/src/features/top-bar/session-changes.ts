/** What a session's turns changed and what still stands of it, as one count. Pure. */
import type { TurnRecord } from "../../protocol";

export interface SessionChanges {
  stones: number;
  /** Stones of which something is still in the folder. */
  standing: number;
  added: number;
  removed: number;
  newestTurn: string;
}

/** Returns null when no turn changed a file. Turns that were rolled back count no more. */
export function sessionChanges(turns: readonly TurnRecord[]): SessionChanges | null {
  const withFiles = turns.filter((turn) => turn.summary.files > 0);
  const newest = withFiles.at(-1);
  if (!newest) return null;
  const standing = withFiles.filter((turn) => turn.standing.state !== "rolled_back");
  return {
    stones: withFiles.length,
    standing: standing.length,
    added: standing.reduce((sum, turn) => sum + turn.summary.added, 0),
    removed: standing.reduce((sum, turn) => sum + turn.summary.removed, 0),
    newestTurn: newest.turnId,
  };
}
