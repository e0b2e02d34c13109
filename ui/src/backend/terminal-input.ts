/**
 * Sends what is typed into a terminal in the order in which it was typed.
 *
 * Calls to the shell run side by side and may overtake each other. So one is under way at a time for each terminal, and
 * what is typed meanwhile goes with the next one.
 */
import type { TerminalWriteParams } from "../protocol";

type Send = (params: TerminalWriteParams) => Promise<void>;

interface Line {
  waiting: string;
  /** The call that will take what waits; null when none is due. */
  next: Promise<void> | null;
  /** The call that is under way, or the last one. */
  running: Promise<void>;
}

/** Returns a `send` that keeps the order. Each call ends as the one that carried its text does. */
export function inOrder(send: Send): Send {
  const lines = new Map<string, Line>();
  return ({ terminalId, data }) => {
    const line = lines.get(terminalId) ?? { waiting: "", next: null, running: Promise.resolve() };
    lines.set(terminalId, line);
    line.waiting += data;
    line.next ??= line.running
      .catch(() => undefined)
      .then(() => {
        const all = line.waiting;
        line.waiting = "";
        line.next = null;
        line.running = send({ terminalId, data: all });
        return line.running;
      });
    return line.next;
  };
}
