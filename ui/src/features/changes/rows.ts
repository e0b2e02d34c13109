/**
 * Flattens a turn's files and the parts of their diffs that are loaded into rows of a virtual list.
 *
 * It never loads anything and knows no layout in pixels; see `diff-loader.ts` and `diff-list.tsx`.
 */
import type { ChangedFile, DiffHunk, DiffLine } from "../../protocol";
import type { FileEntry } from "./diff-loader";

/** How two sides are laid out. */
export type Layout = "unified" | "split";

/** One row of the list. `hunk` counts from 0 within its file. */
export type Row =
  | { kind: "file"; file: ChangedFile; open: boolean }
  | { kind: "loading"; file: ChangedFile; lines: number }
  | { kind: "failed"; file: ChangedFile; message: string }
  | { kind: "notice"; file: ChangedFile; text: string }
  | { kind: "mode"; file: ChangedFile; oldMode: string | null; newMode: string | null }
  | { kind: "hunk"; file: ChangedFile; hunk: DiffHunk; index: number }
  | { kind: "line"; file: ChangedFile; hunk: DiffHunk; line: DiffLine; at: number }
  | { kind: "pair"; file: ChangedFile; hunk: DiffHunk; left: Side; right: Side }
  | { kind: "more"; file: ChangedFile; fromHunk: number };

/** A line of one side, with its place in the hunk; absent where the other side has no partner. */
export type Side = { line: DiffLine; at: number } | null;

/** The rows of one file and where they begin in the whole list. */
export type Segment = { path: string; start: number; rows: readonly Row[] };

/** All rows, addressed by their place. */
export type Rows = { segments: readonly Segment[]; list: readonly Row[]; count: number };

/** Lines that a placeholder stands for at most, so that a huge unread file does not push the rest away. */
export const PLACEHOLDER_LINES = 40;

/** Makes the rows of one file. Pure, so the caller may keep the result while entry, layout and `open` are the same. */
export function fileRows(file: ChangedFile, entry: FileEntry | undefined, layout: Layout, open: boolean): Row[] {
  const rows: Row[] = [{ kind: "file", file, open }];
  if (!open) return rows;
  if (entry === undefined || (entry.state === "loading" && entry.hunks.length === 0)) {
    rows.push({ kind: "loading", file, lines: expectedLines(file) });
    return rows;
  }
  if (entry.modes !== null && entry.modes.old !== null && entry.modes.new !== null && entry.modes.old !== entry.modes.new) {
    rows.push({ kind: "mode", file, oldMode: entry.modes.old, newMode: entry.modes.new });
  }
  if (entry.notice !== null) rows.push({ kind: "notice", file, text: entry.notice });
  entry.hunks.forEach((hunk, index) => {
    rows.push({ kind: "hunk", file, hunk, index });
    if (layout === "unified") {
      hunk.lines.forEach((line, at) => rows.push({ kind: "line", file, hunk, line, at }));
    } else {
      for (const pair of pairs(hunk.lines)) rows.push({ kind: "pair", file, hunk, ...pair });
    }
  });
  if (entry.state === "failed") rows.push({ kind: "failed", file, message: entry.message });
  else if (entry.truncated) rows.push({ kind: "more", file, fromHunk: entry.hunks.length });
  return rows;
}

/** Puts removed and added lines that follow one another beside each other, in order. */
export function pairs(lines: readonly DiffLine[]): { left: Side; right: Side }[] {
  const out: { left: Side; right: Side }[] = [];
  let gone: NonNullable<Side>[] = [];
  let come: NonNullable<Side>[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) {
      out.push({ left: gone[i] ?? null, right: come[i] ?? null });
    }
    gone = [];
    come = [];
  };
  lines.forEach((line, at) => {
    switch (line.kind) {
      case "removed":
        // A removal after an addition opens a new group: they do not belong together.
        if (come.length > 0) flush();
        gone.push({ line, at });
        break;
      case "added":
        come.push({ line, at });
        break;
      case "context":
        flush();
        out.push({ left: { line, at }, right: { line, at } });
        break;
    }
  });
  flush();
  return out;
}

/** Lays the segments of all files one after another. */
export function layOut(parts: readonly { path: string; rows: readonly Row[] }[]): Rows {
  const segments: Segment[] = [];
  const list: Row[] = [];
  for (const { path, rows } of parts) {
    segments.push({ path, start: list.length, rows });
    for (const row of rows) list.push(row);
  }
  return { segments, list, count: list.length };
}

/** Returns the segment that a row belongs to. */
export function segmentAt(rows: Rows, index: number): Segment | undefined {
  let low = 0;
  let high = rows.segments.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const segment = rows.segments[middle];
    if (segment === undefined) return undefined;
    if (index < segment.start) high = middle - 1;
    else if (index >= segment.start + segment.rows.length) low = middle + 1;
    else return segment;
  }
  return undefined;
}

/** Returns the row at a place. */
export function rowAt(rows: Rows, index: number): Row | undefined {
  return rows.list[index];
}

const names = new WeakMap<Row, number>();
let lastName = 0;

/** A name of a row for the virtual list: the same as long as the row is the same object, and of no other row. */
export function rowKey(rows: Rows, index: number): number {
  const row = rows.list[index];
  if (row === undefined) return -1 - index;
  const known = names.get(row);
  if (known !== undefined) return known;
  lastName += 1;
  names.set(row, lastName);
  return lastName;
}

/** Where the reader is: a file and a hunk in it. */
export type Cursor = { path: string; hunk: number };

/** Returns the place of the cursor's hunk, or of its file while the hunk is not loaded. */
export function placeOf(rows: Rows, cursor: Cursor): number | null {
  const segment = rows.segments.find((part) => part.path === cursor.path);
  if (segment === undefined) return null;
  const offset = segment.rows.findIndex((row) => row.kind === "hunk" && row.index === cursor.hunk);
  return segment.start + Math.max(offset, 0);
}

/** How many hunks of a file are loaded, and whether there are more. */
export type HunkCount = (path: string) => { loaded: number; more: boolean };

/** Moves to the next or previous hunk, over the borders of files. Stays where it is at either end. */
export function moveHunk(paths: readonly string[], cursor: Cursor | null, step: 1 | -1, count: HunkCount): Cursor | null {
  const first = paths[0];
  if (first === undefined) return null;
  if (cursor === null || !paths.includes(cursor.path)) return { path: first, hunk: 0 };
  const { loaded } = count(cursor.path);
  const wanted = cursor.hunk + step;
  if (wanted >= 0 && wanted < loaded) return { path: cursor.path, hunk: wanted };
  const next = paths[paths.indexOf(cursor.path) + step];
  if (next === undefined) return cursor;
  return { path: next, hunk: step === 1 ? 0 : Math.max(0, count(next).loaded - 1) };
}

/** Moves to the next or previous file. Stays at either end. */
export function moveFile(paths: readonly string[], cursor: Cursor | null, step: 1 | -1): Cursor | null {
  const at = cursor === null ? -1 : paths.indexOf(cursor.path);
  const path = at === -1 ? paths[0] : (paths[at + step] ?? cursor?.path);
  return path === undefined ? null : { path, hunk: 0 };
}

function expectedLines(file: ChangedFile): number {
  return file.binary ? 1 : Math.min(PLACEHOLDER_LINES, file.added + file.removed + 4);
}
