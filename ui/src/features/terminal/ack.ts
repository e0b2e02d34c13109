/**
 * Counts the bytes that the terminal drew and says so to the backend in portions. The backend sends at most 256 KiB
 * beyond what was acknowledged and then stops reading the PTY, so that a flood slows the program and not the window.
 */

/** Bytes after which a portion is acknowledged: an eighth of what may be on the way. */
export const PORTION_BYTES = 32 * 1024;

export class Acknowledger {
  readonly #send: (bytes: number) => void;
  #drawn = 0;
  #onTheWay = 0;

  constructor(send: (bytes: number) => void) {
    this.#send = send;
  }

  /** A chunk came and was given to the terminal. */
  received(bytes: number): void {
    this.#onTheWay += bytes;
  }

  /** The terminal drew a chunk. The rest is acknowledged at once when nothing else is on the way. */
  drawn(bytes: number): void {
    this.#onTheWay -= bytes;
    this.#drawn += bytes;
    if (this.#drawn < PORTION_BYTES && this.#onTheWay > 0) return;
    const portion = this.#drawn;
    this.#drawn = 0;
    if (portion > 0) this.#send(portion);
  }
}
