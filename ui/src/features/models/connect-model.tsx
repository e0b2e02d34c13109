/**
 * The dialog that sets up a model: pick an endpoint, test it live, save it.
 *
 * A key goes in and never comes out: the field is empty when a stored provider is changed.
 */
import { useState } from "react";

import { Dialog } from "../../components/dialog";
import { useApp } from "../../state/app";
import { text } from "../../text/en";
import { ModelForm } from "./model-form-view";
import "./models.css";
import { PresetList } from "./preset-list";
import { type Preset, presetOf } from "./presets";

type Props = {
  /** The provider that is changed; null sets up a new one. */
  name: string | null;
  onClose: () => void;
};

export function ConnectModel({ name, onClose }: Props) {
  const app = useApp((store) => store.state);
  const editing = app?.providers.find((entry) => entry.name === name) ?? null;
  const [preset, setPreset] = useState<Preset | null>(editing === null ? null : presetOf(editing.baseUrl));
  if (app === null) return null;
  const title = editing === null ? (preset === null || preset.name === "custom" ? text.models.title : text.models.choose(preset.label)) : text.models.editTitle(editing.name);
  return (
    <Dialog title={title} onClose={onClose} className="connect-model">
      {preset === null ? (
        <PresetList onChoose={setPreset} />
      ) : (
        <ModelForm
          key={preset.name}
          preset={preset}
          editing={editing}
          providers={app.providers}
          keychain={app.keychain}
          onBack={editing === null ? () => setPreset(null) : null}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}
