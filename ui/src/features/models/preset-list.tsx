/** The endpoints to start from, those on this computer first. */
import { Icon } from "../../components/icon";
import { text } from "../../text/en";
import { hostOf, type Preset, PRESETS } from "./presets";

export function PresetList({ onChoose }: { onChoose: (preset: Preset) => void }) {
  const words = text.models;
  const custom = PRESETS.filter((preset) => preset.baseUrl === "");
  const known = PRESETS.filter((preset) => preset.baseUrl !== "");
  return (
    <div className="dialog-body">
      <p className="lede">{words.lede}</p>
      <Group heading={words.here} presets={known.filter((preset) => preset.place === "this_computer")} onChoose={onChoose} />
      <Group heading={words.withKey} presets={known.filter((preset) => preset.place === "network")} onChoose={onChoose} />
      <Group heading={words.other} presets={custom} onChoose={onChoose} />
    </div>
  );
}

function Group({ heading, presets, onChoose }: { heading: string; presets: readonly Preset[]; onChoose: (preset: Preset) => void }) {
  return (
    <section aria-label={heading}>
      <h3 className="sub">{heading}</h3>
      <div className="panel preset-list">
        {presets.map((preset) => (
          <button key={preset.name} type="button" className="preset" onClick={() => onChoose(preset)}>
            <Icon name={preset.baseUrl === "" ? "plug" : preset.place === "this_computer" ? "disk" : "key"} className="muted" />
            <span className="grow cut">
              <b>{preset.label}</b> <span className="muted">{preset.baseUrl === "" ? text.models.customNote : hostOf(preset.baseUrl)}</span>
            </span>
            <Icon name="right" className="muted" />
          </button>
        ))}
      </div>
    </section>
  );
}
