/**
 * Shows what a rollback would do, does it, and says what came out; then offers the way back.
 *
 * Nothing is touched before the list was shown and confirmed. Choices and phases are in `roll-back.ts`.
 */
import { useEffect, useMemo, useRef } from "react";

import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import type { RestoreTarget, TurnRecord } from "../../protocol";
import { text } from "../../text/en";
import "../../components/diff.css";
import "./changes.css";
import { countPlan } from "./plan-groups";
import { PlanView } from "./plan-view";
import { ReportBanner, ReportBody } from "./restore-report-view";
import type { RollBack, RollBackEvent } from "./roll-back";
import { useBringBack } from "./use-bring-back";
import { useRollBack } from "./use-roll-back";
import { useSources } from "./use-sources";
import { useStones } from "./use-stones";

export interface RollBackDialogProps {
  sessionId: string;
  turnId: string;
  target: RestoreTarget;
  /** Only these paths; null means all. */
  paths: string[] | null;
  onClose: () => void;
}

export function RollBackDialog(props: RollBackDialogProps) {
  const { sessionId, turnId, paths, onClose } = props;
  const { turns } = useStones(sessionId);
  const turn = turns.find((record) => record.turnId === turnId) ?? null;
  const later = useMemo(() => laterTurns(turns, turn), [turns, turn]);
  // Without later turns both targets mean the same; *before* says it plainly.
  const target = props.target === "revert" && turn !== null && later === 0 ? "before" : props.target;
  const { state, send } = useRollBack(sessionId, turnId, target, paths);
  const confirm = useRef<HTMLButtonElement>(null);
  const words = text.changes.rollBack;
  const number = turn?.number ?? 0;
  const title = state.report !== null ? text.changes.result.title(number) : paths?.length === 1 && paths[0] !== undefined ? words.titleFile(paths[0]) : words.title(number);
  return (
    <Dialog title={title} onClose={onClose} className="roll-back" initialFocus={confirm}>
      {state.report === null ? (
        <Asking {...props} state={state} send={send} later={later} confirm={confirm} />
      ) : (
        <Done sessionId={sessionId} state={state} onClose={onClose} />
      )}
    </Dialog>
  );
}

type AskingProps = RollBackDialogProps & {
  state: RollBack;
  send: (event: RollBackEvent) => void;
  later: number;
  confirm: React.RefObject<HTMLButtonElement | null>;
};

function Asking({ sessionId, turnId, paths, onClose, state, send, later, confirm }: AskingProps) {
  const words = text.changes.rollBack;
  const sources = useSources(sessionId, turnId);
  const { plan, phase } = state;
  const { changed, kept } = countPlan(plan?.steps ?? []);
  const ready = phase.kind === "ready" && changed > 0;
  // A disabled button can't keep the focus; it comes here once there is something to confirm.
  useEffect(() => {
    const popup = confirm.current?.closest("[role=dialog]");
    const { activeElement } = document;
    if (ready && popup && (activeElement === popup || !popup.contains(activeElement))) confirm.current?.focus();
  }, [ready, confirm]);
  return (
    <>
      <div className="roll-back-body">
        {later > 0 ? <TargetChoice target={state.target} later={later} busy={phase.kind === "restoring"} onChoose={(target) => send({ type: "target_chosen", target })} /> : null}
        {state.stale ? (
          <div className="banner attention box-it" role="alert">
            <div className="grow">{words.stale}</div>
          </div>
        ) : null}
        {phase.kind === "failed" ? (
          <div className="banner danger box-it" role="alert">
            <div className="grow">
              <b>{phase.doing === "plan" ? words.planFailed : text.changes.result.failed}.</b> <span className="text2">{phase.message}</span>
            </div>
            <Button dense onClick={() => send({ type: "again" })}>
              {words.again}
            </Button>
          </div>
        ) : null}
        {plan === null ? (
          phase.kind === "planning" ? (
            <p className="muted" role="status">
              {words.planning}
            </p>
          ) : null
        ) : (
          <PlanView
            plan={plan}
            chosen={state.takeSnapshot}
            sources={sources}
            frozen={phase.kind === "restoring"}
            onChoose={(path, version) => send({ type: "version_chosen", path, version })}
          />
        )}
      </div>
      <div className="acts">
        <span className="text2 grow" role="status">
          {phase.kind === "restoring" ? words.working : plan === null ? "" : changed === 0 ? words.nothing : words.summary(changed, kept)}
        </span>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button ref={confirm} tone="primary" icon="back" disabled={!ready} onClick={() => send({ type: "confirmed" })}>
          {phase.kind === "restoring" ? words.working : changed === 0 ? (paths === null ? text.changes.diff.rollBackTurn : text.changes.diff.rollBackFile) : words.confirm(changed)}
        </Button>
      </div>
    </>
  );
}

/** Plain words for the two states that can be led to. */
function TargetChoice({ target, later, busy, onChoose }: { target: RestoreTarget; later: number; busy: boolean; onChoose: (target: RestoreTarget) => void }) {
  const words = text.changes.rollBack;
  const name = "roll-back-target";
  return (
    <fieldset className="target-choice" disabled={busy}>
      <legend className="sr-only">{words.target}</legend>
      <label>
        <input type="radio" name={name} checked={target === "revert"} onChange={() => onChoose("revert")} />
        <span>
          {words.onlyThis} <span className="muted">({words.onlyThisKeeps(later)})</span>
        </span>
      </label>
      <label>
        <input type="radio" name={name} checked={target === "before"} onChange={() => onChoose("before")} />
        <span>
          {words.thisAndLater} <span className="muted">({words.stones(later + 1)})</span>
        </span>
      </label>
    </fieldset>
  );
}

function Done({ sessionId, state, onClose }: { sessionId: string; state: RollBack; onClose: () => void }) {
  const bringBack = useBringBack(sessionId);
  const words = text.changes.result;
  const { report } = state;
  if (report === null) return null;
  return (
    <>
      <ReportBanner report={report} />
      {bringBack.failure === null ? null : (
        <div className="banner danger" role="alert">
          <div className="grow">
            <b>{words.bringBackFailed}.</b> <span className="text2">{bringBack.failure}</span>
          </div>
        </div>
      )}
      <div className="roll-back-body">
        <ReportBody report={report} />
      </div>
      <div className="acts">
        <span className="grow" />
        <Button
          icon="forth"
          disabled={bringBack.running}
          onClick={() => {
            void bringBack.run(report.restore_id).then((back) => {
              if (back !== null) onClose();
            });
          }}
        >
          {bringBack.running ? words.bringingBack : words.bringBack}
        </Button>
        <Button tone="primary" onClick={onClose} autoFocus>
          {words.close}
        </Button>
      </div>
    </>
  );
}

/** How many later turns still have something in the workspace. */
export function laterTurns(turns: readonly TurnRecord[], turn: TurnRecord | null): number {
  if (turn === null) return 0;
  return turns.filter((other) => other.number > turn.number && other.summary.files > 0 && other.standing.state !== "rolled_back").length;
}
