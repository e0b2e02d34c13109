/** Folds what happens while a rollback is planned and done. Pure: calls are made by `use-roll-back.ts`. */
import type { RestorePlan, RestoreReport, RestoreRequest, RestoreTarget } from "../../protocol";
import { choose } from "./plan-groups";

/** What the dialog shows. */
export type RollBack = {
  target: RestoreTarget;
  takeSnapshot: readonly string[];
  /** The last plan; it may be of an earlier choice while `phase` is `planning`. */
  plan: RestorePlan | null;
  phase: Phase;
  /** The files moved after the list was made, so it was made again. */
  stale: boolean;
  report: RestoreReport | null;
};

export type Phase = { kind: "planning" } | { kind: "ready" } | { kind: "restoring" } | { kind: "failed"; doing: "plan" | "restore"; message: string } | { kind: "done" };

export type RollBackEvent =
  | { type: "target_chosen"; target: RestoreTarget }
  | { type: "version_chosen"; path: string; version: "mine" | "snapshot" }
  | { type: "planned"; plan: RestorePlan }
  | { type: "plan_failed"; message: string }
  | { type: "again" }
  | { type: "confirmed" }
  | { type: "restored"; report: RestoreReport }
  | { type: "restore_failed"; message: string }
  | { type: "was_stale" };

export function startRollBack(target: RestoreTarget): RollBack {
  return { target, takeSnapshot: [], plan: null, phase: { kind: "planning" }, stale: false, report: null };
}

/** A choice makes the list anew; while it is made, and while files are written, nothing can be confirmed. */
export function reduceRollBack(state: RollBack, event: RollBackEvent): RollBack {
  switch (event.type) {
    case "target_chosen":
      if (event.target === state.target) return state;
      return { ...state, target: event.target, takeSnapshot: [], phase: { kind: "planning" }, stale: false };
    case "version_chosen":
      return { ...state, takeSnapshot: choose(state.takeSnapshot, event.path, event.version), phase: { kind: "planning" } };
    case "planned":
      return { ...state, plan: event.plan, phase: { kind: "ready" } };
    case "plan_failed":
      return { ...state, phase: { kind: "failed", doing: "plan", message: event.message } };
    case "again":
      return { ...state, phase: { kind: "planning" }, stale: false };
    case "confirmed":
      return state.phase.kind === "ready" ? { ...state, phase: { kind: "restoring" } } : state;
    case "restored":
      return { ...state, report: event.report, phase: { kind: "done" }, stale: false };
    case "restore_failed":
      return { ...state, phase: { kind: "failed", doing: "restore", message: event.message } };
    case "was_stale":
      return { ...state, phase: { kind: "planning" }, stale: true };
  }
}

/** What is asked for by the present choices. */
export function requestOf(state: RollBack, sessionId: string, turnId: string, paths: readonly string[] | null): RestoreRequest {
  return { sessionId, turnId, target: state.target, paths: paths === null ? null : [...paths], takeSnapshot: [...state.takeSnapshot] };
}
