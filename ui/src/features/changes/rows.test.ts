import { describe, expect, it } from "vitest";

import { manyFiles, scriptedFile, scriptedHunk } from "../../backend/scripted-changes";
import type { FileEntry } from "./diff-loader";
import { fileRows, layOut, moveFile, moveHunk, pairs, placeOf, rowAt, rowKey, segmentAt } from "./rows";

const READY: FileEntry = { state: "ready", hunks: [], truncated: false, notice: null, modes: null, message: "" };
const HUNK = scriptedHunk(10, 10, "fn main", " a\n-b\n-c\n+d\n e");

describe("rows of a file", () => {
  it("has only its head when it is closed", () => {
    expect(fileRows(scriptedFile("a.rs"), { ...READY, hunks: [HUNK] }, "unified", false).map((row) => row.kind)).toEqual(["file"]);
  });

  it("has a placeholder of bounded height until its diff is read", () => {
    const [, placeholder] = fileRows(scriptedFile("a.rs", { added: 90_000 }), undefined, "unified", true);
    expect(placeholder).toMatchObject({ kind: "loading", lines: 40 });
  });

  it("has a row a line in one column and a row a pair in two", () => {
    const file = scriptedFile("a.rs");
    const kinds = (layout: "unified" | "split") => fileRows(file, { ...READY, hunks: [HUNK] }, layout, true).map((row) => row.kind);
    expect(kinds("unified")).toEqual(["file", "hunk", "line", "line", "line", "line", "line"]);
    expect(kinds("split")).toEqual(["file", "hunk", "pair", "pair", "pair", "pair"]);
  });

  it("says the mode, the reason without text, what failed, and that more follows", () => {
    const file = scriptedFile("a.rs");
    const kinds = (more: Partial<FileEntry>) => fileRows(file, { ...READY, ...more }, "unified", true).map((row) => row.kind);
    expect(kinds({ modes: { old: "100644", new: "100755" } })).toEqual(["file", "mode"]);
    expect(kinds({ notice: "binary" })).toEqual(["file", "notice"]);
    expect(kinds({ state: "failed", message: "gone" })).toEqual(["file", "failed"]);
    expect(kinds({ truncated: true, hunks: [{ ...HUNK, lines: [] }] })).toEqual(["file", "hunk", "more"]);
  });
});

describe("two columns", () => {
  it("puts what replaces a line beside it and leaves the rest alone", () => {
    const shown = pairs(HUNK.lines).map(({ left, right }) => [left?.line.runs[0]?.text ?? "", right?.line.runs[0]?.text ?? ""]);
    expect(shown).toEqual([
      ["a", "a"],
      ["b", "d"],
      ["c", ""],
      ["e", "e"],
    ]);
  });

  it("does not put a removal beside an addition before it", () => {
    const { lines } = scriptedHunk(1, 1, "", "+new\n-old");
    expect(pairs(lines).map(({ left, right }) => [left?.line.kind, right?.line.kind])).toEqual([
      [undefined, "added"],
      ["removed", undefined],
    ]);
  });

  it("has every line of either side once, in order", () => {
    const { lines } = scriptedHunk(1, 1, "", "-a\n-b\n+c\n d\n+e\n-f\n g");
    const places = (side: "left" | "right") => pairs(lines).flatMap((pair) => pair[side]?.at ?? []);
    expect(places("left")).toEqual(lines.flatMap((line, at) => (line.kind === "added" ? [] : at)));
    expect(places("right")).toEqual(lines.flatMap((line, at) => (line.kind === "removed" ? [] : at)));
  });
});

describe("the list", () => {
  it("finds every row by its place, with a name of its own, for 2,000 files", () => {
    const rows = layOut(manyFiles(2_000, 25).map((file) => ({ path: file.path, rows: fileRows(file, undefined, "unified", true) })));
    expect(rows.count).toBe(4_000);
    expect(rowAt(rows, 3_999)).toMatchObject({ kind: "loading", file: { path: "src/part_39/file_1999.rs" } });
    expect(segmentAt(rows, 4_000)).toBeUndefined();
    expect(new Set(Array.from({ length: rows.count }, (_, index) => rowKey(rows, index))).size).toBe(rows.count);
  });

  it("finds a hunk, or its file while the hunk is not read", () => {
    const rows = layOut([
      { path: "a", rows: fileRows(scriptedFile("a"), { ...READY, hunks: [HUNK, HUNK] }, "unified", true) },
      { path: "b", rows: fileRows(scriptedFile("b"), undefined, "unified", true) },
    ]);
    expect([placeOf(rows, { path: "a", hunk: 1 }), placeOf(rows, { path: "b", hunk: 3 }), placeOf(rows, { path: "c", hunk: 0 })]).toEqual([7, 13, null]);
  });
});

describe("moving", () => {
  const count = (path: string) => ({ loaded: path === "a" ? 2 : 3, more: false });
  const paths = ["a", "b"];

  it("goes by hunk over the borders of files and stays at the ends", () => {
    expect(moveHunk(paths, null, 1, count)).toEqual({ path: "a", hunk: 0 });
    expect(moveHunk(paths, { path: "a", hunk: 0 }, 1, count)).toEqual({ path: "a", hunk: 1 });
    expect(moveHunk(paths, { path: "a", hunk: 1 }, 1, count)).toEqual({ path: "b", hunk: 0 });
    expect(moveHunk(paths, { path: "b", hunk: 0 }, -1, count)).toEqual({ path: "a", hunk: 1 });
    expect(moveHunk(paths, { path: "b", hunk: 2 }, 1, count)).toEqual({ path: "b", hunk: 2 });
    expect(moveHunk([], null, 1, count)).toBeNull();
  });

  it("goes by file and begins anew when the filter took the file away", () => {
    expect(moveFile(paths, { path: "a", hunk: 1 }, 1)).toEqual({ path: "b", hunk: 0 });
    expect(moveFile(paths, { path: "b", hunk: 1 }, 1)).toEqual({ path: "b", hunk: 0 });
    expect(moveFile(paths, { path: "gone", hunk: 1 }, -1)).toEqual({ path: "a", hunk: 0 });
  });
});
