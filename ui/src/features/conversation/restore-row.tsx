/** A restore is a stone of its own: what it took back, whether it came out exactly, and the way back. */
import { memo } from "react";

import { Button } from "../../components/button";
import { Stone, stoneCut, stoneSize } from "../../components/stone";
import type { RestoreRecord, RestoreReport } from "../../protocol";
import { bringBackLast } from "../../state/actions";
import { text } from "../../text/en";
import { clockTime } from "../../text/format";
import { Lane } from "./lane";
import { Quiet } from "./quiet";

const words = text.conversation.restore;

export interface RestoreRowProps {
  report: RestoreReport;
  /** What the model is told of it. */
  told: string | null;
  record: RestoreRecord | null;
  turnNumber: number | null;
  last: boolean;
}

export const RestoreRow = memo(function RestoreRow({ report, told, record, turnNumber, last }: RestoreRowProps) {
  const written = report.steps.filter((step) => step.action !== "unchanged" && step.action !== "kept_yours");
  const lines = written.reduce((sum, step) => sum + step.added + step.removed, 0);
  const exact = report.outcome.kind === "exact";
  const undone = record?.undoneBy !== null && record !== null;
  const mark = <Stone cut={stoneCut(report.restore_id)} size={stoneSize(lines)} look={undone ? "back" : "restore"} />;
  return (
    <Lane middle={told === null} end line={!last ? "through" : told === null ? "to-mid" : "to-mark"} mark={mark}>
      <div className={`stone-bar ${undone ? "is-back" : ""}`}>
        <b>{title(report)}</b>
        {turnNumber !== null && report.target ? <span>{words.target[report.target](turnNumber)}</span> : null}
        <span className="num">{words.files(written.length)}</span>
        {exact ? <span className="success">{words.equal}</span> : <Differences report={report} />}
        <span className="muted num wide-only">{clockTime(report.at)}</span>
        <span className="acts-in">
          {undone ? <span className="muted">{words.undone}</span> : null}
          {/* What was brought back has its stone again, to roll back from. */}
          {record && !undone && report.undoes === undefined ? (
            <Button dense tone="quiet" icon="forth" onClick={() => bringBackLast(report.restore_id)}>
              {words.bringBack}
            </Button>
          ) : null}
        </span>
      </div>
      {told === null ? null : (
        <Quiet icon="info" detail={told}>
          {words.told(written.map((step) => step.path))}
        </Quiet>
      )}
    </Lane>
  );
});

function title(report: RestoreReport): string {
  const brought = report.undoes !== undefined;
  if (report.outcome.kind === "exact") return brought ? words.broughtBack : words.exact;
  const { length } = report.outcome.paths;
  return brought ? words.broughtDifferences(length) : words.differences(length);
}

function Differences({ report }: { report: RestoreReport }) {
  if (report.outcome.kind === "exact") return null;
  return (
    <span className="attention selectable">{report.outcome.paths.map((one) => `${one.path}: ${one.reason}`).join(", ")}</span>
  );
}
