/** The whole diff of a planned write, wrapped and never clipped. Long ones are drawn in chunks as they come in view. */
import { useEffect, useMemo, useState } from "react";

import { DiffLine } from "../../components/diff-line";
import type { Highlights } from "../../components/diff-text";
import type { DiffHunk } from "../../protocol";
import { text } from "../../text/en";
import { parseUnifiedDiff } from "./unified-diff";

import "../../components/diff.css";

/** Lines of one chunk: about two windows. */
const CHUNK_LINES = 120;

export function EditDiff({ path, diff }: { path: string; diff: string }) {
  const hunks = useMemo(() => parseUnifiedDiff(diff), [diff]);
  const colours = useColours(path, hunks);
  const words = text.changes.line;
  return (
    <div className="card-diff" role="group" aria-label={text.conversation.approval.diffLabel(path)}>
      {hunks.map((hunk, h) => (
        <div key={`${hunk.oldStart}:${hunk.newStart}`} className="card-hunk">
          {chunks(hunk).map((lines, c) => (
            <div key={c} className="card-chunk" style={{ containIntrinsicSize: `auto ${lines.length * 1.2}rem` }}>
              {lines.map((line, i) => (
                <DiffLine
                  key={i}
                  line={line}
                  numbers="both"
                  spans={colours?.[h]?.[c * CHUNK_LINES + i]}
                  words={words}
                />
              ))}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

function chunks(hunk: DiffHunk): DiffHunk["lines"][] {
  const out: DiffHunk["lines"][] = [];
  for (let i = 0; i < hunk.lines.length; i += CHUNK_LINES) out.push(hunk.lines.slice(i, i + CHUNK_LINES));
  return out;
}

function useColours(path: string, hunks: readonly DiffHunk[]): Highlights[] | null {
  const [made, setMade] = useState<Highlights[] | null>(null);
  useEffect(() => {
    let wanted = true;
    const colour = async () => {
      // Parsers are large and only colour: the text is shown without waiting for them.
      const { highlightHunk, parserFor } = await import("../../components/diff-highlight");
      const parser = await parserFor(path);
      if (wanted && parser) setMade(hunks.map((hunk) => highlightHunk(hunk, parser)));
    };
    colour().catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [path, hunks]);
  return made;
}
