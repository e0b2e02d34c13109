/** The stones of a session, newest on top: turns with their counts and standing, and restores with the way back. */
import { Icon } from "../../components/icon";
import { Stone, type StoneLook, stoneCut, stoneSize } from "../../components/stone";
import type { RestoreRecord, TurnRecord } from "../../protocol";
import { text } from "../../text/en";
import { clockTime } from "../../text/format";
import { LineCounts } from "../../components/line-counts";
import { differences } from "./plan-groups";
import type { Mile } from "./stones";

/** What is chosen in the column. */
export type Chosen = { kind: "turn" | "restore"; id: string };

type Props = {
  miles: readonly Mile[];
  chosen: Chosen | null;
  onChoose: (chosen: Chosen) => void;
  onBringBack: (restore: RestoreRecord) => void;
  /** While a restore runs nothing else can be brought back. */
  busy: boolean;
};

export function StonesColumn({ miles, chosen, onChoose, onBringBack, busy }: Props) {
  return (
    <nav className="stones-column" aria-label={text.changes.stones.label}>
      <ol>
        {miles.map((mile) => {
          const id = mileId(mile);
          const here = chosen !== null && chosen.kind === mile.kind && chosen.id === id;
          return (
            <li key={`${mile.kind}-${id}`} className={`mile ${here ? "is-sel" : ""} ${isGone(mile) ? "gone" : ""}`}>
              <button type="button" className="mile-main" aria-current={here ? "true" : undefined} onClick={() => onChoose({ kind: mile.kind, id })}>
                <span className="p">
                  <MileStone mile={mile} here={here} />
                </span>
                <span className="mile-text">
                  <span className="t">{titleOf(mile)}</span>
                  <span className="d">{mile.kind === "turn" ? <TurnFacts turn={mile.turn} /> : <RestoreFacts mile={mile} />}</span>
                </span>
              </button>
              {canBringBack(mile) ? (
                <button type="button" className="link bring-back" disabled={busy} onClick={() => onBringBack(mile.restore)}>
                  <Icon name="forth" />
                  {text.changes.stones.bringBack}
                </button>
              ) : null}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** The same choice in one line, for a narrow panel. */
export function StonesPicker({ miles, chosen, onChoose }: Pick<Props, "miles" | "chosen" | "onChoose">) {
  const value = chosen === null ? "" : `${chosen.kind}:${chosen.id}`;
  return (
    <select
      className="input stones-picker"
      aria-label={text.changes.stones.pick}
      value={value}
      onChange={(event) => {
        const [kind, ...rest] = event.target.value.split(":");
        onChoose({ kind: kind === "restore" ? "restore" : "turn", id: rest.join(":") });
      }}
    >
      {miles.map((mile) => (
        <option key={`${mile.kind}:${mileId(mile)}`} value={`${mile.kind}:${mileId(mile)}`}>
          {mile.kind === "turn" && mile.title !== "" ? `${text.changes.stones.turn(mile.turn.number)}: ${mile.title}` : titleOf(mile)}
        </option>
      ))}
    </select>
  );
}

function MileStone({ mile, here }: { mile: Mile; here: boolean }) {
  if (mile.kind === "restore") return <Stone cut={stoneCut(mile.restore.report.turn_id)} size={2} look="restore" />;
  const { turn } = mile;
  if (turn.summary.files === 0 && turn.completeness.state !== "not_protected" && turn.state !== "open") return <span className="tick" />;
  return <Stone cut={stoneCut(turn.turnId)} size={stoneSize(turn.summary.added + turn.summary.removed)} look={lookOf(turn, here)} />;
}

/** How a turn's stone looks. What is wrong with it comes before that it is chosen. */
export function lookOf(turn: TurnRecord, here: boolean): StoneLook {
  if (turn.state === "open") return "open";
  if (turn.completeness.state === "not_protected") return "bare";
  switch (turn.standing.state) {
    case "rolled_back":
      return "back";
    case "partly":
      return "part";
    case "active":
      return here ? "sel" : "rest";
  }
}

function TurnFacts({ turn }: { turn: TurnRecord }) {
  return (
    <>
      <span>{text.changes.stones.turn(turn.number)}</span>
      <TurnStanding turn={turn} />
      {turn.completeness.state === "partly" ? <span>{text.changes.stones.partlyCovered(turn.completeness.skipped)}</span> : null}
    </>
  );
}

function TurnStanding({ turn }: { turn: TurnRecord }) {
  if (turn.state === "open") return <span className="busy">{text.changes.stones.open}</span>;
  if (turn.completeness.state === "not_protected") return <span className="attention">{text.changes.stones.notProtected}</span>;
  if (turn.standing.state === "rolled_back") return <span>{text.changes.stones.rolledBack}</span>;
  if (turn.standing.state === "partly") return <span>{text.changes.stones.partly(turn.standing.rolled_back, turn.summary.files)}</span>;
  if (turn.summary.files === 0) return <span>{text.changes.stones.noChanges}</span>;
  return (
    <>
      <LineCounts added={turn.summary.added} removed={turn.summary.removed} />
      {turn.state === "crashed" ? <span className="attention">{text.changes.stones.crashed}</span> : null}
    </>
  );
}

function RestoreFacts({ mile }: { mile: Extract<Mile, { kind: "restore" }> }) {
  const { report } = mile.restore;
  const wrong = differences(report);
  return (
    <>
      <span className="num">{clockTime(report.at)}</span>
      {wrong === 0 ? <span>{text.changes.stones.exact(mile.files)}</span> : <span className="attention">{text.changes.stones.inexact(wrong)}</span>}
      {mile.restore.undoneBy === null ? null : <span>{text.changes.stones.undone}</span>}
    </>
  );
}

function titleOf(mile: Mile): string {
  if (mile.kind === "turn") return mile.title === "" ? text.changes.stones.untitled(mile.turn.number) : mile.title;
  return mile.restore.report.undoes === undefined ? text.changes.stones.restored(mile.turnNumber) : text.changes.stones.broughtBack(mile.turnNumber);
}

function mileId(mile: Mile): string {
  return mile.kind === "turn" ? mile.turn.turnId : mile.restore.report.restore_id;
}

function isGone(mile: Mile): boolean {
  return mile.kind === "turn" ? mile.turn.standing.state === "rolled_back" : mile.restore.undoneBy !== null;
}

function canBringBack(mile: Mile): mile is Extract<Mile, { kind: "restore" }> {
  return mile.kind === "restore" && mile.restore.undoneBy === null && mile.restore.report.undoes === undefined;
}
