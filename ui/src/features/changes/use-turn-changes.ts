/** Reads what a turn changed, again when its record moves (a rollback, its end). */
import { useEffect, useState } from "react";

import type { TurnChanges, TurnRecord } from "../../protocol";
import { messageOf } from "../../state/failure";
import { shell } from "../../state/shell";

export type TurnChangesState = { state: "loading" } | { state: "ready"; changes: TurnChanges } | { state: "failed"; message: string };

/** `turn` is null while the session is not read yet. What was shown of a turn stays until the new answer is there. */
export function useTurnChanges(sessionId: string, turn: TurnRecord | null): { result: TurnChangesState; again: () => void } {
  const [held, setHeld] = useState<{ turnId: string; result: TurnChangesState } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const turnId = turn?.turnId ?? null;
  const sign = turn === null ? "" : JSON.stringify([turn.turnId, turn.state, turn.standing, turn.summary, turn.after, attempt]);
  useEffect(() => {
    if (turnId === null) return;
    let current = true;
    shell()
      .changes.list({ sessionId, turnId })
      .then(
        (changes) => current && setHeld({ turnId, result: { state: "ready", changes } }),
        (error: unknown) => current && setHeld({ turnId, result: { state: "failed", message: messageOf(error) } }),
      );
    return () => {
      current = false;
    };
    // The sign stands for all that makes an answer out of date.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [sessionId, turnId, sign]);
  const result: TurnChangesState = held !== null && held.turnId === turnId ? held.result : { state: "loading" };
  return { result, again: () => setAttempt((count) => count + 1) };
}
