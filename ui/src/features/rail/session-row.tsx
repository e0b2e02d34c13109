/** One session of the rail: its state by shape, colour and word. */
import { Elapsed } from "../../components/elapsed";
import { StateSign } from "../../components/state-sign";
import { useNow } from "../../components/use-now";
import type { SessionSummary } from "../../protocol";
import { showSession } from "../../state/actions";
import { useApp } from "../../state/app";
import { signOf } from "../../state/session-sign";
import { text } from "../../text/en";
import { ago } from "../../text/format";

const words = text.frame.rail;

export function SessionRow({ session, here }: { session: SessionSummary; here: boolean }) {
  const unseen = useApp((app) => app.unseen.has(session.id));
  const sign = signOf(session, unseen);
  return (
    <button
      type="button"
      className={`row session ${here ? "is-here" : ""}`}
      aria-current={here ? "page" : undefined}
      title={session.title}
      onClick={() => showSession(session.id)}
    >
      <span className="st">
        <StateSign name={sign} label={text.frame.states[sign]} />
      </span>
      <span className="grow cut">{session.title}</span>
      <span className={`word ${sign === "ready" ? "muted" : sign}`}>
        <Word session={session} unseen={unseen} />
      </span>
    </button>
  );
}

function Word({ session, unseen }: { session: SessionSummary; unseen: boolean }) {
  const { activity } = session;
  switch (activity.state) {
    case "working":
      return <Elapsed since={activity.started_at} />;
    case "needs_you":
      return words.waiting(activity.waiting);
    case "restoring":
      return words.restoring;
    case "failed":
      return words.failed;
    case "idle":
      return unseen ? text.conversation.stone.review : <Ago at={session.lastActiveAt} />;
  }
}

function Ago({ at }: { at: string }) {
  return <span className="num">{ago(at, useNow())}</span>;
}
