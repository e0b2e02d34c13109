/** Plans a rollback whenever a choice changes and does it when the user confirms the list that is shown. */
import { useEffect, useReducer, useRef } from "react";

import type { RestoreTarget } from "../../protocol";
import { isCode, messageOf } from "../../state/failure";
import { shell } from "../../state/shell";
import { reduceRollBack, requestOf, type RollBack, type RollBackEvent, startRollBack } from "./roll-back";

export function useRollBack(sessionId: string, turnId: string, target: RestoreTarget, paths: readonly string[] | null): { state: RollBack; send: (event: RollBackEvent) => void } {
  const [state, send] = useReducer(reduceRollBack, target, startRollBack);
  const only = useRef(paths);
  const planning = state.phase.kind === "planning";
  const restoring = state.phase.kind === "restoring";
  useEffect(() => {
    if (!planning) return;
    let current = true;
    shell()
      .changes.plan({ request: requestOf(state, sessionId, turnId, only.current) })
      .then(
        (plan) => current && send({ type: "planned", plan }),
        (error: unknown) => current && send({ type: "plan_failed", message: messageOf(error) }),
      );
    return () => {
      current = false;
    };
    // A plan is made once for each choice; the rest of the state does not matter to it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [planning, state.target, state.takeSnapshot, sessionId, turnId]);

  const plan = state.plan;
  useEffect(() => {
    if (!restoring || plan === null) return;
    // Not cancelled when the dialog closes: files are being written, and the timeline will show the restore.
    let shown = true;
    shell()
      .changes.restore({ request: plan.request, token: plan.token })
      .then(
        (report) => shown && send({ type: "restored", report }),
        (error: unknown) => shown && send(isCode(error, "stale") ? { type: "was_stale" } : { type: "restore_failed", message: messageOf(error) }),
      );
    return () => {
      shown = false;
    };
  }, [restoring, plan]);
  return { state, send };
}
