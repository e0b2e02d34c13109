/** Whether turns are captured. Turning it off is asked for in a native dialog, which the shell raises. */
import { StateSign } from "../../components/state-sign";
import type { Settings, SnapshotMode } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { text } from "../../text/en";
import { ChoiceGroup } from "./choice-group";

const MODES: readonly SnapshotMode[] = ["shadow", "off"];

export function SnapshotsPage({ settings }: { settings: Settings }) {
  const words = text.settings.snapshots;
  return (
    <>
      <p className="lede">{words.lede}</p>
      <ChoiceGroup
        label={words.mode}
        value={settings.snapshots}
        options={MODES.map((mode) => ({ value: mode, ...words.modes[mode] }))}
        onChoose={(mode) => void changeSettings({ snapshots: mode })}
      />
      {settings.snapshots === "off" ? (
        <div className="banner attention setting-after" role="status">
          <StateSign name="attention" />
          <span className="grow">{words.isOff}</span>
        </div>
      ) : null}
    </>
  );
}
