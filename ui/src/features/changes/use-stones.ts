/** The turns and restores of the open session, with what the user asked in each turn as its title. */
import { useMemo } from "react";

import type { RestoreRecord, TurnRecord } from "../../protocol";
import { useSession } from "../../state/session-store";
import type { Block } from "../../state/timeline";

export interface Stones {
  turns: readonly TurnRecord[];
  restores: readonly RestoreRecord[];
  titles: ReadonlyMap<string, string>;
}

const NONE: Stones = { turns: [], restores: [], titles: new Map() };

/** Turns on pages that are not loaded have no title. */
export function useStones(sessionId: string): Stones {
  const state = useSession((store) => (store.id === sessionId ? store.state : null));
  const turns = state?.turns ?? NONE.turns;
  const restores = state?.restores ?? NONE.restores;
  const blocks = state?.timeline.blocks;
  const titles = useMemo(() => (blocks === undefined ? NONE.titles : titlesOf(blocks)), [blocks]);
  return { turns, restores, titles };
}

/** The first line of what was asked, by turn. */
export function titlesOf(blocks: readonly Block[]): Map<string, string> {
  const titles = new Map<string, string>();
  for (const block of blocks) {
    if (block.kind !== "turn" || block.turnId === null) continue;
    const ask = block.items.find((item) => item.kind === "ask");
    const line = ask?.kind === "ask" ? (ask.text.trim().split("\n")[0] ?? "") : "";
    if (line !== "") titles.set(block.turnId, line.slice(0, 200));
  }
  return titles;
}
