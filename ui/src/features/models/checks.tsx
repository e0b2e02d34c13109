/** What a live test showed, a line for each thing that was tried. */
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { CheckOutcome, ConnectionTest } from "../../protocol";
import { text } from "../../text/en";

export function Checks({ result, stale }: { result: ConnectionTest; stale: boolean }) {
  const words = text.models;
  return (
    <section className={`checks panel ${stale ? "is-stale" : ""}`} aria-label={words.checks} aria-live="polite">
      <ul>
        {result.checks.map((check) => (
          <li key={check.name}>
            <OutcomeSign outcome={check.outcome} />
            <span className="check-name">{check.name}</span>
            <span className={check.outcome === "failed" ? "" : "muted"}>{check.detail}</span>
          </li>
        ))}
        {result.latencyMs === null ? null : (
          <li>
            <Icon name="clock" className="muted" />
            <span className="muted check-wide">{words.latency(result.latencyMs)}</span>
          </li>
        )}
      </ul>
      {stale ? <p className="small muted check-stale">{words.testStale}</p> : null}
    </section>
  );
}

function OutcomeSign({ outcome }: { outcome: CheckOutcome }) {
  const word = <span className="sr-only">{text.models.outcomes[outcome]}</span>;
  switch (outcome) {
    case "ok":
      return (
        <>
          <Icon name="check" className="success" />
          {word}
        </>
      );
    case "warning":
      return <StateSign name="attention" label={text.models.outcomes[outcome]} />;
    case "failed":
      return <StateSign name="failed" label={text.models.outcomes[outcome]} />;
    case "skipped":
      return <StateSign name="idle" label={text.models.outcomes[outcome]} />;
  }
}
