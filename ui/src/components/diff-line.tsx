/** One side of one line of a diff: number, sign, text. No listeners, no state; colours come from classes. */
import { memo } from "react";

import type { DiffLine as Line } from "../protocol";
import { indentOf, lineText, pieces, type Span } from "./diff-text";

const NOTHING: readonly Span[] = [];

/** Words of a line that are not its text. */
export type LineWords = { added: string; removed: string; noNewline: string };

/** Which numbers are shown before the sign. */
export type Numbers = "both" | "old" | "new";

type Props = {
  line: Line;
  numbers: Numbers;
  spans: readonly Span[] | undefined;
  words: LineWords;
};

export const DiffLine = memo(function DiffLine({ line, numbers, spans, words }: Props) {
  const text = lineText(line);
  const hang = indentOf(text) + 2;
  return (
    <div className={`diff-line is-${line.kind}`}>
      {numbers !== "new" && <span className="diff-number">{line.old ?? ""}</span>}
      {numbers !== "old" && <span className="diff-number">{line.new ?? ""}</span>}
      <Sign line={line} words={words} />
      <code style={{ paddingInlineStart: `${hang}ch`, textIndent: `-${hang}ch` }}>
        {pieces(line.runs, spans ?? NOTHING).map((piece, at) => {
          const key = `${at}`;
          if (piece.changed) {
            return (
              <mark key={key} className={piece.class}>
                {piece.text}
              </mark>
            );
          }
          return piece.class === "" ? (
            piece.text
          ) : (
            <span key={key} className={piece.class}>
              {piece.text}
            </span>
          );
        })}
        {line.noNewline && <span className="diff-no-newline">{words.noNewline}</span>}
      </code>
    </div>
  );
});

function Sign({ line, words }: { line: Line; words: LineWords }) {
  switch (line.kind) {
    case "added":
      return (
        <span className="diff-sign">
          <span aria-hidden="true">+</span>
          <span className="sr-only">{words.added}</span>
        </span>
      );
    case "removed":
      return (
        <span className="diff-sign">
          <span aria-hidden="true">−</span>
          <span className="sr-only">{words.removed}</span>
        </span>
      );
    case "context":
      return <span className="diff-sign" />;
  }
}
