/** Reads what a turn changed, again when its record moves (a rollback, its end). */
import { useEffect, useState } from "react";

import type { TurnChanges, TurnRecord } from "../../protocol";
import { messageOf } from "../../state/failure";
import { shell } from "../../state/shell";

export type TurnChangesState = { state: "loading" } | { state: "ready"; changes: TurnChanges } | { state: "failed"; message: string };

/** `turn` is null while the session is not read yet. What was shown stays until the new answer is there. */
export function useTurnChanges(sessionId: string, turn: TurnRecord | null): { result: TurnChangesState; again: () => void } {
  const [result, setResult] = useState<TurnChangesState>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  const turnId = turn?.turnId ?? null;
  const sign = turn === null ? "" : JSON.stringify([turn.turnId, turn.state, turn.standing, turn.summary, turn.after]);
  useEffect(() => {
    if (turnId === null) return;
    let current = true;
    setResult((before) => (before.state === "ready" && before.changes.turn.turnId === turnId ? before : { state: "loading" }));
    shell()
      .changes.list({ sessionId, turnId })
      .then(
        (changes) => current && setResult({ state: "ready", changes }),
        (error: unknown) => current && setResult({ state: "failed", message: messageOf(error) }),
      );
    return () => {
      current = false;
    };
  }, [sessionId, turnId, sign, attempt]);
  return { result, again: () => setAttempt((count) => count + 1) };
}
