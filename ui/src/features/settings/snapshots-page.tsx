/** Whether turns are captured. Turning it off is said plainly and asked once. */
import { useState } from "react";

import { Button } from "../../components/button";
import { StateSign } from "../../components/state-sign";
import type { Settings, SnapshotMode } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { text } from "../../text/en";
import { ChoiceGroup } from "./choice-group";

const MODES: readonly SnapshotMode[] = ["shadow", "off"];

export function SnapshotsPage({ settings }: { settings: Settings }) {
  const words = text.settings.snapshots;
  const [asking, setAsking] = useState(false);
  const set = (snapshots: SnapshotMode) => {
    setAsking(false);
    void changeSettings({ snapshots });
  };
  return (
    <>
      <p className="lede">{words.lede}</p>
      <ChoiceGroup
        label={words.mode}
        value={asking ? "off" : settings.snapshots}
        options={MODES.map((mode) => ({ value: mode, ...words.modes[mode] }))}
        onChoose={(mode) => (mode === "off" && settings.snapshots !== "off" ? setAsking(true) : set(mode))}
      />
      {asking ? (
        <div className="banner attention setting-after" role="alert">
          <StateSign name="attention" />
          <span className="grow">{words.offWarning}</span>
          <Button dense autoFocus onClick={() => setAsking(false)}>
            {words.keepOn}
          </Button>
          <Button dense tone="danger" onClick={() => set("off")}>
            {words.turnOff}
          </Button>
        </div>
      ) : null}
      {settings.snapshots === "off" ? (
        <div className="banner attention setting-after" role="status">
          <StateSign name="attention" />
          <span className="grow">{words.isOff}</span>
        </div>
      ) : null}
    </>
  );
}
