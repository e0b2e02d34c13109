/** Picks the model of the session; it holds from the next turn on. */
import { Button } from "../../components/button";
import { ChoiceMenu } from "../../components/choice-menu";
import type { ModelRef, SessionSummary } from "../../protocol";
import { chooseModel } from "../../state/actions";
import { isScript, knownModels, useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { text } from "../../text/en";

const words = text.conversation.composer;

const valueOf = (ref: ModelRef) => `${ref.provider}\n${ref.model_id}`;

export function ModelMenu({ summary }: { summary: SessionSummary }) {
  const providers = useApp((app) => app.state?.providers) ?? [];
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  const connect = () => openDialog({ kind: "connect_model", name: null });
  // A session that has chosen none takes the default one.
  const defaultModel = useApp((app) => app.state?.settings.defaultModel);
  const current = summary.model ?? defaultModel ?? null;
  // A script works on one sample only: it is not offered to other sessions.
  const models = knownModels(providers.filter((provider) => provider.api !== "script" || provider.name === current?.provider));
  if (!current && models.length === 0) {
    return (
      <Button dense tone="quiet" icon="model" className="attention" onClick={connect}>
        {words.noModel}
      </Button>
    );
  }
  const known = current && models.find((model) => valueOf(model.ref) === valueOf(current));
  return (
    <ChoiceMenu
      name={words.model}
      icon="model"
      value={current ? valueOf(current) : null}
      shown={isScript(providers, current) ? words.script : known?.name ?? current?.model_id ?? words.model}
      choices={models.map((model) => ({ value: valueOf(model.ref), label: model.name, detail: model.ref.provider }))}
      onChoose={(value) => {
        const chosen = models.find((model) => valueOf(model.ref) === value);
        if (chosen) chooseModel(summary.id, chosen.ref);
      }}
      footer={{ label: words.connect, icon: "plus", act: connect }}
    />
  );
}
