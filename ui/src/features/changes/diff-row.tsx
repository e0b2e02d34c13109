/** One row of the diff list: a file's head, a hunk's head, lines, or what stands in for them. Knows nothing of scrolling. */
import { memo } from "react";

import { Button } from "../../components/button";
import type { Highlights } from "../../components/diff-text";
import { DiffLine } from "../../components/diff-line";
import { Icon } from "../../components/icon";
import type { ChangedFile } from "../../protocol";
import { text } from "../../text/en";
import { FileTags } from "./file-tags";
import { folderOf, nameOf } from "./file-tree";
import { LineCounts } from "../../components/line-counts";
import type { Cursor, Row, Side } from "./rows";
import { SourceSign } from "./source-sign";

/** What the rows of one list share. */
export type RowActs = {
  cursor: Cursor | null;
  canRollBack: boolean;
  onToggle: (path: string) => void;
  onRollBackFile: (path: string) => void;
  onRetry: (path: string) => void;
  onHunk: (cursor: Cursor) => void;
};

type RowProps = { row: Row; acts: RowActs; colours: Highlights | undefined };

export const DiffRow = memo(function DiffRow({ row, acts, colours }: RowProps) {
  switch (row.kind) {
    case "file":
      return <FileHead file={row.file} open={row.open} acts={acts} />;
    case "loading":
      return (
        <div className="diff-note is-loading" style={{ minHeight: `${row.lines * 1.2}rem` }}>
          {text.changes.diff.loading}
        </div>
      );
    case "more":
      return <div className="diff-note is-loading">{text.changes.diff.more}</div>;
    case "failed":
      return (
        <div className="diff-note is-failed" role="alert">
          <Icon name="warn" className="danger" />
          <span className="grow">{text.changes.diff.failed(row.message)}</span>
          <Button dense onClick={() => acts.onRetry(row.file.path)}>
            {text.changes.diff.retry}
          </Button>
        </div>
      );
    case "notice":
      return <Notice file={row.file} reason={row.text} />;
    case "mode":
      return <div className="diff-note">{text.changes.diff.mode(row.oldMode ?? "", row.newMode ?? "")}</div>;
    case "hunk":
      return <HunkHead row={row} acts={acts} />;
    case "line":
      return <DiffLine line={row.line} numbers="both" spans={colours?.[row.at]} words={text.changes.line} />;
    case "pair":
      return (
        <div className="diff-pair">
          <Half side={row.left} numbers="old" colours={colours} />
          <Half side={row.right} numbers="new" colours={colours} />
        </div>
      );
  }
});

function Half({ side, numbers, colours }: { side: Side; numbers: "old" | "new"; colours: Highlights | undefined }) {
  if (side === null) return <div className="is-none" />;
  return <DiffLine line={side.line} numbers={numbers} spans={colours?.[side.at]} words={text.changes.line} />;
}

/** A file's name, counts and act. Also drawn on top of the list while its lines are read. */
export function FileHead({ file, open, acts }: { file: ChangedFile; open: boolean; acts: RowActs }) {
  const words = text.changes.diff;
  const folder = folderOf(file.path);
  return (
    <div className={`fhead ${file.rolledBack ? "gone" : ""}`}>
      <button
        type="button"
        className="fhead-name"
        aria-expanded={open}
        aria-label={open ? words.closeFile(file.path) : words.openFile(file.path)}
        onClick={() => acts.onToggle(file.path)}
      >
        <Icon name={open ? "down" : "right"} className="muted" />
        <SourceSign source={file.source} />
        <code className="cut" title={file.path}>
          {folder === "" ? null : <span className="muted">{folder}/</span>}
          {nameOf(file.path)}
        </code>
        {file.renamedFrom === null ? null : <span className="muted small cut">{words.renamed(file.renamedFrom)}</span>}
      </button>
      <FileTags file={file} />
      <span className="small">
        <LineCounts added={file.added} removed={file.removed} />
      </span>
      {acts.canRollBack && !file.rolledBack ? (
        <Button dense tone="quiet" icon="back" className="fhead-act" onClick={() => acts.onRollBackFile(file.path)}>
          {words.rollBackFile}
        </Button>
      ) : null}
    </div>
  );
}

function HunkHead({ row, acts }: { row: Extract<Row, { kind: "hunk" }>; acts: RowActs }) {
  const { hunk, index, file } = row;
  const at = acts.cursor?.path === file.path && acts.cursor.hunk === index;
  const first = hunk.newStart === 0 ? hunk.oldStart : hunk.newStart;
  return (
    <div className={`hunk-head ${at ? "at" : ""}`}>
      <button
        type="button"
        aria-current={at ? "true" : undefined}
        aria-label={text.changes.diff.hunkOf(index + 1, file.path)}
        onClick={() => acts.onHunk({ path: file.path, hunk: index })}
      >
        <code className="cut">
          <span className="muted">{first}</span>
          {hunk.heading === "" ? "" : `  ${hunk.heading.trim()}`}
        </code>
      </button>
    </div>
  );
}

function Notice({ file, reason }: { file: ChangedFile; reason: string }) {
  const before = file.oldSize === null ? null : bytes(file.oldSize);
  const after = file.newSize === null ? null : bytes(file.newSize);
  return (
    <div className="diff-note is-notice">
      <Icon name="file" />
      <span>{reason}</span>
      {before === null && after === null ? null : <span className="muted num">{text.changes.diff.tooLarge(before, after)}</span>}
    </div>
  );
}

/** A number of bytes with at most three digits and its unit. */
export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? ""}`;
}
