/** Reads a unified diff of one file into hunks that the diff view shows. Pure; headers before the first hunk are skipped. */
import type { DiffHunk, DiffLine, LineKind } from "../../protocol";

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;
const KINDS: Readonly<Record<string, LineKind>> = { "+": "added", "-": "removed", " ": "context" };

export function parseUnifiedDiff(diff: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let [old, fresh] = [0, 0];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const head = HUNK.exec(line);
    const hunk = hunks.at(-1);
    if (head) {
      [old, fresh] = [Number(head[1]), Number(head[2])];
      hunks.push({ oldStart: old, newStart: fresh, heading: head[3] ?? "", lines: [] });
    } else if (hunk && line.startsWith("\\")) {
      const last = hunk.lines.at(-1);
      if (last) last.noNewline = true;
    } else if (hunk) {
      // Some writers drop the blank of an empty context line.
      const kind = line === "" ? "context" : KINDS[line[0] ?? ""];
      if (!kind) continue;
      hunk.lines.push({
        kind,
        old: kind === "added" ? null : old,
        new: kind === "removed" ? null : fresh,
        runs: [{ text: line.slice(1), changed: false }],
        noNewline: false,
      });
      if (kind !== "added") old += 1;
      if (kind !== "removed") fresh += 1;
    }
  }
  for (const hunk of hunks) markWords(hunk.lines);
  return hunks;
}

/** Marks what changed within a line, where as many lines came as went. */
function markWords(lines: DiffLine[]): void {
  for (let i = 0; i < lines.length; ) {
    const gone = countFrom(lines, i, "removed");
    const come = countFrom(lines, i + gone, "added");
    if (gone > 0 && gone === come) for (let k = 0; k < gone; k += 1) markPair(lines[i + k], lines[i + gone + k]);
    i += Math.max(1, gone + come);
  }
}

function countFrom(lines: readonly DiffLine[], from: number, kind: LineKind): number {
  let n = 0;
  while (lines[from + n]?.kind === kind) n += 1;
  return n;
}

function markPair(gone: DiffLine | undefined, come: DiffLine | undefined): void {
  const a = gone?.runs[0]?.text ?? "";
  const b = come?.runs[0]?.text ?? "";
  const limit = Math.min(a.length, b.length);
  let head = 0;
  while (head < limit && a[head] === b[head]) head += 1;
  let end = 0;
  while (end < limit - head && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  // Lines that share little are clearer without marks.
  if (!gone || !come || head + end < Math.max(a.length, b.length) / 3) return;
  gone.runs = cut(a, head, end);
  come.runs = cut(b, head, end);
}

function cut(text: string, head: number, end: number): DiffLine["runs"] {
  const parts = [
    { text: text.slice(0, head), changed: false },
    { text: text.slice(head, text.length - end), changed: true },
    { text: text.slice(text.length - end), changed: false },
  ];
  const runs = parts.filter((part) => part.text !== "");
  return runs.length === 0 ? [{ text: "", changed: false }] : runs;
}
