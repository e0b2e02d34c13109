/** The files of a rollback as a table, each with what happens to it; virtual, since a turn can change thousands. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";

import { StateSign } from "../../components/state-sign";
import type { ChangeSource, RestoreStep } from "../../protocol";
import { text } from "../../text/en";
import { remPixels } from "./file-tree-view";
import { LineCounts } from "../../components/line-counts";
import { SourceSign } from "./source-sign";

type Props = {
  steps: readonly RestoreStep[];
  /** Who changed each path in the turn; absent where it does not matter. */
  sources: ReadonlyMap<string, ChangeSource> | null;
  action: (step: RestoreStep) => string;
  heading: string;
  /** The choice between two versions; a step with one is a conflict. */
  choice?: (step: RestoreStep) => React.ReactNode;
};

/** Rows up to which the list is drawn whole. Beyond, only what is on screen is. */
const WHOLE = 60;

export function StepList(props: Props) {
  const { steps, sources, heading } = props;
  const words = text.changes.rollBack.columns;
  if (steps.length === 0) return null;
  return (
    <div className={`steps-table ${sources === null ? "" : "with-source"}`} role="table" aria-rowcount={steps.length + 1}>
      <div role="rowgroup">
        <div className="steps-row is-head" role="row">
          <span role="columnheader">{words.file}</span>
          {sources === null ? null : <span role="columnheader">{words.by}</span>}
          <span role="columnheader">{heading}</span>
          <span role="columnheader" className="right">
            {words.lines}
          </span>
        </div>
      </div>
      {steps.length <= WHOLE ? (
        <div role="rowgroup">
          {steps.map((step, index) => (
            <StepRow key={step.path} step={step} index={index} {...props} />
          ))}
        </div>
      ) : (
        <VirtualRows {...props} />
      )}
    </div>
  );
}

function VirtualRows(props: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const rem = remPixels();
  const virtual = useVirtualizer({
    count: props.steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 2.25 * rem,
    getItemKey: (index) => props.steps[index]?.path ?? index,
    overscan: 10,
  });
  return (
    <div role="rowgroup" className="steps-scroll" ref={scroller} tabIndex={0}>
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const step = props.steps[item.index];
          if (step === undefined) return null;
          return (
            <div role="presentation" key={item.key} ref={virtual.measureElement} data-index={item.index} className="diff-at" style={{ transform: `translateY(${item.start}px)` }}>
              <StepRow step={step} index={item.index} {...props} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function StepRow({ step, index, sources, action, choice }: Props & { step: RestoreStep; index: number }) {
  const options = choice?.(step) ?? null;
  const conflict = options !== null;
  const source = sources?.get(step.path);
  const soft = step.action === "unchanged" || (step.action === "kept_yours" && !conflict);
  return (
    <div className={`steps-row ${conflict ? "is-conflict" : ""} ${soft ? "is-soft" : ""}`} role="row" aria-rowindex={index + 2}>
      <span role="cell" className="steps-path">
        <code title={step.path}>{step.path}</code>
      </span>
      {sources === null ? null : (
        <span role="cell" className="flex gap2">
          {source === undefined ? null : <SourceSign source={source} />}
        </span>
      )}
      <span role="cell" className="steps-action">
        {conflict ? <StateSign name="attention" /> : null}
        <span>
          {action(step)}
          {step.note === null ? null : <span className="muted">. {step.note}</span>}
        </span>
      </span>
      <span role="cell" className="right">
        <LineCounts added={step.added} removed={step.removed} />
      </span>
      {conflict ? (
        <span role="cell" className="steps-choice">
          {options}
        </span>
      ) : null}
    </div>
  );
}
