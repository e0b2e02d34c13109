/** What a rollback, or the taking back of one, did: exact or each difference, then every file. */
import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { StateSign } from "../../components/state-sign";
import type { RestoreReport, TurnRecord } from "../../protocol";
import { text } from "../../text/en";
import { clockTime } from "../../text/format";
import { countPlan, differences } from "./plan-groups";
import { StepList } from "./step-list";

type Props = {
  report: RestoreReport;
  turn: TurnRecord | null;
  /** It was brought back since. */
  undone: boolean;
  busy: boolean;
  onBringBack: () => void;
  onClose: () => void;
};

export function RestoreReportView({ report, turn, undone, busy, onBringBack, onClose }: Props) {
  const words = text.changes.result;
  const back = report.undoes !== undefined;
  const title = turn === null ? words.titleUnknown : back ? words.broughtBackTitle(turn.number) : words.title(turn.number);
  return (
    <section className="restore-report" aria-label={title}>
      <div className="pane-h">
        <span className="grow cut pane-title">{title}</span>
        <span className="small muted num">{clockTime(report.at)}</span>
        <IconButton small icon="close" name={words.close} onClick={onClose} />
      </div>
      <ReportBanner report={report}>
        {back || undone ? (
          undone ? <span className="small muted">{text.changes.stones.undone}</span> : null
        ) : (
          <Button dense icon="forth" disabled={busy} onClick={onBringBack}>
            {busy ? words.bringingBack : words.bringBack}
          </Button>
        )}
      </ReportBanner>
      <ReportBody report={report} />
    </section>
  );
}

/** One sentence with numbers: what came out. */
export function ReportBanner({ report, children }: { report: RestoreReport; children?: React.ReactNode }) {
  const words = text.changes.result;
  const back = report.undoes !== undefined;
  const wrong = differences(report);
  const { changed, kept } = countPlan(report.steps);
  if (wrong === 0) {
    return (
      <div className="banner success" role="status">
        <Icon name="check" />
        <div className="grow">
          <b>{back ? words.broughtBackExact : words.exact}</b>{" "}
          <span className="text2">
            {words.exactNote(changed)} {kept === 0 ? "" : words.keptNote(kept)}
          </span>
        </div>
        {children}
      </div>
    );
  }
  return (
    <div className="banner attention" role="status">
      <StateSign name="attention" />
      <div className="grow">
        <b>{back ? words.broughtBackDifferences(wrong) : words.differences(wrong)}</b>{" "}
        <span className="text2">{words.differencesNote(Math.max(0, changed - wrong), changed)}</span>
      </div>
      {children}
    </div>
  );
}

/** The differences first, then what happened to each file. */
export function ReportBody({ report }: { report: RestoreReport }) {
  const words = text.changes.result;
  const actions = report.undoes === undefined ? words.actions : words.backActions;
  return (
    <div className="report-body">
      {report.outcome.kind === "differences" ? (
        <div className="report-differences">
          <h3>{words.differencesList}</h3>
          <ul>
            {report.outcome.paths.map((path) => (
              <li key={path.path}>
                <code>{path.path}</code> <span className="text2">{path.reason}</span>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      <StepList steps={report.steps} sources={null} action={(step) => actions[step.action]} heading={text.changes.rollBack.doneColumns.action} />
      {report.not_covered.length > 0 ? <NotCovered paths={report.not_covered} /> : null}
      <p className="small muted">{words.how}</p>
    </div>
  );
}

/** Paths that no capture has, with the reason each. */
export function NotCovered({ paths }: { paths: RestoreReport["not_covered"] }) {
  return (
    <details className="not-covered">
      <summary>
        <StateSign name="attention" />
        {text.changes.rollBack.notCovered(paths.length)}
      </summary>
      <ul>
        {paths.slice(0, 500).map((path) => (
          <li key={path.path}>
            <code>{path.path}</code> <span className="text2">{path.reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
