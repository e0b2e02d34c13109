/** Reads the keys of the changes panel. It does not act; see `use-diff-keys.ts`. */

/** What a key asks for. */
export type DiffAct = "next_hunk" | "previous_hunk" | "next_file" | "previous_file" | "layout" | "close";

/** The parts of a keyboard event that decide. */
export type KeyPress = {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  target: EventTarget | null;
};

const ACTS: Readonly<Record<string, DiffAct>> = {
  n: "next_hunk",
  p: "previous_hunk",
  "]": "next_file",
  "[": "previous_file",
  s: "layout",
  Escape: "close",
};

/** Returns the act of a key, or nothing when it belongs to a field or to someone else. */
export function diffAct(press: KeyPress): DiffAct | null {
  if (press.ctrlKey || press.metaKey) return null;
  // On several layouts the brackets are typed with AltGr, which arrives as Alt.
  if (press.altKey && press.key !== "[" && press.key !== "]") return null;
  const act = ACTS[press.key] ?? null;
  if (act !== null && act !== "close" && isTextField(press.target)) return null;
  return act;
}

/** Returns whether keys typed there are text. */
export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  const name = target.tagName;
  if (name === "TEXTAREA" || name === "SELECT") return true;
  return name === "INPUT" && !["checkbox", "radio", "button"].includes((target as HTMLInputElement).type);
}
