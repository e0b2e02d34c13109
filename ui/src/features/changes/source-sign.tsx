/** Who changed a file, as a shape: stacked stones for the agent, a prompt for a command, a filled person for the user. */
import { Icon } from "../../components/icon";
import type { ChangeSource } from "../../protocol";
import { text } from "../../text/en";

const ICONS = { agent: "agent", shell: "shell", outside: "you" } as const;

export function SourceSign({ source, silent = false }: { source: ChangeSource; silent?: boolean }) {
  return (
    <span className={`kind ${source === "outside" ? "you" : ""}`} title={text.changes.sources[source]}>
      <Icon name={ICONS[source]} />
      {silent ? null : <span className="sr-only">{text.changes.sources[source]}</span>}
    </span>
  );
}
