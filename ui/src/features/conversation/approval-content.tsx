/** What an approval is about, whole: the command line by line, each write with its diff, the arguments otherwise. */
import type { ApprovalRequest, PlannedWrite } from "../../protocol";
import { text } from "../../text/en";
import { EditDiff } from "./edit-diff";
import { parseArguments } from "./tool-view";
import { visibleRuns } from "./visible-text";

const words = text.conversation.approval;

/** Returns the question of the card. */
export function approvalTitle(request: ApprovalRequest): string {
  const { writes, command, class: toolClass } = request.effects;
  const [first] = writes;
  if (command) return words.asks.execute;
  if (first && writes.length === 1) {
    const path = shownPath(first);
    if (first.kind === "created") return words.create(path);
    return first.kind === "deleted" ? words.remove(path) : words.change(path);
  }
  return writes.length > 1 ? words.files(writes.length) : words.asks[toolClass];
}

/** A path inside the folder by its place in it, any other one whole. */
export function shownPath(write: PlannedWrite): string {
  return write.path.relative ?? write.path.real;
}

export function ApprovalContent({ request }: { request: ApprovalRequest }) {
  const { writes, command } = request.effects;
  return (
    <>
      {command ? <Lines source={command.command} /> : null}
      {writes.map((write) => (
        <Write key={write.path.real} write={write} alone={writes.length === 1} />
      ))}
      {!command && writes.length === 0 ? <OtherArguments request={request} /> : null}
    </>
  );
}

/** A text that will run or be sent, line by line, with every character visible. */
function Lines({ source }: { source: string }) {
  const lines = source.split("\n");
  return (
    <div>
      {lines.map((line, i) => (
        <div className="part" key={i}>
          <span className="no num">{lines.length > 1 ? i + 1 : "$"}</span>
          <code>
            <Visible line={line} />
          </code>
        </div>
      ))}
    </div>
  );
}

export function Visible({ line }: { line: string }) {
  return visibleRuns(line).map((run, i) =>
    run.marked ? (
      <span key={i} className="marked-char">
        {run.text}
      </span>
    ) : (
      run.text
    ),
  );
}

function Write({ write, alone }: { write: PlannedWrite; alone: boolean }) {
  const path = shownPath(write);
  return (
    <>
      {alone ? null : (
        <div className="part">
          <span className="no" />
          <span className="path">
            <Visible line={path} /> <span className="add">{words.added(write.added)}</span>{" "}
            <span className="del">{words.removed(write.removed)}</span>
          </span>
        </div>
      )}
      {write.diff ? (
        <EditDiff path={path} diff={write.diff} />
      ) : (
        <div className="part">
          <span className="no" />
          <span className="muted">{words.noDiff}</span>
        </div>
      )}
    </>
  );
}

function OtherArguments({ request }: { request: ApprovalRequest }) {
  const args = parseArguments(request.arguments);
  const names = Object.keys(args);
  if (names.length === 0) return <Lines source={request.arguments} />;
  return (
    <div aria-label={words.argumentsLabel} role="group">
      {names.map((name) => {
        const value = args[name];
        const plain = typeof value === "string" ? value : JSON.stringify(value, null, 2);
        return (
          <div className="part" key={name}>
            <span className="no" />
            <div>
              <div className="muted micro">{name}</div>
              <code>
                {plain.split("\n").map((line, i) => (
                  <div key={i}>
                    <Visible line={line} />
                  </div>
                ))}
              </code>
            </div>
          </div>
        );
      })}
    </div>
  );
}
