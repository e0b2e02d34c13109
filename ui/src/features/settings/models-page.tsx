/** The models that are connected: which one is the default, change, remove, add. */
import { Button } from "../../components/button";
import type { AppState, ModelEntry, ModelRef, ProviderEntry } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { shell } from "../../state/shell";
import { text } from "../../text/en";

export function ModelsPage({ app }: { app: AppState }) {
  const words = text.settings.models;
  const openDialog = useNavigation((state) => state.openDialog);
  const lines = app.providers.flatMap((provider) => provider.models.map((model, at) => ({ provider, model, first: at === 0 })));
  return (
    <>
      <div className="models-head">
        <p className="lede grow">{words.lede}</p>
        <Button icon="plus" onClick={() => openDialog({ kind: "connect_model", name: null })}>
          {words.add}
        </Button>
      </div>
      {lines.length === 0 ? (
        <p className="panel models-none text2">{words.none}</p>
      ) : (
        <div className="panel models-table">
          <table>
            <thead>
              <tr>
                <th scope="col">{words.columns.model}</th>
                <th scope="col">{words.columns.endpoint}</th>
                <th scope="col" className="right">
                  {words.columns.context}
                </th>
                <th scope="col">
                  <span className="sr-only">{words.columns.acts}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {lines.map(({ provider, model, first }) => (
                <ModelLine
                  key={`${provider.name}/${model.modelId}`}
                  provider={provider}
                  model={model}
                  first={first}
                  isDefault={isSame(app.settings.defaultModel, provider, model)}
                  onChange={() => openDialog({ kind: "connect_model", name: provider.name })}
                  onRemove={() => void attempt("app", () => shell().provider.delete({ name: provider.name }))}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

type LineProps = { provider: ProviderEntry; model: ModelEntry; first: boolean; isDefault: boolean; onChange: () => void; onRemove: () => void };

function ModelLine({ provider, model, first, isDefault, onChange, onRemove }: LineProps) {
  const words = text.settings.models;
  const name = model.displayName ?? model.modelId;
  const script = provider.api === "script";
  return (
    <tr>
      <td>
        <b>{name}</b> {isDefault ? <span className="tag accent">{words.default}</span> : null}
      </td>
      <td>
        {provider.name}
        <div className="micro muted">{script ? words.script : `${provider.baseUrl}, ${text.models.keySource(provider.key)}`}</div>
      </td>
      <td className="right num">{model.contextWindow === undefined ? <span className="muted">{words.unknown}</span> : words.tokens(model.contextWindow)}</td>
      <td>
        <span className="model-acts">
          {isDefault ? null : (
            <Button
              dense
              tone="quiet"
              aria-label={words.makeDefaultLabel(name)}
              onClick={() => void changeSettings({ defaultModel: { provider: provider.name, model_id: model.modelId } })}
            >
              {words.makeDefault}
            </Button>
          )}
          {script || !first ? null : (
            <>
              <Button dense tone="quiet" aria-label={words.changeLabel(provider.name)} onClick={onChange}>
                {words.change}
              </Button>
              <Button dense tone="quiet" aria-label={words.removeLabel(provider.name)} onClick={onRemove}>
                {words.remove}
              </Button>
            </>
          )}
        </span>
      </td>
    </tr>
  );
}

function isSame(ref: ModelRef | null, provider: ProviderEntry, model: ModelEntry): boolean {
  return ref !== null && ref.provider === provider.name && ref.model_id === model.modelId;
}
