/** Makes text from the clipboard safe to send to a shell. Pure; asking the user is `terminal-pane.tsx`. */

/** What is to happen with a pasted text. */
export type Paste = {
  /** What will be sent. */
  text: string;
  /** Lines, counted as a shell would run them. */
  lines: number;
  /** Control characters that were taken out. */
  removed: number;
  /** Whether the shell would run something before the user sees it. */
  ask: boolean;
};

/** Bracketed paste, as terminals have it since xterm (mode 2004): the program gets the text as one piece. */
const BRACKET = { open: "\u001b[200~", close: "\u001b[201~" };

/**
 * Reads a text from the clipboard. Control characters other than tab and line end are taken out: with them a page
 * could end a bracketed paste early or drive the shell. Several lines ask, unless the program takes pastes as one piece.
 */
export function readPaste(clipboard: string, bracketed: boolean): Paste {
  const unified = clipboard.replace(/\r\n?/g, "\n");
  let text = "";
  let removed = 0;
  for (const character of unified) {
    const code = character.codePointAt(0) ?? 0;
    const control = (code < 0x20 && character !== "\t" && character !== "\n") || (code >= 0x7f && code < 0xa0);
    if (control) removed += 1;
    else text += character;
  }
  const lines = text.replace(/\n+$/, "").split("\n").length;
  const endsLine = text.endsWith("\n");
  return { text, lines, removed, ask: lines > 1 || (endsLine && !bracketed) };
}

/** Returns what is written to the PTY: line ends as the Enter key sends them, in brackets when the program asked for it. */
export function encodePaste(text: string, bracketed: boolean): string {
  const typed = text.replace(/\n/g, "\r");
  return bracketed ? `${BRACKET.open}${typed}${BRACKET.close}` : typed;
}
