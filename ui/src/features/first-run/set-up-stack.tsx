/** The three stones of the mark, from the ground: each is laid when its part of the set-up is done. */
import { text } from "../../text/en";

const BASE = "M9.4 58.4C5.4 58.4 3.6 55.2 4.2 51C5 45.8 8.4 43.6 13.6 43.3L46.8 41.5C53.8 41.2 59 44.4 60 50.2C60.8 55.2 58.4 58.4 53.8 58.4Z";
const MIDDLE = "M20.4 40.3C15.8 40.5 12.8 38 12.6 33.6C12.4 28.6 15.6 25.5 21 24.9L43.4 23C50 22.6 54 25.6 54.6 30.8C55.2 35.8 52.4 38.4 47.2 38.8Z";
const TOP = "M26.6 21.8C21.4 22.2 18 19 18.3 14.2C18.6 8.6 22.6 5.4 28.6 4.9C35.6 4.4 40.6 7.4 41.4 12.8C42 17.6 39.2 20.6 34.2 21.1Z";

type Stage = "done" | "now" | "later";

/** A name means that the part is done. */
export function SetUpStack({ model, folder }: { model: string | null; folder: string | null }) {
  const words = text.firstRun.steps;
  const begun = model !== null || folder !== null;
  const stages: Record<"start" | "model" | "folder", Stage> = {
    start: begun ? "done" : "now",
    model: model !== null ? "done" : begun ? "now" : "later",
    folder: folder !== null ? "done" : model !== null ? "now" : "later",
  };
  return (
    <div className="stack">
      <svg viewBox="0 0 64 64" aria-hidden="true">
        <path className={`is-${stages.start}`} d={BASE} />
        <path className={`is-${stages.model}`} d={MIDDLE} />
        <path className={`is-${stages.folder}`} d={TOP} />
      </svg>
      <ol aria-label={words.label}>
        <Step stage={stages.folder} name={words.folder} detail={folder ?? words.folderMissing} />
        <Step stage={stages.model} name={words.model} detail={model ?? (stages.model === "now" ? words.modelNow : words.modelMissing)} />
        <Step stage={stages.start} name={words.start} detail={begun ? words.startDone : words.startNow} />
      </ol>
    </div>
  );
}

function Step({ stage, name, detail }: { stage: Stage; name: string; detail: string }) {
  return (
    <li className={`is-${stage}`} aria-current={stage === "now" ? "step" : undefined}>
      <b>{name}</b>
      <span className="cut">{detail}</span>
    </li>
  );
}
