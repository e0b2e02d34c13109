/**
 * Colours the lines of a diff hunk by syntax, with the Lezer parsers that CodeMirror uses. Static: there is no editor.
 *
 * It knows nothing of rows or files beyond a name; languages are loaded on demand and kept by `@codemirror/language-data`.
 */
import { LanguageDescription } from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import type { Parser } from "@lezer/common";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";

import type { DiffHunk, DiffLine } from "../protocol";
import { type Highlights, lineText, type Span } from "./diff-text";

export type { Highlights, Span } from "./diff-text";
export { indentOf, lineText, type Piece, pieces } from "./diff-text";

/** Text of one side that is parsed at most; a parser needs some 40 ms for it, more would be felt while scrolling. */
export const PARSED_CHARACTERS = 120_000;

/** A line that is longer stays plain: it is minified or data. */
export const COLOURED_LINE = 2_000;

const highlighter = tagHighlighter([
  { tag: [tags.comment, tags.meta, tags.docComment], class: "tc" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string), tags.attributeValue, tags.inserted], class: "ts" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.constant(tags.name), tags.unit, tags.color], class: "tn" },
  {
    tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.self, tags.tagName, tags.heading, tags.processingInstruction],
    class: "tk",
  },
  { tag: [tags.propertyName, tags.attributeName, tags.labelName], class: "tp" },
  { tag: [tags.strong], class: "tb" },
]);

const parsers = new Map<string, Promise<Parser | null>>();

/** Returns the parser for a file's name, or nothing when the language is not known. Loads it the first time. */
export function parserFor(path: string): Promise<Parser | null> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const description = LanguageDescription.matchFilename(languages, name);
  if (description === null) return Promise.resolve(null);
  const known = parsers.get(description.name);
  if (known !== undefined) return known;
  const loading = description.load().then(
    (support) => support.language.parser,
    () => null,
  );
  parsers.set(description.name, loading);
  return loading;
}

/** Colours a hunk: each side is parsed as one text, so that what spans lines is right within the hunk. */
export function highlightHunk(hunk: DiffHunk, parser: Parser): Highlights {
  const spans: Span[][] = hunk.lines.map(() => []);
  colourSide(hunk.lines, "removed", parser, spans);
  colourSide(hunk.lines, "added", parser, spans);
  return spans;
}

function colourSide(lines: readonly DiffLine[], side: "added" | "removed", parser: Parser, spans: Span[][]): void {
  const starts: { at: number; from: number; text: string }[] = [];
  let length = 0;
  const texts: string[] = [];
  lines.forEach((line, at) => {
    if (line.kind !== "context" && line.kind !== side) return;
    const text = lineText(line);
    starts.push({ at, from: length, text });
    texts.push(text);
    length += text.length + 1;
  });
  if (length > PARSED_CHARACTERS || starts.length === 0) return;
  const source = texts.join("\n");
  const tree = parser.parse(source);
  let current = 0;
  highlightTree(tree, highlighter, (from, to, classes) => {
    let place = from;
    while (place < to) {
      while (current + 1 < starts.length && (starts[current + 1]?.from ?? Number.POSITIVE_INFINITY) <= place) current += 1;
      const line = starts[current];
      if (line === undefined) return;
      const end = Math.min(to, line.from + line.text.length);
      // A context line is on both sides; it takes the colours of the new one.
      const mine = side === "added" || lines[line.at]?.kind === "removed";
      if (mine && end > place && line.text.length <= COLOURED_LINE) {
        spans[line.at]?.push({ from: place - line.from, to: end - line.from, class: classes });
      }
      place = Math.max(end, line.from + line.text.length) + 1;
    }
  });
}
