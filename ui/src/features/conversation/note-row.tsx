/** Something that happened beside the conversation: a retry, a mode, a warning. Errors sit here, never in a toast. */
import { memo } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import type { IconName } from "../../components/icons";
import { useNow } from "../../components/use-now";
import type { NoticeLevel } from "../../protocol";
import { interrupt } from "../../state/actions";
import { attempt } from "../../state/problems";
import { useSession } from "../../state/session-store";
import { shell } from "../../state/shell";
import type { Item, Note } from "../../state/timeline";
import { text } from "../../text/en";
import { elapsed } from "../../text/format";
import { Lane } from "./lane";
import { Quiet } from "./quiet";

const words = text.conversation.note;

type NoteItem = Extract<Item, { kind: "note" }>;

export const NoteRow = memo(function NoteRow({ item, open }: { item: NoteItem; open: boolean }) {
  return (
    <Lane dashed={open}>
      <NoteBody note={item.note} open={open} />
    </Lane>
  );
});

function NoteBody({ note, open }: { note: Note; open: boolean }) {
  switch (note.about) {
    case "retry":
      return note.until !== null && open ? (
        <Retry attempt={note.attempt} message={note.message} until={note.until} />
      ) : (
        <Quiet icon="net" detail={note.message}>
          {words.retryDone(note.attempt)}
        </Quiet>
      );
    case "compacted":
      if (note.ended === null) return <Quiet icon="rows">{words.compacting}</Quiet>;
      return (
        <Quiet icon="rows" detail={note.message ?? ""}>
          {note.ended === "completed" ? words.compacted : words.compactFailed}
        </Quiet>
      );
    case "servers_failed":
      return <Quiet icon="plug">{words.servers(note.servers.join(", "))}</Quiet>;
    case "mode":
      return <Quiet icon="mode">{words.mode(text.conversation.modes[note.mode].name)}</Quiet>;
    case "model":
      return <Quiet icon="model">{words.model(note.model.model_id)}</Quiet>;
    case "subagent":
      return <Quiet icon="agent">{words.subagent}</Quiet>;
    case "engine_text":
      return (
        <Quiet icon="info" detail={note.text}>
          {words.engineText}
        </Quiet>
      );
    case "picture":
      return <Quiet icon="file">{words.picture}</Quiet>;
    case "notice":
      return <Notice level={note.level} message={note.info.message} />;
  }
}

const TONES: Record<NoticeLevel, { tone: string; icon: IconName }> = {
  info: { tone: "", icon: "info" },
  warning: { tone: "attention", icon: "warn" },
  error: { tone: "danger", icon: "warn" },
};

function Notice({ level, message }: { level: NoticeLevel; message: string }) {
  const { tone, icon } = TONES[level];
  return (
    <div className={`banner ${tone}`} role="note">
      <Icon name={icon} />
      <div className="grow selectable">
        <span className="sr-only">{text.conversation.levels[level]}: </span>
        {message}
      </div>
    </div>
  );
}

function retryNow(): void {
  const { id } = useSession.getState();
  if (id) void attempt("session", () => shell().session.retryNow({ sessionId: id }));
}

/** A model request failed and is tried again: when, and the one act that shortens the wait. */
function Retry({ attempt: number, message, until }: { attempt: number; message: string; until: string }) {
  const left = Date.parse(until) - useNow();
  return (
    <div className="banner attention" role="note">
      <Icon name="net" />
      <div className="grow selectable">
        <b>{words.retry(number)}</b> <span className="text2">{message}</span>{" "}
        <span className="text2">{left > 0 ? words.retryIn(elapsed(left + 999)) : words.retrySoon}</span>{" "}
        <span className="text2">{words.safe}</span>
      </div>
      <div className="acts-in">
        <Button dense tone="quiet" onClick={interrupt}>
          {words.stop}
        </Button>
        <Button dense onClick={retryNow}>
          {words.retryNow}
        </Button>
      </div>
    </div>
  );
}
