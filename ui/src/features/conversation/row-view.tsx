/** Draws one row of the conversation: which component shows which kind. */
import { memo } from "react";

import { Icon } from "../../components/icon";
import type { Row } from "../../state/rows";
import { text } from "../../text/en";
import { ApprovalCard } from "./approval-card";
import { CrashCard } from "./crash-card";
import { EndingRow } from "./ending-row";
import { Lane } from "./lane";
import { NoteRow } from "./note-row";
import { AskRow, LiveRow, QuestionRow, SayRow, ThoughtRow } from "./prose";
import { QuestionCard } from "./question-card";
import { RestoreRow } from "./restore-row";
import { Step } from "./step";
import { StoneRow } from "./stone-row";
import { WaitingList } from "./waiting-list";

export interface RowViewProps {
  row: Row;
  /** Whether the path begins or ends here. */
  first: boolean;
  last: boolean;
}

export const RowView = memo(function RowView({ row, first, last }: RowViewProps) {
  switch (row.kind) {
    case "item":
      return <ItemView row={row} first={first} />;
    case "step":
      return <Step call={row.call} place={row.place} open={row.open} running={row.running} />;
    case "live":
      return <LiveRow segment={row.segment} place={row.place} />;
    case "card":
      return <ApprovalCard key={row.request.approval_id} request={row.request} index={row.index} count={row.count} />;
    case "waiting":
      return <WaitingList requests={row.requests} />;
    case "question":
      return <QuestionCard question={row.question} />;
    case "ending":
      return <EndingRow turn={row.turn} />;
    case "stone":
      return <StoneRow turn={row.turn} record={row.record} open={row.open} last={last} />;
    case "crash":
      return <CrashCard turn={row.turn} record={row.record} calls={row.calls} last={row.last} />;
    case "restore":
      return <RestoreRow report={row.report} told={row.told} record={row.record} turnNumber={row.turnNumber} last={last} />;
    case "gap":
      return (
        <Lane>
          <div className="note">
            <Icon name="warn" className="attention" />
            <span>{text.conversation.note.gap}</span>
          </div>
        </Lane>
      );
  }
});

function ItemView({ row, first }: { row: Extract<Row, { kind: "item" }>; first: boolean }) {
  const { item, open } = row;
  switch (item.kind) {
    case "ask":
      return <AskRow item={item} open={open} first={first} />;
    case "say":
      return <SayRow item={item} open={open} />;
    case "thought":
      return <ThoughtRow item={item} open={open} />;
    case "question":
      return <QuestionRow item={item} open={open} />;
    case "note":
      return <NoteRow item={item} open={open} />;
  }
}
