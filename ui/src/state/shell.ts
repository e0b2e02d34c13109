/**
 * The backend that this window uses. Features call it through here and never import `backend/` themselves.
 */
import type { Backend } from "../backend/backend";

export { ShellError, type Backend, type TerminalChunk, type Unsubscribe } from "../backend/backend";

let current: Backend | undefined;

/** Sets the backend; once at start, and in tests. */
export function connectShell(backend: Backend): void {
  current = backend;
}

/** Returns the backend. */
export function shell(): Backend {
  if (!current) throw new Error("connectShell has not been called");
  return current;
}
