/**
 * Fetches the diffs of one turn's files as they come on screen: a few at a time, a page of hunks each, the newest
 * wish first.
 *
 * It holds no view state and does not flatten; see `rows.ts`. One loader lives as long as its turn is shown.
 */
import type { DiffHunk, FileDiff } from "../../protocol";

/** What is known of one file's diff. */
export type FileEntry = {
  state: "loading" | "ready" | "failed";
  hunks: readonly DiffHunk[];
  /** More hunks follow. */
  truncated: boolean;
  /** Why there is no text to show; a sentence for the user. */
  notice: string | null;
  modes: { old: string | null; new: string | null } | null;
  message: string;
};

/** Gets one page of a file's diff. */
export type FetchDiff = (path: string, fromHunk: number) => Promise<FileDiff>;

/** Diffs that are asked for at the same time; more would make the file on screen wait for those beside it. */
const PARALLEL = 4;

export class DiffLoader {
  readonly #fetch: FetchDiff;
  readonly #describe: (error: unknown) => string;
  readonly #entries = new Map<string, FileEntry>();
  readonly #listeners = new Set<() => void>();
  #wanted: { path: string; fromHunk: number }[] = [];
  #running = 0;
  #version = 0;
  #closed = false;

  constructor(fetch: FetchDiff, describe: (error: unknown) => string) {
    this.#fetch = fetch;
    this.#describe = describe;
  }

  /** Returns what is known of a file; the same object until it changes. */
  entry(path: string): FileEntry | undefined {
    return this.#entries.get(path);
  }

  /** Calls back after each change. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows with each change, so that a view can compare. */
  version = (): number => this.#version;

  /** Says what is on screen now. Wishes that are no longer on it and not yet sent are dropped. */
  want(pages: readonly { path: string; fromHunk: number }[]): void {
    this.#wanted = pages.filter(({ path, fromHunk }) => this.#isMissing(path, fromHunk));
    this.#pump();
  }

  /** Asks again for a file that failed. */
  retry(path: string): void {
    const entry = this.#entries.get(path);
    if (entry?.state !== "failed") return;
    if (entry.hunks.length === 0) this.#entries.delete(path);
    else this.#entries.set(path, { ...entry, state: "ready", truncated: true });
    this.#wanted = [{ path, fromHunk: entry.hunks.length }, ...this.#wanted];
    this.#changed();
    this.#pump();
  }

  /** Takes up its work, also after it was closed: a view may be mounted twice. */
  open(): void {
    this.#closed = false;
  }

  /** Forgets all; answers that are still to come are dropped. */
  close(): void {
    this.#closed = true;
    this.#wanted = [];
    this.#listeners.clear();
  }

  #isMissing(path: string, fromHunk: number): boolean {
    const entry = this.#entries.get(path);
    if (entry === undefined) return fromHunk === 0;
    return entry.state === "ready" && entry.truncated && entry.hunks.length === fromHunk;
  }

  #pump(): void {
    while (this.#running < PARALLEL) {
      const next = this.#wanted.shift();
      if (next === undefined || this.#closed) return;
      if (this.#isMissing(next.path, next.fromHunk)) void this.#load(next.path, next.fromHunk);
    }
  }

  async #load(path: string, fromHunk: number): Promise<void> {
    const before = this.#entries.get(path) ?? EMPTY;
    this.#running += 1;
    this.#entries.set(path, { ...before, state: "loading" });
    this.#changed();
    try {
      const diff = await this.#fetch(path, fromHunk);
      this.#entries.set(path, addPage(before, diff));
    } catch (error) {
      this.#entries.set(path, { ...before, state: "failed", message: this.#describe(error) });
    }
    this.#running -= 1;
    this.#changed();
    this.#pump();
  }

  #changed(): void {
    if (this.#closed) return;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

const EMPTY: FileEntry = { state: "loading", hunks: [], truncated: false, notice: null, modes: null, message: "" };

/** Adds a page to what is known of a file. A page without hunks ends it, whatever it says. */
export function addPage(before: FileEntry, diff: FileDiff): FileEntry {
  const modes = { old: diff.oldMode, new: diff.newMode };
  switch (diff.content.kind) {
    case "text": {
      const hunks = [...before.hunks, ...diff.content.hunks];
      const truncated = diff.content.truncated && diff.content.hunks.length > 0;
      return { state: "ready", hunks, truncated, notice: null, modes, message: "" };
    }
    case "binary":
    case "missing":
      return { state: "ready", hunks: [], truncated: false, notice: diff.content.reason, modes, message: "" };
  }
}
