/**
 * The diffs of a turn's files as one virtual list: 2,000 files and 50,000 lines are some 80 rows in the page.
 *
 * It decides what is loaded (what is on screen) and keeps the reader's place when something above grows. What a row
 * looks like is in `diff-row.tsx`, how rows are made in `rows.ts`.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type Ref } from "react";

import { lineText } from "../../components/diff-text";
import { DiffHighlighter } from "../../components/diff-highlighter";
import type { ChangedFile } from "../../protocol";
import type { DiffLoader } from "./diff-loader";
import { DiffRow, FileHead, type RowActs } from "./diff-row";
import { remPixels } from "./file-tree-view";
import { type Cursor, fileRows, type Layout, layOut, placeOf, type Row, rowAt, rowKey, type Rows, segmentAt } from "./rows";

/** What the panel can ask of the list. */
export interface DiffListHandle {
  /** Brings a hunk, or its file, to the top. */
  reveal(cursor: Cursor): void;
  /** Where the reader is: the first hunk or file on screen. */
  place(): Cursor | null;
}

type Props = {
  ref: Ref<DiffListHandle>;
  label: string;
  files: readonly ChangedFile[];
  closed: ReadonlySet<string>;
  loader: DiffLoader;
  layout: Layout;
  acts: RowActs;
  onHere: (path: string | null) => void;
};

/** Height of a file's head, as `changes.css` has it. */
const HEAD_REM = 2.25;

export function DiffList({ ref, label, files, closed, loader, layout, acts, onHere }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const { columns, rem } = useMetrics(scroller, layout);
  const rows = useRows(files, closed, loader, layout);
  const highlighter = useMemo(() => new DiffHighlighter(), []);
  useSyncExternalStore(highlighter.subscribe, highlighter.version);

  // The list lays all rows out again when one of these changes, so they must not be new at each scroll.
  const estimateSize = useCallback((index: number) => rowHeight(rowAt(rows, index), rem, columns), [rows, rem, columns]);
  const getItemKey = useCallback((index: number) => rowKey(rows, index), [rows]);
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 12,
    scrollPaddingStart: HEAD_REM * rem,
  });
  const first = virtual.range?.startIndex ?? 0;
  const last = virtual.range?.endIndex ?? 0;

  useLoading(rows, first, last, loader);
  useAnchor(virtual, rows, scroller);
  useLayoutEffect(() => virtual.measure(), [columns, rem, virtual]);

  const top = segmentAt(rows, first);
  const here = top?.path ?? null;
  useEffect(() => onHere(here), [here, onHere]);
  useImperativeHandle(ref, () => ({
    reveal: (cursor) => {
      // Below the file's head: the head itself for the first hunk, the one that stays on top for the others.
      const place = placeOf(rows, cursor);
      if (place === null) return;
      const below = rowAt(rows, place)?.kind === "file" && rowAt(rows, place + 1)?.kind !== "file" ? place + 1 : place;
      virtual.scrollToIndex(Math.min(below, rows.count - 1), { align: "start" });
    },
    place: () => cursorAt(rows, virtual.range?.startIndex ?? 0, virtual.range?.endIndex ?? 0, acts.cursor),
  }));

  const head = top?.rows[0];
  const headIsGone = head?.kind === "file" && head.open && first > (top?.start ?? 0);
  return (
    <div className="diff-pane">
      {headIsGone ? (
        <div className="diff-sticky">
          <FileHead file={head.file} open={head.open} acts={acts} />
        </div>
      ) : null}
      <section className="diffs" ref={scroller} aria-label={label} tabIndex={0}>
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rowAt(rows, item.index);
            if (row === undefined) return null;
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="diff-at" style={{ transform: `translateY(${item.start}px)` }}>
                <DiffRow row={row} acts={acts} colours={"hunk" in row ? highlighter.get(row.file.path, row.hunk) : undefined} />
              </div>
            );
          })}
        </div>
      </section>
    </div>
  );
}

/** Makes the rows, keeping those of files whose diff, layout and openness did not change. */
function useRows(files: readonly ChangedFile[], closed: ReadonlySet<string>, loader: DiffLoader, layout: Layout): Rows {
  const version = useSyncExternalStore(loader.subscribe, loader.version);
  const kept = useRef(new Map<string, { sign: readonly unknown[]; rows: Row[] }>());
  return useMemo(() => {
    const before = kept.current;
    const after = new Map<string, { sign: readonly unknown[]; rows: Row[] }>();
    const parts = files.map((file) => {
      const open = !closed.has(file.path);
      const entry = open ? loader.entry(file.path) : undefined;
      const sign = [file, entry, layout, open];
      const old = before.get(file.path);
      const same = old?.sign.every((part, at) => part === sign[at]) ?? false;
      const rows = same && old !== undefined ? old.rows : fileRows(file, entry, layout, open);
      after.set(file.path, { sign, rows });
      return { path: file.path, rows };
    });
    kept.current = after;
    return layOut(parts);
    // The version stands for what the loader knows.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [files, closed, loader, layout, version]);
}

/** Asks for the diffs of what is on screen and of what comes next. */
function useLoading(rows: Rows, first: number, last: number, loader: DiffLoader): void {
  useEffect(() => {
    const pages: { path: string; fromHunk: number }[] = [];
    for (let index = first; index <= last + 12; index++) {
      const row = rowAt(rows, index);
      if (row?.kind === "loading") pages.push({ path: row.file.path, fromHunk: 0 });
      else if (row?.kind === "more") pages.push({ path: row.file.path, fromHunk: row.fromHunk });
    }
    loader.want(pages);
  }, [rows, first, last, loader]);
}

type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>;

/** Keeps the row that the reader looks at in its place when rows above it come or go. */
function useAnchor(virtual: Virtual, rows: Rows, scroller: { current: HTMLDivElement | null }): void {
  const anchor = useRef<{ rows: Rows; row: Row; path: string; below: number } | null>(null);
  useLayoutEffect(() => {
    const held = anchor.current;
    const pane = scroller.current;
    if (held === null || pane === null || held.rows === rows) return;
    const segment = rows.segments.find((part) => part.path === held.path);
    if (segment === undefined) return;
    const same = segment.rows.indexOf(held.row);
    const like = same === -1 ? segment.rows.findIndex((row) => isLike(row, held.row)) : same;
    if (like === -1) return;
    const offset = virtual.getOffsetForIndex(segment.start + like, "start")?.[0];
    if (offset === undefined) return;
    const wanted = offset - held.below;
    if (Math.abs(wanted - pane.scrollTop) > 1) pane.scrollTo({ top: wanted });
  }, [rows, virtual, scroller]);
  useEffect(() => {
    const top = virtual.scrollOffset ?? 0;
    for (const item of virtual.getVirtualItems()) {
      if (item.end <= top) continue;
      const row = rowAt(rows, item.index);
      const segment = segmentAt(rows, item.index);
      if (row === undefined || segment === undefined || row.kind === "loading") continue;
      anchor.current = { rows, row, path: segment.path, below: item.start - top };
      return;
    }
  });
}

function isLike(a: Row, b: Row): boolean {
  if (a.kind === "hunk" && b.kind === "hunk") return a.index === b.index;
  return a.kind === b.kind && a.kind === "file";
}

/** Where the reader is: the cursor while it is on screen, else the first hunk or file that is. */
function cursorAt(rows: Rows, first: number, last: number, cursor: Cursor | null): Cursor | null {
  if (cursor !== null) {
    const place = placeOf(rows, cursor);
    if (place !== null && place >= first - 1 && place <= last) return cursor;
  }
  const segment = segmentAt(rows, first);
  if (segment === undefined) return null;
  let hunk = 0;
  for (const row of segment.rows.slice(0, first - segment.start + 1)) if (row.kind === "hunk") hunk = row.index;
  return { path: segment.path, hunk };
}

/** Characters that fit in a line, 0 until the pane was measured, and pixels of one rem. Read when the size changes, not when drawing. */
function useMetrics(scroller: { current: HTMLDivElement | null }, layout: Layout): { columns: number; rem: number } {
  const [metrics, setMetrics] = useState(() => ({ columns: 0, rem: remPixels() }));
  useLayoutEffect(() => {
    const pane = scroller.current;
    if (pane === null || typeof ResizeObserver === "undefined") return;
    const measure = () => {
      const rem = remPixels();
      const gutter = (layout === "split" ? 2.75 + 1.125 : 2 * 2.75 + 1.125) + 0.5;
      const width = layout === "split" ? pane.clientWidth / 2 : pane.clientWidth;
      // JetBrains Mono is 0.6 em wide; code is 0.75 rem.
      const columns = Math.max(20, Math.floor((width - gutter * rem) / (0.6 * 0.75 * rem)));
      setMetrics((before) => (before.columns === columns && before.rem === rem ? before : { columns, rem }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(pane);
    return () => observer.disconnect();
  }, [scroller, layout]);
  return metrics;
}

/** Height that a row will have, near enough that the scroll bar does not jump when it is measured. */
function rowHeight(row: Row | undefined, rem: number, columns: number): number {
  const line = 0.75 * 1.6 * rem;
  switch (row?.kind) {
    case "file":
      return HEAD_REM * rem;
    case "hunk":
      return 1.75 * rem;
    case "loading":
      return Math.max(2, row.lines * 1.2) * rem;
    case "line":
      return line * wraps(lineText(row.line), columns);
    case "pair":
      return line * Math.max(row.left === null ? 1 : wraps(lineText(row.left.line), columns), row.right === null ? 1 : wraps(lineText(row.right.line), columns));
    default:
      return 2 * rem;
  }
}

function wraps(line: string, columns: number): number {
  return columns === 0 ? 1 : Math.max(1, Math.ceil((line.length + 2) / columns));
}
