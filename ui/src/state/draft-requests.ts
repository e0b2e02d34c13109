/** A text that a view wants in the composer of a session, for the user to change and send. */
import { create } from "zustand";

export interface DraftRequests {
  /** With `offer`, what the user wrote already stays. */
  request: { sessionId: string; text: string; offer?: boolean } | null;
}

export const useDraftRequests = create<DraftRequests>()(() => ({ request: null }));
