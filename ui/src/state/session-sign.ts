/** The state of a session as the window shows it: five signs, each with a shape, a colour and a word. */
import type { SessionSummary } from "../protocol";

export type SessionSign = "busy" | "attention" | "ready" | "idle" | "failed";

/** Returns the sign. `unseen` is whether its last turn ended while another session was shown. */
export function signOf(session: SessionSummary, unseen: boolean): SessionSign {
  switch (session.activity.state) {
    case "working":
    case "restoring":
      return "busy";
    case "needs_you":
      return "attention";
    case "failed":
      return "failed";
    case "idle":
      return unseen ? "ready" : "idle";
  }
}
