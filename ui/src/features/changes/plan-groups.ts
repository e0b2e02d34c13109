/** Sorts the steps of a rollback into what the dialog says about them. Pure; shown by `plan-table.tsx`. */
import type { RestorePlan, RestoreReport, RestoreStep } from "../../protocol";
import { isWritten } from "./stones";

/** The steps of a plan by what the user has to know. */
export type PlanGroups = {
  /** Files that will be written or deleted. */
  changes: RestoreStep[];
  /** Files where the user has a choice: theirs is kept, or the snapshot's was chosen. */
  conflicts: RestoreStep[];
  /** Files that are as wanted already. */
  same: RestoreStep[];
};

/** Splits the steps. A path stays a conflict after the snapshot's version was chosen, so that the choice can be changed. */
export function groupPlan(plan: RestorePlan): PlanGroups {
  const chosen = new Set(plan.request.takeSnapshot);
  const groups: PlanGroups = { changes: [], conflicts: [], same: [] };
  for (const step of plan.steps) {
    if (step.action === "kept_yours" || chosen.has(step.path)) groups.conflicts.push(step);
    else if (step.action === "unchanged") groups.same.push(step);
    else groups.changes.push(step);
  }
  return groups;
}

/** How many files a plan writes or deletes, and how many keep the user's version. */
export function countPlan(steps: readonly RestoreStep[]): { changed: number; kept: number } {
  return {
    changed: steps.filter((step) => isWritten(step.action)).length,
    kept: steps.filter((step) => step.action === "kept_yours").length,
  };
}

/** Adds a path to those where the snapshot's version wins, or takes it away. Sorted, so that equal choices are equal requests. */
export function choose(takeSnapshot: readonly string[], path: string, version: "mine" | "snapshot"): string[] {
  const rest = takeSnapshot.filter((other) => other !== path);
  return version === "snapshot" ? [...rest, path].toSorted() : rest;
}

/** How many paths a report found different from what was wanted. */
export function differences(report: RestoreReport): number {
  return report.outcome.kind === "exact" ? 0 : report.outcome.paths.length;
}
