/** What the agent may do unasked, and the limits of a turn. */
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { AppState, Mode, ShellPolicy } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { text } from "../../text/en";
import { ChoiceGroup } from "./choice-group";
import { NumberSetting } from "./number-setting";

/** Auto is chosen in a session, after the system's dialog; it cannot be a default. */
const MODES: readonly Mode[] = ["discuss", "plan", "interactive"];

/** `workspace` and `all` let nothing more run than `sandbox` does: what is not confined asks in any case. */
const POLICIES: readonly ShellPolicy[] = ["approve", "sandbox"];


export function AgentPage({ app }: { app: AppState }) {
  const words = text.settings.agent;
  const { settings, sandbox } = app;
  return (
    <>
      <p className="lede">{words.lede}</p>
      <ChoiceGroup
        label={words.mode}
        value={settings.defaultMode}
        options={MODES.map((mode) => ({ value: mode, ...words.modes[mode] }))}
        onChoose={(defaultMode) => void changeSettings({ defaultMode })}
      />
      <ChoiceGroup
        label={words.shellPolicy}
        value={settings.shellPolicy}
        options={[...new Set([...POLICIES, settings.shellPolicy])].map((policy) => ({ value: policy, ...words.shellPolicies[policy] }))}
        onChoose={(shellPolicy) => void changeSettings({ shellPolicy })}
      />
      <p className="small setting-after flex">
        {sandbox?.enforced ? <Icon name="shield" className="success" /> : <StateSign name={sandbox ? "attention" : "busy"} />}
        <span>
          <span className="muted">{words.sandboxNow}:</span> {sandbox?.reason ?? text.settings.about.testing}
        </span>
      </p>
      <div className="setting-switch">
        <input
          id="native-approvals"
          type="checkbox"
          checked={settings.nativeApprovals}
          aria-describedby="native-approvals-note"
          onChange={(event) => void changeSettings({ nativeApprovals: event.target.checked })}
        />
        <label htmlFor="native-approvals">{words.native}</label>
        <p id="native-approvals-note" className="choice-note">
          {words.nativeNote}
        </p>
      </div>
      <NumberSetting
        label={words.maxIterations}
        note={words.maxIterationsNote}
        unit={words.requests}
        value={settings.maxIterations}
        least={1}
        most={10_000}
        onSet={(maxIterations) => void changeSettings({ maxIterations })}
      />
      <NumberSetting
        label={words.idleTimeout}
        note={words.idleTimeoutNote}
        unit={words.seconds}
        value={Math.round(settings.modelIdleTimeoutMs / 1000)}
        least={0}
        most={86_400}
        onSet={(seconds) => void changeSettings({ modelIdleTimeoutMs: seconds * 1000 })}
      />
    </>
  );
}
