/** The fields of a model's endpoint with its live test. What the fields may hold is decided in `model-form.ts`. */
import { useState } from "react";

import { Button } from "../../components/button";
import type { ConnectionTest, KeychainState, KeyFallback, ProviderEntry } from "../../protocol";
import { text } from "../../text/en";
import { Checks } from "./checks";
import { KeyStorage } from "./key-storage";
import { checkFields, type ModelFields, type Purpose, sameEndpoint, startFields, toDraft } from "./model-form";
import { ModelField } from "./model-field";
import type { Preset } from "./presets";
import { useConnection } from "./use-connection";

type Props = {
  preset: Preset;
  editing: ProviderEntry | null;
  providers: readonly ProviderEntry[];
  keychain: KeychainState;
  onBack: (() => void) | null;
  onClose: () => void;
};

export function ModelForm({ preset, editing, providers, keychain, onBack, onClose }: Props) {
  const words = text.models;
  const [fields, setFields] = useState<ModelFields>(() => (editing === null ? startFields(preset, providers) : storedFields(editing)));
  const [shown, setShown] = useState<Purpose | null>(null);
  const [fallback, setFallback] = useState<KeyFallback>("memory");
  const [tested, setTested] = useState<{ fields: ModelFields; result: ConnectionTest } | null>(null);
  const { progress, test, save } = useConnection();
  const context = { preset, taken: providers, editing: editing?.name ?? null };
  const problems = shown === null ? {} : checkFields(fields, context, shown);
  const busy = progress.kind === "testing" || progress.kind === "saving";
  const fresh = tested !== null && sameEndpoint(tested.fields, fields);
  const works = fresh && tested.result.checks.every((check) => check.outcome !== "failed");

  const may = (purpose: Purpose) => {
    setShown(purpose);
    return !busy && Object.keys(checkFields(fields, context, purpose)).length === 0;
  };
  const runTest = async () => {
    if (!may("test")) return;
    const result = await test(toDraft(fields, fallback));
    if (result !== null) setTested({ fields, result });
  };
  const runSave = async () => {
    if (may("save") && (await save(toDraft(fields, fallback)))) onClose();
  };
  const field = (name: keyof ModelFields) => ({
    value: fields[name],
    problem: problems[name] ?? null,
    onChange: (value: string) => setFields({ ...fields, [name]: value }),
  });
  const stored = editing !== null && editing.key.kind !== "none";
  return (
    <form
      className="model-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void (works ? runSave() : runTest());
      }}
    >
      <div className="dialog-body">
        <ModelField label={words.fields.baseUrl} note={words.fields.baseUrlNote} mono autoFocus={preset.baseUrl === ""} {...field("baseUrl")} />
        <ModelField
          label={preset.key === "needed" || stored ? words.fields.key : words.fields.keyOptional}
          note={stored ? words.fields.keyKeep : words.fields.keyNote}
          secret
          autoFocus={preset.key === "needed"}
          {...field("key")}
        />
        {fields.key.trim() === "" ? null : <KeyStorage keychain={keychain} fallback={fallback} onChoose={setFallback} />}
        <ModelField label={words.fields.modelId} note={words.fields.modelNote(preset.example)} mono autoFocus={preset.key === "optional" && preset.baseUrl !== ""} {...field("modelId")}>
          {tested === null || tested.result.models.length === 0 ? null : (
            <ListedModels models={tested.result.models} chosen={fields.modelId} onChoose={(modelId) => setFields({ ...fields, modelId })} />
          )}
        </ModelField>
        <div className="field-pair">
          <ModelField label={words.fields.name} note={words.fields.nameNote} readOnly={editing !== null} {...field("name")} />
          <ModelField label={words.fields.contextWindow} note={words.fields.contextNote} {...field("contextWindow")} />
        </div>
        {tested === null ? <p className="small muted">{words.testNote}</p> : <Checks result={tested.result} stale={!fresh} />}
        {progress.kind === "failed" ? (
          <div className="banner danger" role="alert">
            <div className="grow">
              <b>{progress.doing === "test" ? words.testFailed : words.saveFailed}.</b> <span className="text2">{progress.message}</span>
            </div>
          </div>
        ) : null}
      </div>
      <div className="acts">
        {onBack === null ? null : (
          <Button tone="quiet" disabled={busy} onClick={onBack}>
            {words.back}
          </Button>
        )}
        <span className="grow" role="status">
          {progress.kind === "testing" ? words.testing : ""}
        </span>
        <Button onClick={onClose}>{words.cancel}</Button>
        {works ? (
          <>
            <Button disabled={busy} onClick={() => void runTest()}>
              {words.testAgain}
            </Button>
            <Button tone="primary" type="submit" disabled={busy}>
              {progress.kind === "saving" ? words.saving : words.save}
            </Button>
          </>
        ) : (
          <>
            <Button disabled={busy} onClick={() => void runSave()}>
              {progress.kind === "saving" ? words.saving : words.saveUntested}
            </Button>
            <Button tone="primary" type="submit" disabled={busy}>
              {progress.kind === "testing" ? words.testing : tested === null ? words.test : words.testAgain}
            </Button>
          </>
        )}
      </div>
    </form>
  );
}

/** The fields of a stored provider, without its key. */
function storedFields(entry: ProviderEntry): ModelFields {
  const model = entry.models[0];
  return { name: entry.name, baseUrl: entry.baseUrl, key: "", modelId: model?.modelId ?? "", contextWindow: model?.contextWindow === undefined ? "" : String(model.contextWindow) };
}

function ListedModels({ models, chosen, onChoose }: { models: readonly string[]; chosen: string; onChoose: (model: string) => void }) {
  const label = text.models.fields.modelListed(models.length);
  return (
    <select className="input listed-models" aria-label={label} value={models.includes(chosen) ? chosen : ""} onChange={(event) => event.target.value !== "" && onChoose(event.target.value)}>
      <option value="">{label}</option>
      {models.map((model) => (
        <option key={model} value={model}>
          {model}
        </option>
      ))}
    </select>
  );
}
