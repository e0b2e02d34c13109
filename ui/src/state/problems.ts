/**
 * What the user tried and did not work. Shown where the act was made: above the composer, or in a view's own place.
 *
 * One problem at a time and place; the next act of that place clears it.
 */
import { create } from "zustand";

import type { ErrorInfo } from "../protocol";
import { toErrorInfo } from "./session-store";

export interface Problems {
  /** About the open session: shown above the composer. */
  session: ErrorInfo | null;
  /** About an act that belongs to no session: shown on top of the window. */
  app: ErrorInfo | null;
}

export const useProblems = create<Problems>()(() => ({ session: null, app: null }));

export function clearProblem(place: keyof Problems): void {
  if (useProblems.getState()[place]) useProblems.setState({ [place]: null });
}

/** Does an act and keeps what went wrong. Returns whether it worked. A no in the system's dialog is no problem. */
export async function attempt(place: keyof Problems, act: () => Promise<unknown>): Promise<boolean> {
  clearProblem(place);
  try {
    await act();
    return true;
  } catch (cause) {
    const info = toErrorInfo(cause);
    if (info.code !== "declined") useProblems.setState({ [place]: info });
    return false;
  }
}
