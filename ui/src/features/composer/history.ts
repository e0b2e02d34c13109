/** What the user sent before in this session, newest first. Pure. */
import type { SessionState } from "../../state/session";

export function earlierTexts(state: SessionState): string[] {
  const texts: string[] = [];
  for (const block of state.timeline.blocks) {
    if (block.kind !== "turn") continue;
    for (const item of block.items) if (item.kind === "ask" && texts.at(-1) !== item.text) texts.push(item.text);
  }
  return texts.toReversed();
}
