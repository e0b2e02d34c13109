/** Reads the keys that a terminal keeps for itself. Everything else belongs to the shell. */

/** What a key asks of the terminal. */
export type TerminalAct = "copy" | "paste" | "search" | "new_terminal";

/** The parts of a keyboard event that decide. */
export type TerminalKey = { type: string; key: string; ctrlKey: boolean; shiftKey: boolean; altKey: boolean; metaKey: boolean };

/** Returns the act of a key, or nothing when the shell gets it. On macOS the Command key does what Ctrl Shift does elsewhere. */
export function terminalAct(press: TerminalKey, platform: string): TerminalAct | null {
  if (press.type !== "keydown" || press.altKey) return null;
  const held = platform === "macos" ? press.metaKey && !press.ctrlKey : press.ctrlKey && press.shiftKey && !press.metaKey;
  if (!held) return null;
  switch (press.key.toLowerCase()) {
    case "c":
      return "copy";
    case "v":
      return "paste";
    case "f":
      return "search";
    case "t":
      return "new_terminal";
    default:
      return null;
  }
}

/** Whether the window keeps a key although the terminal has the focus: only what no shell uses. */
export function belongsToWindow(press: TerminalKey): boolean {
  if (press.altKey && press.ctrlKey && press.key.toLowerCase() === "b") return true;
  const control = press.ctrlKey || press.metaKey;
  return control && !press.shiftKey && !press.altKey && (press.key.toLowerCase() === "j" || press.key === "," || press.key === ".");
}
