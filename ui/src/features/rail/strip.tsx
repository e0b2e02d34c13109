/** The rail, folded: the same things as signs. */
import { IconButton } from "../../components/icon-button";
import { Mark } from "../../components/mark";
import { StateSign } from "../../components/state-sign";
import { newSession, showSession } from "../../state/actions";
import { useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { type SessionSign, signOf } from "../../state/session-sign";
import { text } from "../../text/en";

const words = text.frame.rail;

const SHOWN: readonly { sign: SessionSign; name: (sessions: number) => string }[] = [
  { sign: "attention", name: words.stripNeeds },
  { sign: "busy", name: words.stripWorks },
  { sign: "ready", name: words.stripReady },
];

export function Strip() {
  const state = useApp((app) => app.state);
  const unseen = useApp((app) => app.unseen);
  const { openDialog, setRailOpen, show } = useNavigation();
  if (!state) return null;
  return (
    <nav className="strip" aria-label={words.label}>
      <Mark />
      <IconButton icon="panel-left" name={words.show} keys="Ctrl B" onClick={() => setRailOpen(true)} />
      <IconButton icon="search" name={words.find} keys="Ctrl K" onClick={() => openDialog({ kind: "palette", query: "" })} />
      <IconButton icon="plus" name={words.newSession} keys="Ctrl N" onClick={() => newSession()} />
      <span className="rule" />
      {SHOWN.map(({ sign, name }) => {
        const found = state.sessions.filter((session) => signOf(session, unseen.has(session.id)) === sign);
        const [first] = found;
        if (!first) return null;
        return (
          <button key={sign} type="button" className="icon-btn" aria-label={name(found.length)} title={name(found.length)} onClick={() => showSession(first.id)}>
            <StateSign name={sign} />
          </button>
        );
      })}
      <span className="grow" />
      <IconButton icon="gear" name={words.settings} keys="Ctrl ," onClick={() => show({ kind: "settings", page: "models" })} />
    </nav>
  );
}
