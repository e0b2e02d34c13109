/** One tool call: verb, object, how it went; its output live while it runs, its arguments when opened. */
import { memo, useState } from "react";

import { Button } from "../../components/button";
import { Elapsed } from "../../components/elapsed";
import { Icon } from "../../components/icon";
import { LineCounts } from "../../components/line-counts";
import { StateSign } from "../../components/state-sign";
import { liveName } from "../../state/live-texts";
import { attempt } from "../../state/problems";
import type { StepPlace } from "../../state/rows";
import { useLiveText, useSession } from "../../state/session-store";
import { shell } from "../../state/shell";
import type { CallItem } from "../../state/timeline";
import { text } from "../../text/en";
import { duration } from "../../text/format";
import { Lane } from "./lane";
import { StepBody } from "./step-body";
import { tail, toolView, withoutControls } from "./tool-view";

const words = text.conversation.step;

/** Lines that a running command shows of its output. */
const LIVE_LINES = 8;

export interface StepProps {
  call: CallItem;
  place: StepPlace;
  /** Whether its turn still runs. */
  open: boolean;
  running: boolean;
}

/** Calls that do nothing but wait for the user. */
const WAIT_FOR_YOU: ReadonlySet<string> = new Set(["ask_user", "propose_plan", "request_directory"]);

/** How a call went, in one word. */
type Fate = "waits" | "asks" | "runs" | "done" | "failed" | "denied" | "unknown";

export function fateOf(call: CallItem, open: boolean): Fate {
  if (call.decision && call.decision.outcome !== "allow") return "denied";
  if (call.output !== null) {
    const exit = call.details?.exit_code;
    return (call.stop !== null && call.stop !== "completed") || (exit !== undefined && exit !== 0) ? "failed" : "done";
  }
  if (!open) return "unknown";
  if (call.request && !call.decision) return "asks";
  if (call.startedAt && WAIT_FOR_YOU.has(call.tool)) return "asks";
  return call.startedAt ? "runs" : "waits";
}

export const Step = memo(function Step({ call, place, open, running }: StepProps) {
  const fate = fateOf(call, open);
  const [shown, setShown] = useState(false);
  const view = toolView(call);
  const classes = ["step", place.first ? "is-first" : "", place.last ? "is-last" : "", fate === "runs" ? "is-running" : "", fate === "failed" ? "is-failed" : ""];
  return (
    <Lane dashed={open} tight={!place.last}>
      <div className={classes.filter(Boolean).join(" ")}>
        <div className="step-head">
          <button type="button" className="step-open" aria-expanded={shown} onClick={() => setShown(!shown)}>
            <Icon name={view.icon} />
            <span className="verb">{view.verb}</span>
            <span className="what cut">{view.what}</span>
            <span className="grow" />
            <Meta call={call} fate={fate} />
            {fate === "runs" ? null : <Icon name={shown ? "down" : "right"} className="muted" />}
          </button>
          {fate === "runs" && call.tool === "run_shell" ? <StopCommand callId={call.callId} /> : null}
        </div>
        {shown ? <StepBody call={call} /> : <Peek call={call} fate={fate} running={running} />}
      </div>
    </Lane>
  );
});

function Meta({ call, fate }: { call: CallItem; fate: Fate }) {
  const { details } = call;
  const added = details?.edits?.reduce((sum, edit) => sum + edit.added, 0) ?? 0;
  const removed = details?.edits?.reduce((sum, edit) => sum + edit.removed, 0) ?? 0;
  return (
    <span className="meta">
      {call.details?.confined === false ? <span className="tag attention">{words.unconfined}</span> : null}
      <FateTag call={call} fate={fate} />
      {/* The summary of an edit is the same two numbers again. */}
      {details?.summary && added + removed === 0 ? <span className="num">{details.summary}</span> : null}
      <LineCounts added={added} removed={removed} />
      {fate === "runs" && call.startedAt ? <Elapsed since={call.startedAt} /> : null}
      {details && details.duration_ms >= 1000 ? <span className="num">{duration(details.duration_ms)}</span> : null}
    </span>
  );
}

function FateTag({ call, fate }: { call: CallItem; fate: Fate }) {
  switch (fate) {
    case "runs":
      return (
        <span className="tag busy">
          <StateSign name="busy" />
          {words.running}
        </span>
      );
    case "asks":
      return (
        <span className="tag attention">
          <StateSign name="attention" />
          {words.asks}
        </span>
      );
    case "denied":
      return (
        <span className="tag danger">
          <StateSign name="failed" />
          {words.denied}
        </span>
      );
    case "failed":
      return (
        <span className="tag danger">
          <StateSign name="failed" />
          {failure(call)}
        </span>
      );
    case "unknown":
      return <span className="tag">{words.noResult}</span>;
    case "waits":
    case "done":
      return null;
  }
}

function failure(call: CallItem): string {
  if (call.stop === "aborted") return words.stopped;
  if (call.stop === "timeout") return words.timeout;
  const exit = call.details?.exit_code;
  return exit !== undefined && exit !== 0 ? words.exit(exit) : words.failed;
}

/** What a step shows while it is closed: live output, or why it failed. */
function Peek({ call, fate, running }: { call: CallItem; fate: Fate; running: boolean }) {
  if (fate === "runs" && running) return <LiveOutput callId={call.callId} />;
  if (fate === "failed" && call.output) {
    const { shown, hidden } = tail(withoutControls(call.output), 4);
    if (shown.trim() === "") return null;
    return (
      <pre className="out">
        {shown}
        {hidden > 0 ? <span className="muted">{`\n${words.moreLines(hidden)}`}</span> : null}
      </pre>
    );
  }
  if (fate === "denied" && call.decision?.reason) return <pre className="out">{call.decision.reason}</pre>;
  return null;
}

function LiveOutput({ callId }: { callId: string }) {
  const output = useLiveText(liveName("output", callId));
  if (output === "") return null;
  // Only the end is looked at: a command may have given very much by now.
  const { shown } = tail(withoutControls(output.slice(-16_000)), LIVE_LINES);
  return <pre className="out">{shown}</pre>;
}

function StopCommand({ callId }: { callId: string }) {
  const stop = () => {
    const { id } = useSession.getState();
    if (id) void attempt("session", () => shell().session.stopCommand({ sessionId: id, toolCallId: callId }));
  };
  return (
    <Button dense tone="quiet" onClick={stop}>
      {words.stop}
    </Button>
  );
}
