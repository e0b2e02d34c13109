/** A stone: what a turn left on the path. Its size follows the change, its cut the turn, its look the state. */
import { Icon } from "./icon";
import { STONES, type StoneCut } from "./icons";
import { StateSign } from "./state-sign";

export type StoneLook = "rest" | "open" | "back" | "part" | "restore" | "bare" | "sel" | "range";
export type StoneSize = 1 | 2 | 3;

/** Returns 1 under 20 changed lines, 2 under 200, else 3. */
export function stoneSize(changedLines: number): StoneSize {
  if (changedLines < 20) return 1;
  return changedLines < 200 ? 2 : 3;
}

/** Returns the cut for a turn: always the same for the same id. */
export function stoneCut(turnId: string): StoneCut {
  let sum = 0;
  for (const char of turnId) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return (["a", "b", "c"] as const)[sum % 3] ?? "a";
}

export function Stone({ cut, size, look }: { cut: StoneCut; size: StoneSize; look: StoneLook }) {
  const body = (className: string) => (
    <svg className={className} viewBox="0 0 28 16" preserveAspectRatio="none" aria-hidden="true">
      <path d={STONES[cut]} />
    </svg>
  );
  return (
    <span className={`stone s${size} is-${look}`}>
      {body("body")}
      {look === "part" ? body("half") : null}
      {look === "restore" ? <Icon name="back" className="badge" /> : null}
      {look === "bare" ? (
        <span className="badge">
          <StateSign name="attention" />
        </span>
      ) : null}
    </span>
  );
}
