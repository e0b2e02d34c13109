/** A diff line as text: its runs, its indent, its pieces of one colour. Pure, and free of any parser. */
import type { DiffLine, LineRun } from "../protocol";

/** A stretch of a line with one class. `from` and `to` count UTF-16 units. */
export type Span = { from: number; to: number; class: string };

/** Spans of each line of a hunk, by the line's place. */
export type Highlights = readonly (readonly Span[])[];

/** A piece of a line as it is drawn. */
export type Piece = { text: string; class: string; changed: boolean };

/** Returns the text of a line. */
export function lineText(line: DiffLine): string {
  return line.runs.length === 1 ? (line.runs[0]?.text ?? "") : line.runs.map((run) => run.text).join("");
}

/** Cuts a line into pieces of one colour and one mark. The pieces' texts joined are the line's. */
export function pieces(runs: readonly LineRun[], spans: readonly Span[]): Piece[] {
  const out: Piece[] = [];
  let offset = 0;
  let at = 0;
  for (const run of runs) {
    const end = offset + run.text.length;
    let from = offset;
    while (from < end) {
      while (at < spans.length && (spans[at]?.to ?? 0) <= from) at += 1;
      const span = spans[at];
      let to = end;
      let name = "";
      if (span !== undefined && span.from <= from) {
        to = Math.min(end, span.to);
        name = span.class;
      } else if (span !== undefined) {
        to = Math.min(end, span.from);
      }
      out.push({ text: run.text.slice(from - offset, to - offset), class: name, changed: run.changed });
      from = to;
    }
    offset = end;
  }
  return out;
}

/** Returns how many cells a line is indented, so that what wraps hangs below its beginning. */
export function indentOf(text: string): number {
  const blank = /^[ \t]*/.exec(text)?.[0] ?? "";
  let cells = 0;
  for (const character of blank) cells += character === "\t" ? 4 : 1;
  return Math.min(cells, 40);
}
