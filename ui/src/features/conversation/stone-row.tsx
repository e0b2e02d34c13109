/** The end of a turn on the path: its stone, what it changed, Review and Roll back. A turn without changes is a tick. */
import { memo } from "react";

import { Button } from "../../components/button";
import { LineCounts } from "../../components/line-counts";
import { StateSign } from "../../components/state-sign";
import { Stone, type StoneLook, stoneCut, stoneSize } from "../../components/stone";
import type { ChangeSummary, Completeness, TurnRecord } from "../../protocol";
import { bringBackLast } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import type { TurnBlock } from "../../state/timeline";
import { editsSoFar } from "../../state/turn-edits";
import { text } from "../../text/en";
import { duration } from "../../text/format";
import { Lane } from "./lane";

const words = text.conversation;

export interface StoneRowProps {
  turn: TurnBlock;
  record: TurnRecord | null;
  open: boolean;
  last: boolean;
}

export const StoneRow = memo(function StoneRow({ turn, record, open, last }: StoneRowProps) {
  const selected = useNavigation((navigation) => navigation.selectedTurn !== null && navigation.selectedTurn === turn.turnId);
  const number = turn.number ?? record?.number ?? 0;
  const line = last ? "to-mid" : "through";
  if (open) return <OpenStone turn={turn} number={number} />;
  const changes = record?.summary ?? turn.after?.changes ?? null;
  const completeness = record?.completeness ?? turn.after?.completeness ?? null;
  const bare = completeness?.state === "not_protected";
  if (!changes || (changes.files === 0 && !bare)) {
    return (
      <Lane middle end line={line} mark={<span className="tick" />}>
        <div className="note">
          <span>{words.turn(number)}</span>
          <span>{words.stone.noChanges}</span>
          <EndWords turn={turn} />
        </div>
      </Lane>
    );
  }
  const look = lookOf(record, bare, selected);
  const size = stoneSize(changes.added + changes.removed);
  const classes = ["stone-bar", selected ? "is-sel" : "", look === "back" ? "is-back" : "", bare ? "is-bare" : ""];
  return (
    <Lane middle end line={line} mark={<Stone cut={stoneCut(turn.turnId ?? turn.key)} size={size} look={look} />}>
      <div className={classes.filter(Boolean).join(" ")}>
        <b>{words.turn(number)}</b>
        <Counts changes={changes} />
        <StandingWords record={record} files={changes.files} />
        <Protection completeness={completeness} />
        <EndWords turn={turn} />
        {turn.turnId === null ? null : <StoneActs turnId={turn.turnId} number={number} record={record} bare={bare} />}
      </div>
    </Lane>
  );
});

function lookOf(record: TurnRecord | null, bare: boolean, selected: boolean): StoneLook {
  if (bare) return "bare";
  if (record?.standing.state === "rolled_back") return "back";
  if (record?.standing.state === "partly") return "part";
  return selected ? "sel" : "rest";
}

function OpenStone({ turn, number }: { turn: TurnBlock; number: number }) {
  const edits = editsSoFar(turn);
  const lines = edits.reduce((sum, edit) => sum + edit.added + edit.removed, 0);
  const changes = {
    files: edits.length,
    added: edits.reduce((sum, edit) => sum + edit.added, 0),
    removed: edits.reduce((sum, edit) => sum + edit.removed, 0),
  };
  return (
    <Lane middle end line="to-mid" dashed mark={<Stone cut={stoneCut(turn.turnId ?? turn.key)} size={stoneSize(lines)} look="open" />}>
      <div className="stone-bar is-open">
        <b>{words.turn(number)}</b>
        {edits.length > 0 ? <Counts changes={changes} soFar /> : null}
        <span className="grow" />
        <span className="muted wide-only">{words.stone.setLater}</span>
      </div>
    </Lane>
  );
}

function Counts({ changes, soFar = false }: { changes: ChangeSummary; soFar?: boolean }) {
  return (
    <>
      <span className="num">{soFar ? words.stone.filesSoFar(changes.files) : words.stone.files(changes.files)}</span>
      <LineCounts added={changes.added} removed={changes.removed} />
    </>
  );
}

function StandingWords({ record, files }: { record: TurnRecord | null; files: number }) {
  if (!record) return null;
  switch (record.standing.state) {
    case "active":
      return null;
    case "rolled_back":
      return <span className="muted">{words.stone.rolledBack}</span>;
    case "partly":
      return <span>{words.stone.partly(record.standing.rolled_back, files)}</span>;
  }
}

function Protection({ completeness }: { completeness: Completeness | null }) {
  if (!completeness || completeness.state === "protected") return null;
  if (completeness.state === "partly") {
    return (
      <span className="muted" title={completeness.reason}>
        {words.stone.partlyProtected(completeness.skipped)}
      </span>
    );
  }
  return (
    <>
      <span className="tag attention">
        <StateSign name="attention" />
        {words.stone.notProtected}
      </span>
      <span className="text2 cut" title={completeness.reason}>
        {completeness.reason}
      </span>
    </>
  );
}

function EndWords({ turn }: { turn: TurnBlock }) {
  if (!turn.ending) return null;
  const { status, durationMs } = turn.ending;
  const word = {
    completed: duration(durationMs),
    interrupted: words.stone.interrupted,
    error: words.stone.failed,
    max_iterations_exceeded: words.stone.capped,
  }[status];
  return <span className="muted num wide-only">{word}</span>;
}

function StoneActs({ turnId, number, record, bare }: { turnId: string; number: number; record: TurnRecord | null; bare: boolean }) {
  const review = useNavigation((navigation) => navigation.review);
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  const undoing = useSession((session) => undoableRestore(session.state?.restores ?? [], turnId));
  const rollBack = () => {
    const { id } = useSession.getState();
    if (id) openDialog({ kind: "roll_back", sessionId: id, turnId, target: "revert", paths: null });
  };
  const back = record?.standing.state === "rolled_back";
  return (
    <span className="acts-in">
      <Button dense tone="quiet" aria-label={`${words.stone.review}: ${words.turn(number)}`} onClick={() => review(turnId)}>
        {words.stone.review}
      </Button>
      {back && undoing !== null ? (
        <Button dense tone="quiet" icon="forth" aria-label={`${words.stone.bringBack}: ${words.turn(number)}`} onClick={() => bringBackLast(undoing)}>
          {words.stone.bringBack}
        </Button>
      ) : null}
      {back || bare ? null : (
        <Button dense tone="quiet" icon="back" aria-label={`${words.stone.rollBack}: ${words.turn(number)}`} onClick={rollBack}>
          {words.stone.rollBack}
        </Button>
      )}
    </span>
  );
}

type Restores = NonNullable<ReturnType<typeof useSession.getState>["state"]>["restores"];

/** The restore that rolled this turn back and still can be taken back. */
function undoableRestore(restores: Restores, turnId: string): string | null {
  const found = restores.findLast((one) => one.undoneBy === null && one.report.undoes === undefined && one.report.turn_id === turnId);
  return found?.report.restore_id ?? null;
}
