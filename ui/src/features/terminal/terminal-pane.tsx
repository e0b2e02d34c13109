/** One terminal: mounts its view, attaches it to the PTY, and asks before a paste that would run something. */
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef, useState } from "react";

import { Button } from "../../components/button";
import type { TerminalSummary } from "../../protocol";
import { useApp } from "../../state/app";
import { messageOf } from "../../state/failure";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { encodePaste, readPaste, type Paste } from "./paste";
import { PasteDialog } from "./paste-dialog";
import { TerminalSearch } from "./terminal-search";
import { type TerminalEvents, TerminalView } from "./terminal-view";

type Props = { terminal: TerminalSummary; onNew: () => void; onEnded: () => void };

export function TerminalPane({ terminal, onNew, onEnded }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<TerminalView | null>(null);
  const [searching, setSearching] = useState(false);
  const [matches, setMatches] = useState({ at: -1, all: 0 });
  const [paste, setPaste] = useState<Paste | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const platform = useApp((app) => app.state?.platform ?? "linux");
  const terminalId = terminal.id;
  const write = (data: string) => {
    shell()
      .terminal.write({ terminalId, data })
      // A shell that ended takes no input; its end is shown already.
      .catch(() => undefined);
  };
  const sendPaste = (what: string) => {
    write(encodePaste(what, view?.bracketed ?? false));
    setPaste(null);
    view?.focus();
  };

  // What the view calls is looked up at the time of the call, so that it is made once.
  const acts = useRef({ onNew, onEnded });
  useEffect(() => {
    acts.current = { onNew, onEnded };
  });

  useEffect(() => {
    const node = host.current;
    if (node === null) return;
    let end: () => void = () => undefined;
    let closed = false;
    const events: TerminalEvents = {
      input: write,
      resize: (size) => void shell().terminal.resize({ terminalId, size }).catch(() => undefined),
      acknowledge: (bytes) => void shell().terminal.ack({ terminalId, bytes }).catch(() => undefined),
      openLink: (url) => void shell().app.openLink({ url }).catch(() => undefined),
      matches: (at, all) => setMatches({ at, all }),
      act: (act) => {
        if (act === "search") setSearching(true);
        else if (act === "new_terminal") acts.current.onNew();
        else if (act === "copy") copy(made.selection, setFailure);
        else void readClipboard().then((result) => take(result, made, { setPaste, setFailure, write }));
      },
    };
    const made = new TerminalView(node, platform, events);
    setView(made);
    // A paste by the mouse or the menu goes the same way as one by the keys.
    const pasted = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      take({ text: event.clipboardData?.getData("text/plain") ?? "" }, made, { setPaste, setFailure, write });
    };
    node.addEventListener("paste", pasted, true);
    events.resize(made.size);
    shell()
      .terminal.attach({ terminalId }, (chunk) => {
        if (chunk.kind === "bytes") made.write(chunk.bytes);
        else acts.current.onEnded();
      })
      .then(
        (stop) => {
          if (closed) stop();
          else end = stop;
        },
        (error: unknown) => !closed && setFailure(`${text.terminal.attachFailed}. ${messageOf(error)}`),
      );
    made.focus();
    return () => {
      closed = true;
      end();
      node.removeEventListener("paste", pasted, true);
      made.close();
      setView(null);
    };
    // One view for one terminal on one platform.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [terminalId, platform]);

  return (
    <div className="terminal-pane" role="tabpanel" id={`terminal-${terminalId}`} aria-labelledby={`terminal-tab-${terminalId}`}>
      {searching && view !== null ? (
        <TerminalSearch
          matches={matches}
          onFind={(query, direction, typing) => view.find(query, direction, typing)}
          onClose={() => {
            setSearching(false);
            view.stopFinding();
            view.focus();
          }}
        />
      ) : null}
      {failure === null ? null : (
        <div className="terminal-note" role="alert">
          <span className="grow danger">{failure}</span>
          <Button dense tone="quiet" onClick={() => setFailure(null)}>
            {text.terminal.cancel}
          </Button>
        </div>
      )}
      <div className="terminal-host" ref={host} data-testid="terminal" />
      {terminal.state.state === "exited" ? (
        <div className="terminal-note" role="status">
          <span className="grow">{text.terminal.exited(terminal.state.code)}</span>
          <Button dense onClick={onNew}>
            {text.terminal.again}
          </Button>
        </div>
      ) : null}
      {paste === null ? null : (
        <PasteDialog
          paste={paste}
          bracketed={view?.bracketed ?? false}
          onPaste={sendPaste}
          onClose={() => {
            setPaste(null);
            view?.focus();
          }}
        />
      )}
    </div>
  );
}

function copy(selection: string, setFailure: (message: string | null) => void): void {
  if (selection === "") return;
  navigator.clipboard.writeText(selection).catch(() => setFailure(text.terminal.copyFailed));
}

type Clipboard = { text: string } | { failed: true };

async function readClipboard(): Promise<Clipboard> {
  try {
    return { text: await navigator.clipboard.readText() };
  } catch {
    return { failed: true };
  }
}

type Sinks = { setPaste: (paste: Paste) => void; setFailure: (message: string) => void; write: (data: string) => void };

/** Sends a harmless paste at once and asks about any other. */
function take(clipboard: Clipboard, view: TerminalView, sinks: Sinks): void {
  if ("failed" in clipboard) return sinks.setFailure(text.terminal.pasteFailed);
  const paste = readPaste(clipboard.text, view.bracketed);
  if (paste.text === "") return;
  if (paste.ask) sinks.setPaste(paste);
  else sinks.write(encodePaste(paste.text, view.bracketed));
}
