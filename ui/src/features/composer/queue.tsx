/** Messages that wait for the running turn to end. Edit takes one back into the field. */
import { IconButton } from "../../components/icon-button";
import type { QueuedInput } from "../../protocol";
import { attempt } from "../../state/problems";
import { shell } from "../../state/shell";
import { text } from "../../text/en";

const words = text.conversation.composer;

export interface QueueProps {
  sessionId: string;
  queue: readonly QueuedInput[];
  onEdit: (text: string) => void;
}

export function Queue({ sessionId, queue, onEdit }: QueueProps) {
  if (queue.length === 0) return null;
  const take = (queuedId: string, use: (taken: string) => void) =>
    void attempt("session", async () => use(await shell().session.unqueue({ sessionId, queuedId })));
  return (
    <ul className="queue" aria-label={words.queued}>
      {queue.map((queued, i) => (
        <li key={queued.id} className="queued">
          <span className="muted">{i === 0 ? words.next : i + 1}</span>
          <span className="grow cut" title={queued.text}>
            {queued.text}
          </span>
          <button type="button" className="link" onClick={() => take(queued.id, onEdit)}>
            {words.edit}
          </button>
          <IconButton small icon="close" name={words.remove} onClick={() => take(queued.id, () => undefined)} />
        </li>
      ))}
    </ul>
  );
}
