/** How full the model's context is. Without a known window only the tokens are shown. */
import { knownModels, useApp } from "../../state/app";
import type { SessionState } from "../../state/session";
import { text } from "../../text/en";

const words = text.conversation.composer;

/** Share from which the engine makes the context smaller (its hard threshold). */
const FULL = 0.8;

export function ContextGauge({ state }: { state: SessionState }) {
  const providers = useApp((app) => app.state?.providers);
  const { model } = state.summary;
  const listed = knownModels(providers ?? []).find((one) => one.ref.provider === model?.provider && one.ref.model_id === model.model_id);
  const window = state.contextWindow ?? listed?.contextWindow ?? null;
  const used = state.contextTokens;
  if (used === null || used === 0) return null;
  if (window === null) {
    return (
      <span className="gauge wide-only" title={words.contextOnly(used)}>
        <span className="num">{words.tokens(used)}</span>
      </span>
    );
  }
  const share = Math.min(1, used / window);
  return (
    <span className="gauge" role="img" aria-label={words.context(used, window)} title={words.context(used, window)}>
      <svg viewBox="0 0 40 6" aria-hidden="true">
        <rect className="g0" x="0" y="1" width="40" height="4" rx="2" />
        <rect className={`g1 ${share >= FULL ? "full" : ""}`} x="0" y="1" width={Math.max(1, 40 * share)} height="4" rx="2" />
      </svg>
      <span className="num">{Math.round(share * 100)} %</span>
    </span>
  );
}
