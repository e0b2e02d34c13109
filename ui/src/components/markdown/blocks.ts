/**
 * Cuts streamed markdown into top-level blocks, so that only the last one is parsed and rendered again.
 *
 * A block is closed once another one follows. Pure; parsing is done by Lezer's markdown parser, no HTML is made.
 */
import { GFM, parser as commonmark } from "@lezer/markdown";

/** CommonMark with tables, task lists, strikethrough and bare addresses. HTML is kept as text by the renderer. */
export const markdownParser = commonmark.configure([GFM]);

/** One top-level block: its place in the whole text and its source. */
export interface MarkdownBlock {
  from: number;
  source: string;
}

/** Returns the top-level blocks of a text. */
export function splitBlocks(source: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  const cursor = markdownParser.parse(source).cursor();
  if (!cursor.firstChild()) return blocks;
  do {
    blocks.push({ from: cursor.from, source: source.slice(cursor.from, cursor.to) });
  } while (cursor.nextSibling());
  return blocks;
}

/** Remembers the closed blocks of a growing text: each growth parses only from the last closed block on. */
export class GrowingBlocks {
  #source = "";
  #closed: MarkdownBlock[] = [];
  #tailFrom = 0;

  /** Returns the blocks of the text; it is expected to begin with what was given before, else all starts over. */
  update(source: string): MarkdownBlock[] {
    if (!source.startsWith(this.#source)) {
      this.#closed = [];
      this.#tailFrom = 0;
    }
    this.#source = source;
    const tail = splitBlocks(source.slice(this.#tailFrom)).map((block) => ({ ...block, from: block.from + this.#tailFrom }));
    const last = tail.at(-1);
    if (last && tail.length > 1) {
      this.#closed = [...this.#closed, ...tail.slice(0, -1)];
      this.#tailFrom = last.from;
      return [...this.#closed, last];
    }
    return [...this.#closed, ...tail];
  }
}
