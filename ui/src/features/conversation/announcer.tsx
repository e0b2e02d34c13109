/** Tells a screen reader what happened, once: a request that waits, the end of a turn. Streamed text is not read out. */
import type { SessionState } from "../../state/session";
import { text } from "../../text/en";
import { approvalTitle } from "./approval-content";

export function Announcer({ state }: { state: SessionState }) {
  return (
    <div className="sr-only" role="status" aria-live="polite">
      {message(state)}
    </div>
  );
}

function message(state: SessionState): string {
  const [request] = state.pending;
  if (request) return `${text.frame.states.attention}: ${approvalTitle(request)}`;
  const [question] = state.questions;
  if (question) return text.conversation.question.label(question.question);
  const last = state.timeline.blocks.at(-1);
  if (last?.kind !== "turn" || last.number === null) return "";
  return last.ending ? text.conversation.turn(last.number) : text.conversation.turnOpen(last.number);
}
