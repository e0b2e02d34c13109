/** Goes to anything: one field, one list, the keys Up, Down, Enter and Esc. */
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";

import { Dialog } from "../../components/dialog";
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import { useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import { text } from "../../text/en";
import { allEntries, type Entry, highlighted, matching } from "./entries";

const words = text.frame.palette;

export function Palette({ start }: { start: string }) {
  const app = useApp((store) => store.state);
  const unseen = useApp((store) => store.unseen);
  const session = useSession((store) => store.state);
  const close = useNavigation((navigation) => navigation.closeDialog);
  const [query, setQuery] = useState(start);
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  const found = useMemo(() => (app ? matching(allEntries(app, unseen, session), query) : []), [app, unseen, session, query]);
  const current = found[Math.min(at, found.length - 1)];

  useEffect(() => {
    if (current) document.getElementById(`${list}-${current.key}`)?.scrollIntoView({ block: "nearest" });
  }, [current, list]);

  const run = (entry: Entry) => {
    close();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") setAt((at + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setAt((at - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter" && current) run(current);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.title} titleHidden onClose={close} className="palette" initialFocus={field}>
      <div className="pq">
        <Icon name="search" className="muted" />
        <input
          ref={field}
          role="combobox"
          aria-expanded
          aria-controls={list}
          aria-activedescendant={current ? `${list}-${current.key}` : undefined}
          aria-label={words.title}
          placeholder={words.hint}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div className="pl" role="listbox" id={list} aria-label={words.title}>
        {found.length === 0 ? <p className="ph">{words.nothing}</p> : null}
        {found.map((entry, i) => (
          <EntryRow
            key={entry.key}
            id={`${list}-${entry.key}`}
            entry={entry}
            query={query}
            head={found[i - 1]?.group !== entry.group}
            here={entry === current}
            onRun={() => run(entry)}
          />
        ))}
      </div>
      <div className="keys">
        <span>
          <kbd>Enter</kbd>
          {words.open}
        </span>
        <span>
          <kbd>&gt;</kbd>
          {words.commandsKey}
        </span>
        <span>
          <kbd>#</kbd>
          {words.stonesKey}
        </span>
        <span className="grow" />
        <span className="num">{words.matches(found.length)}</span>
      </div>
    </Dialog>
  );
}

interface EntryRowProps {
  id: string;
  entry: Entry;
  query: string;
  head: boolean;
  here: boolean;
  onRun: () => void;
}

function EntryRow({ id, entry, query, head, here, onRun }: EntryRowProps) {
  return (
    <>
      {head ? (
        <div className="ph" role="presentation">
          {entry.group}
        </div>
      ) : null}
      {/* The field keeps the focus; the list is read through aria-activedescendant. */}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
      <div id={id} role="option" aria-selected={here} className={`row ${here ? "is-here" : ""}`} onClick={onRun}>
        {entry.icon ? <Icon name={entry.icon} /> : null}
        {entry.sign ? (
          <span className="st">
            <StateSign name={entry.sign} label={text.frame.states[entry.sign]} />
          </span>
        ) : null}
        <span className="cut">
          {highlighted(entry.label, query).map((piece) => (piece.hit ? <mark key="hit">{piece.text}</mark> : piece.text))}
        </span>
        <span className="grow muted cut">{entry.detail}</span>
        {entry.keys ? <kbd>{entry.keys}</kbd> : null}
      </div>
    </>
  );
}
