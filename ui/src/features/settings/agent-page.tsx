/** What the agent may do unasked, and the limits of a turn. */
import { useState } from "react";

import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { AppState, Mode, ShellPolicy } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { text } from "../../text/en";
import { ChoiceGroup } from "./choice-group";
import { NumberSetting } from "./number-setting";

/** Auto is chosen in a session, after the system's dialog; it cannot be a default. */
const MODES: readonly Mode[] = ["discuss", "plan", "interactive"];
const POLICIES: readonly ShellPolicy[] = ["approve", "sandbox", "workspace", "all"];

export function AgentPage({ app }: { app: AppState }) {
  const words = text.settings.agent;
  const { settings, sandbox } = app;
  const [asking, setAsking] = useState(false);
  const choosePolicy = (shellPolicy: ShellPolicy) => {
    if (shellPolicy === "all") setAsking(true);
    else void changeSettings({ shellPolicy });
  };
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
        options={POLICIES.map((policy) => ({ value: policy, ...words.shellPolicies[policy] }))}
        onChoose={choosePolicy}
      />
      <p className="small setting-after flex">
        {sandbox.enforced ? <Icon name="shield" className="success" /> : <StateSign name="attention" />}
        <span>
          <span className="muted">{words.sandboxNow}:</span> {sandbox.reason}
        </span>
      </p>
      <label className="setting-switch">
        <input type="checkbox" role="switch" checked={settings.nativeApprovals} onChange={(event) => void changeSettings({ nativeApprovals: event.target.checked })} />
        <span>
          <span className="choice-name">{words.native}</span>
          <span className="choice-note">{words.nativeNote}</span>
        </span>
      </label>
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
      {asking ? (
        <AllowAll
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void changeSettings({ shellPolicy: "all" });
          }}
        />
      ) : null}
    </>
  );
}

/** The policy under which nothing asks is typed out before it is set (Z-49); the system may ask once more. */
function AllowAll({ onClose, onConfirm }: { onClose: () => void; onConfirm: () => void }) {
  const words = text.settings.agent;
  const [typed, setTyped] = useState("");
  const right = typed.trim().toLowerCase() === words.allPhrase;
  return (
    <Dialog title={words.allTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (right) onConfirm();
        }}
      >
        <div className="dialog-body">
          <p className="text2">{words.allBody}</p>
          <label className="typed-confirm">
            <span>{words.allType(words.allPhrase)}</span>
            <input className="input" value={typed} autoFocus spellCheck={false} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
          </label>
        </div>
        <div className="acts">
          <span className="grow" />
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button tone="danger" type="submit" disabled={!right}>
            {words.allConfirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
