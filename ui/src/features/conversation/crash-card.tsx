/** Cairn was closed in the middle of a turn: what is kept, what is unknown, and what can be done. */
import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import type { TurnRecord } from "../../protocol";
import { send } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import type { CallItem, TurnBlock } from "../../state/timeline";
import { text } from "../../text/en";
import { Lane } from "./lane";
import { toolView } from "./tool-view";

const words = text.conversation.crash;

export interface CrashCardProps {
  turn: TurnBlock;
  record: TurnRecord | null;
  calls: readonly CallItem[];
  /** Whether it is the last turn: only then can it go on. */
  last: boolean;
}

export function CrashCard({ turn, record, calls, last }: CrashCardProps) {
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  const number = turn.number ?? record?.number ?? 0;
  const files = record?.summary.files ?? 0;
  const bare = record?.completeness.state === "not_protected";
  const id = useSession((session) => session.id);
  const rollBack = () => {
    if (id && turn.turnId) openDialog({ kind: "roll_back", sessionId: id, turnId: turn.turnId, target: "revert", paths: null });
  };
  return (
    <Lane>
      <article className="card calm" aria-label={words.title(number)}>
        <header>
          <Icon name="info" className="muted" />
          <b>{words.title(number)}</b>
        </header>
        <dl className="facts">
          <dt>{words.kept}</dt>
          <dd>
            <b>{words.keptText}</b>
          </dd>
          <dt>{words.files}</dt>
          <dd>{bare ? <span className="attention">{words.filesBare}</span> : files > 0 ? words.filesText(files) : words.filesNone}</dd>
          {calls.length > 0 ? (
            <>
              <dt>{words.unknown}</dt>
              <dd>
                <span className="attention">{words.unknownText(calls.length)}</span>{" "}
                {calls.map((call) => (
                  <div key={call.callId}>
                    <code>
                      {toolView(call).verb} {toolView(call).what}
                    </code>
                  </div>
                ))}
              </dd>
            </>
          ) : null}
        </dl>
        <div className="acts">
          {last && id ? (
            <Button tone="primary" onClick={() => void send(id, words.goOnText)}>
              {words.goOn}
            </Button>
          ) : null}
          {files > 0 && !bare ? (
            <Button icon="back" onClick={rollBack}>
              {words.rollBack(number)}
            </Button>
          ) : null}
        </div>
      </article>
    </Lane>
  );
}
