/** The facts of an approval: why it asks, what confines it, what "always" would store, and the record's digest. */
import type { ApprovalRequest, RuleMatcher } from "../../protocol";
import { useApp } from "../../state/app";
import { text } from "../../text/en";
import { Visible } from "./approval-content";

const words = text.conversation.approval;

/** Returns the rule that "always" would store, as it is shown. */
export function ruleText(matcher: RuleMatcher): string {
  switch (matcher.kind) {
    case "command_prefix":
      return words.alwaysCommand(matcher.words.join(" "));
    case "tool":
      return words.alwaysTool(matcher.name);
  }
}

export function ApprovalFacts({ request }: { request: ApprovalRequest }) {
  const { command } = request.effects;
  return (
    <dl className="facts small">
      <dt>{words.why}</dt>
      <dd className="selectable">{request.reason}</dd>
      {command ? (
        <>
          <dt>{words.sandbox}</dt>
          <dd>
            <Sandbox request={request} />
          </dd>
          <dt>{words.folder}</dt>
          <dd>
            <Folder path={command.cwd.relative ?? command.cwd.real} />{", "}
            <span className="muted">
              {command.timeoutMs === null ? words.noTimeout : words.timeout(command.timeoutMs)}
              {command.background ? `, ${words.background}` : ""}
            </span>
          </dd>
        </>
      ) : null}
      {request.always ? (
        <>
          <dt>{words.always}</dt>
          <dd>
            <code>
              <Visible line={ruleText(request.always)} />
            </code>{" "}
            <span className="muted">{words.alwaysMore}</span>
          </dd>
        </>
      ) : null}
      <dt>{words.record}</dt>
      <dd className="muted">
        <code title={request.digest}>sha256 {shortDigest(request.digest)}</code>, {words.validOnce}
      </dd>
    </dl>
  );
}

function Folder({ path }: { path: string }) {
  if (path === ".") return words.thisFolder;
  return (
    <code>
      <Visible line={path} />
    </code>
  );
}

function shortDigest(digest: string): string {
  return `${digest.slice(0, 4)} ${digest.slice(4, 8)} … ${digest.slice(-4)}`;
}

function Sandbox({ request }: { request: ApprovalRequest }) {
  const state = useApp((app) => app.state?.sandbox ?? null);
  const { sandbox } = request;
  if (sandbox.kind === "unconfined" || !state?.enforced) {
    return (
      <>
        <b className="attention">{words.unconfined}</b> {sandbox.kind === "unconfined" || !state ? words.unconfinedMore : state.reason}
      </>
    );
  }
  return (
    <>
      <span className="success">{words.confined}</span> {sandbox.access === "write" ? words.confinedWrite : words.confinedRead}{" "}
      {sandbox.network === "none" ? words.noNetwork : words.network}
    </>
  );
}
