/** Keys on the stones: Alt Up and Alt Down select, Enter reviews, Backspace opens the roll back list, Ctrl Z brings back. */
import { type KeyboardEvent, useCallback, useEffect } from "react";

import { useNavigation } from "../../state/navigation";
import type { Row } from "../../state/rows";
import { useSession } from "../../state/session-store";

/** Turns that have a stone, with their rows. */
export function stoneTurns(rows: readonly Row[]): { turnId: string; index: number }[] {
  return rows.flatMap((row, index) => {
    if (row.kind !== "stone" || row.open || row.turn.turnId === null) return [];
    const files = row.record?.summary.files ?? row.turn.after?.changes?.files ?? 0;
    return files > 0 ? [{ turnId: row.turn.turnId, index }] : [];
  });
}

export function useStoneKeys(rows: readonly Row[], scrollTo: (index: number) => void): (event: KeyboardEvent) => void {
  const select = useCallback(
    (step: 1 | -1) => {
      const stones = stoneTurns(rows);
      const { selectedTurn, selectTurn } = useNavigation.getState();
      const at = stones.findIndex((stone) => stone.turnId === selectedTurn);
      const next = at === -1 ? stones.at(-1) : stones[Math.min(stones.length - 1, Math.max(0, at + step))];
      if (!next) return;
      selectTurn(next.turnId);
      scrollTo(next.index);
    },
    [rows, scrollTo],
  );
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || useNavigation.getState().dialog) return;
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      select(event.key === "ArrowUp" ? -1 : 1);
      document.querySelector<HTMLElement>(".talk")?.focus({ preventScroll: true });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [select]);
  return useCallback((event: KeyboardEvent) => {
    // Only while the list itself has the focus: a button or a field inside it has its own keys.
    if (event.target !== event.currentTarget) return;
    const { selectedTurn, review, openDialog, selectTurn } = useNavigation.getState();
    const { id } = useSession.getState();
    if (selectedTurn === null || !id) return;
    if (event.key === "Enter") review(selectedTurn);
    else if (event.key === "Backspace") openDialog({ kind: "roll_back", sessionId: id, turnId: selectedTurn, target: "revert", paths: null });
    else if (event.key === "Escape") selectTurn(null);
    else return;
    event.preventDefault();
  }, []);
}
