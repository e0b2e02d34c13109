/** Picks the mode of the session. Before `auto` the shell asks in the system's dialog. */
import { ChoiceMenu } from "../../components/choice-menu";
import type { Mode } from "../../protocol";
import { text } from "../../text/en";

const { composer, modes } = text.conversation;

const ORDER: readonly Mode[] = ["discuss", "plan", "interactive", "auto"];

/** Returns the mode that Shift Tab leads to. */
export function nextMode(mode: Mode): Mode {
  return ORDER[(ORDER.indexOf(mode) + 1) % ORDER.length] ?? "interactive";
}

export function ModeMenu({ mode, onChoose }: { mode: Mode; onChoose: (mode: Mode) => void }) {
  const choices = ORDER.map((one) => ({ value: one, label: modes[one].name, detail: modes[one].detail, asks: one === "auto" && mode !== "auto" }));
  return (
    <ChoiceMenu
      name={composer.mode}
      title={`${composer.mode}  Shift Tab`}
      icon="mode"
      value={mode}
      shown={modes[mode].name}
      choices={choices}
      onChoose={(value) => {
        const chosen = ORDER.find((one) => one === value);
        if (chosen && chosen !== mode) onChoose(chosen);
      }}
    />
  );
}
