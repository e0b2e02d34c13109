/** The list of a rollback before it is done: what will change, where the user chooses, what is left alone. */
import { Icon } from "../../components/icon";
import type { ChangeSource, RestorePlan, RestoreStep } from "../../protocol";
import { text } from "../../text/en";
import { groupPlan } from "./plan-groups";
import { NotCovered } from "./restore-report-view";
import { StepList } from "./step-list";

type Props = {
  plan: RestorePlan;
  chosen: readonly string[];
  sources: ReadonlyMap<string, ChangeSource>;
  /** Files are being written: nothing can be chosen. */
  frozen: boolean;
  onChoose: (path: string, version: "mine" | "snapshot") => void;
};

export function PlanView({ plan, chosen, sources, frozen, onChoose }: Props) {
  const words = text.changes.rollBack;
  const { changes, conflicts, same } = groupPlan(plan);
  const conflicted = new Set(conflicts.map((step) => step.path));
  const steps = [...conflicts, ...changes];
  const choice = (step: RestoreStep) =>
    conflicted.has(step.path) ? <Versions path={step.path} snapshot={chosen.includes(step.path)} frozen={frozen} onChoose={onChoose} /> : null;
  const action = (step: RestoreStep) => (conflicted.has(step.path) ? words.future.kept_yours : words.future[step.action]);
  return (
    <>
      <StepList steps={steps} sources={sources} action={action} heading={words.columns.action} choice={choice} />
      {same.length === 0 ? null : (
        <details className="not-covered">
          <summary>
            <Icon name="check" className="muted" />
            {words.same(same.length)}
          </summary>
          <ul>
            {same.slice(0, 500).map((step) => (
              <li key={step.path}>
                <code>{step.path}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {plan.notCovered.length > 0 ? <NotCovered paths={plan.notCovered} /> : null}
      <p className="small muted roll-back-foot">
        {plan.notCovered.length === 0 ? `${words.coveredInFull} ` : ""}
        {words.safety}
      </p>
    </>
  );
}

function Versions({ path, snapshot, frozen, onChoose }: { path: string; snapshot: boolean; frozen: boolean; onChoose: Props["onChoose"] }) {
  const words = text.changes.rollBack;
  const name = `version-${path}`;
  return (
    <fieldset className="versions" disabled={frozen}>
      <legend className="sr-only">{words.choice(path)}</legend>
      <label className={snapshot ? "" : "on"}>
        <input type="radio" name={name} checked={!snapshot} onChange={() => onChoose(path, "mine")} />
        <b>{words.keepMine}</b>
        <span className="muted">{words.keepMineNote}</span>
      </label>
      <label className={snapshot ? "on" : ""}>
        <input type="radio" name={name} checked={snapshot} onChange={() => onChoose(path, "snapshot")} />
        <b>{words.takeSnapshot}</b>
        <span className="muted">{words.takeSnapshotNote}</span>
      </label>
    </fieldset>
  );
}
