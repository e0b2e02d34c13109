/**
 * Colours hunks one after another outside of rendering, so that scrolling never waits for a parser, and keeps what it
 * made as long as the hunk lives.
 *
 * A view asks with `get`, draws plain text at first, and again when `version` grows.
 */
import type { DiffHunk } from "../protocol";
import { type Highlights, highlightHunk, parserFor } from "./diff-highlight";

/** Time that one pass may take before it lets the window draw. */
const PASS_MS = 8;

export class DiffHighlighter {
  readonly #done = new WeakMap<DiffHunk, Highlights>();
  readonly #asked = new WeakSet<DiffHunk>();
  readonly #listeners = new Set<() => void>();
  #queue: { path: string; hunk: DiffHunk }[] = [];
  #busy = false;
  #version = 0;

  /** Returns the colours of a hunk, or nothing yet; then they are made. */
  get(path: string, hunk: DiffHunk): Highlights | undefined {
    const known = this.#done.get(hunk);
    if (known !== undefined || this.#asked.has(hunk)) return known;
    this.#asked.add(hunk);
    this.#queue.push({ path, hunk });
    if (!this.#busy) {
      this.#busy = true;
      setTimeout(() => void this.#work(), 0);
    }
    return undefined;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows when more hunks are coloured. */
  version = (): number => this.#version;

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const began = performance.now();
      // The newest wish first: it is what is on screen now.
      for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
        const parser = await parserFor(next.path);
        if (parser !== null) this.#done.set(next.hunk, highlightHunk(next.hunk, parser));
        if (performance.now() - began > PASS_MS) break;
      }
      this.#version += 1;
      for (const listener of this.#listeners) listener();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#busy = false;
  }
}
