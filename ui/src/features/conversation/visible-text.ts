/**
 * Makes every character of a text that is approved visible: what would be drawn as nothing, or would turn the
 * reading direction, is written out as `\u{…}`. Pure.
 */
export interface VisibleRun {
  text: string;
  /** Whether it stands for a character that could not be seen. */
  marked: boolean;
}

// Control, format and private characters, the soft hyphen, unusual spaces, fillers and line separators.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u3164\uffa0]/u;

/** Cuts one line into runs. Tabs stay as they are. */
export function visibleRuns(line: string): VisibleRun[] {
  const runs: VisibleRun[] = [];
  let plain = "";
  for (const char of line) {
    if (char === "\t" || !HIDDEN.test(char)) {
      plain += char;
      continue;
    }
    if (plain !== "") runs.push({ text: plain, marked: false });
    plain = "";
    runs.push({ text: `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`, marked: true });
  }
  if (plain !== "") runs.push({ text: plain, marked: false });
  return runs;
}
