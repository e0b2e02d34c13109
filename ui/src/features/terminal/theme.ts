/** Makes xterm's colours out of the design tokens, so that the terminal follows light, dark and high contrast. */
import type { ITheme } from "@xterm/xterm";

/** Which token each colour of a terminal takes. Bright colours are the same: what is bold is told by weight. */
const TOKENS = {
  background: "--sunken",
  foreground: "--text",
  cursor: "--text",
  cursorAccent: "--sunken",
  selectionBackground: "--accent-line",
  selectionInactiveBackground: "--active",
  black: "--sunken",
  red: "--danger",
  green: "--success",
  yellow: "--attention",
  blue: "--busy",
  magenta: "--code-keyword",
  cyan: "--code-number",
  white: "--text-2",
  brightBlack: "--muted",
  brightRed: "--danger",
  brightGreen: "--success",
  brightYellow: "--attention",
  brightBlue: "--busy",
  brightMagenta: "--code-keyword",
  brightCyan: "--code-number",
  brightWhite: "--text",
} as const satisfies Partial<Record<keyof ITheme, string>>;

/** Reads the tokens as they are now. */
export function readTheme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const theme: Record<string, string> = {};
  for (const [colour, token] of Object.entries(TOKENS)) {
    const value = style.getPropertyValue(token).trim();
    if (value !== "") theme[colour] = value;
  }
  return theme;
}
