/** The inside of an opened step: who decided, the arguments, the output. */
import { useState } from "react";

import { CopyButton } from "../../components/code-block";
import { Icon } from "../../components/icon";
import { liveName } from "../../state/live-texts";
import { useLiveText } from "../../state/session-store";
import type { CallDecision, CallItem } from "../../state/timeline";
import { text } from "../../text/en";
import { clockTime } from "../../text/format";
import { parseArguments, tail, withoutControls } from "./tool-view";

const words = text.conversation.step;

/** Lines of an output that are shown unasked. */
const FIRST_LINES = 40;

export function StepBody({ call }: { call: CallItem }) {
  const live = useLiveText(liveName("output", call.callId));
  const output = withoutControls(call.output ?? live);
  return (
    <>
      {call.decision && call.request ? <DecisionLine decision={call.decision} /> : null}
      <Arguments call={call} />
      <Output output={output} finished={call.output !== null} />
      <Extras call={call} />
    </>
  );
}

function DecisionLine({ decision }: { decision: CallDecision }) {
  const allowed = decision.outcome === "allow";
  return (
    <div className="more-row">
      <span className="decided">
        <Icon name={decision.source === "timeout" ? "clock" : allowed ? "check" : "close"} className={allowed ? "success" : "danger"} />
        {words.decision(decision.outcome, decision.source, decision.scope === null || decision.scope === "once")}
      </span>
      {decision.rule ? <code className="cut">{decision.rule}</code> : null}
      {decision.reason ? <span className="cut">{words.reason(decision.reason)}</span> : null}
      <span className="grow" />
      <span className="num">{clockTime(decision.at)}</span>
    </div>
  );
}

/** A command is shown as it ran; other arguments as lines of name and value. */
function Arguments({ call }: { call: CallItem }) {
  const args = parseArguments(call.arguments);
  const names = Object.keys(args);
  if (names.length === 0) return call.arguments.trim() === "" || call.arguments.trim() === "{}" ? null : <pre className="out">{call.arguments}</pre>;
  const shown = names.map((name) => {
    const value = args[name];
    const plain = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return names.length === 1 ? plain : plain.includes("\n") ? `${name}:\n${plain}` : `${name}: ${plain}`;
  });
  return (
    <pre className="out scroll" aria-label={words.arguments} tabIndex={0}>
      {shown.join("\n")}
    </pre>
  );
}

function Output({ output, finished }: { output: string; finished: boolean }) {
  const [all, setAll] = useState(false);
  if (output.trim() === "") return finished ? <div className="more-row">{words.empty}</div> : null;
  const { shown, hidden } = all ? { shown: output, hidden: 0 } : tail(output, FIRST_LINES);
  return (
    <>
      {hidden > 0 || all ? (
        <div className="more-row" style={{ borderTop: "1px solid var(--line)" }}>
          {hidden > 0 ? <span>{words.moreLines(hidden)}</span> : null}
          <button type="button" className="link" onClick={() => setAll(!all)}>
            {all ? words.showLess : words.showAll}
          </button>
        </div>
      ) : null}
      <pre className="out scroll" aria-label={words.output} tabIndex={0}>
        {shown}
      </pre>
      <div className="more-row">
        <span className="grow" />
        <CopyButton value={output} />
      </div>
    </>
  );
}

function Extras({ call }: { call: CallItem }) {
  const { details } = call;
  if (!details?.archive && !details?.task_id) return null;
  return (
    <div className="more-row">
      {details.task_id ? <span>{words.background(details.task_id)}</span> : null}
      {details.archive ? <span>{words.archived}</span> : null}
    </div>
  );
}
