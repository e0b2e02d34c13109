/** Groups a turn's files by folder for the tree, and filters them. Pure; the tree itself is `file-tree-view.tsx`. */
import type { ChangedFile, ChangeSource } from "../../protocol";

/** What the tree shows: a folder, or a file in one. */
export type TreeRow = { kind: "folder"; path: string; open: boolean; files: number } | { kind: "file"; file: ChangedFile; name: string; depth: 0 | 1 };

/** Which files are shown. */
export type Filter = { source: ChangeSource | null; text: string };

export const NO_FILTER: Filter = { source: null, text: "" };

/** Returns the files that pass, in the order given. Words are looked for anywhere in the path, in any case. */
export function filterFiles(files: readonly ChangedFile[], filter: Filter): ChangedFile[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return files.filter((file) => {
    if (filter.source !== null && file.source !== filter.source) return false;
    const path = file.path.toLowerCase();
    return words.every((word) => path.includes(word));
  });
}

/** How many files each source changed. */
export function countSources(files: readonly ChangedFile[]): Record<ChangeSource, number> {
  const counts: Record<ChangeSource, number> = { agent: 0, shell: 0, outside: 0 };
  for (const file of files) counts[file.source] += 1;
  return counts;
}

/**
 * Lays the files out below their folders, folders in the order of their first file, each path once. What the user
 * changed stays among the rest: its sign tells it apart.
 */
export function treeRows(files: readonly ChangedFile[], closed: ReadonlySet<string>): TreeRow[] {
  const byFolder = new Map<string, ChangedFile[]>();
  for (const file of files) {
    const folder = folderOf(file.path);
    const there = byFolder.get(folder);
    if (there === undefined) byFolder.set(folder, [file]);
    else there.push(file);
  }
  const rows: TreeRow[] = [];
  for (const [folder, inside] of byFolder) {
    if (folder === "") {
      for (const file of inside) rows.push({ kind: "file", file, name: file.path, depth: 0 });
      continue;
    }
    const open = !closed.has(folder);
    rows.push({ kind: "folder", path: folder, open, files: inside.length });
    if (!open) continue;
    for (const file of inside) rows.push({ kind: "file", file, name: nameOf(file.path), depth: 1 });
  }
  return rows;
}

/** Returns the path of the folder that a file is in; empty at the top. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

/** Returns the last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
