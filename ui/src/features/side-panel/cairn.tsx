/** The session as a cairn: its stones, newest on top. A press opens the changes of a turn. */
import { Icon } from "../../components/icon";
import { LineCounts } from "../../components/line-counts";
import { Stone, type StoneLook, stoneCut, stoneSize } from "../../components/stone";
import type { TurnRecord } from "../../protocol";
import { useNavigation } from "../../state/navigation";
import type { SessionState } from "../../state/session";
import { text } from "../../text/en";

const words = text.frame.side;

/** Turns that lie on the cairn: those that changed files, run, or could not be captured. */
export function cairnTurns(turns: readonly TurnRecord[]): TurnRecord[] {
  return turns
    .filter((turn) => turn.summary.files > 0 || turn.state === "open" || turn.completeness.state === "not_protected")
    .toReversed();
}

export function Cairn({ state }: { state: SessionState }) {
  const turns = cairnTurns(state.turns);
  const open = turns.some((turn) => turn.state === "open");
  return (
    <section className="cairn">
      <h3>
        <Icon name="agent" />
        <span className="grow">{words.stones}</span>
        <span className="muted num">{turns.length > 0 ? words.stonesCount(turns.length, open) : ""}</span>
      </h3>
      {turns.length === 0 ? <p className="side-none">{words.noStones}</p> : null}
      <ol>
        {turns.map((turn) => (
          <li key={turn.turnId}>
            <Mile turn={turn} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Mile({ turn }: { turn: TurnRecord }) {
  const here = useNavigation((navigation) => navigation.selectedTurn === turn.turnId);
  const review = useNavigation((navigation) => navigation.review);
  const { added, removed } = turn.summary;
  return (
    <button
      type="button"
      className={`mile ${here ? "is-here" : ""}`}
      aria-label={`${text.conversation.turn(turn.number)}. ${wordsOf(turn)}`}
      disabled={turn.state === "open"}
      onClick={() => review(turn.turnId)}
    >
      <Stone cut={stoneCut(turn.turnId)} size={turn.state === "open" ? 2 : stoneSize(added + removed)} look={lookOf(turn)} />
      <span className="num">{turn.number}</span>
      <span className="cut">
        <MileWords turn={turn} />
      </span>
    </button>
  );
}

function lookOf(turn: TurnRecord): StoneLook {
  if (turn.state === "open") return "open";
  if (turn.completeness.state === "not_protected") return "bare";
  switch (turn.standing.state) {
    case "active":
      return "rest";
    case "partly":
      return "part";
    case "rolled_back":
      return "back";
  }
}

/** What a stone's line says, in words; null where numbers say it. */
function stateWords(turn: TurnRecord): string | null {
  if (turn.state === "open") return words.working;
  if (turn.completeness.state === "not_protected") return words.notProtected;
  if (turn.standing.state === "rolled_back") return words.rolledBack;
  if (turn.standing.state === "partly") return words.partly(turn.standing.rolled_back);
  return null;
}

function wordsOf(turn: TurnRecord): string {
  return stateWords(turn) ?? `+${turn.summary.added} −${turn.summary.removed}`;
}

function MileWords({ turn }: { turn: TurnRecord }) {
  const said = stateWords(turn);
  if (said !== null) return <span className="muted">{said}</span>;
  return <LineCounts added={turn.summary.added} removed={turn.summary.removed} />;
}
