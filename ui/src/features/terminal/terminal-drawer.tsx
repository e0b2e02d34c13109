/**
 * The terminals of a workspace: tabs over one pane. A terminal belongs to the app, not to this drawer: it runs on when the
 * drawer is hidden or another session is shown, and is attached again.
 */
import { useCallback, useEffect, useRef, useState } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import type { TerminalSummary } from "../../protocol";
import { messageOf } from "../../state/failure";
import { useNavigation } from "../../state/navigation";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { DrawerGrip } from "./drawer-grip";
import "./terminal.css";
import { TerminalPane } from "./terminal-pane";

/** Before a terminal is measured: what most programs expect. It is resized as soon as it is drawn. */
const FIRST_SIZE = { cols: 80, rows: 24 };

export function TerminalDrawer({ workspaceId }: { workspaceId: string }) {
  const drawer = useRef<HTMLElement>(null);
  const hide = useNavigation((state) => state.setTerminalOpen);
  const { terminals, failure, opening, open, close, ended } = useTerminals(workspaceId);
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = terminals?.find((terminal) => terminal.id === chosen) ?? terminals?.[terminals.length - 1] ?? null;
  const words = text.terminal;

  const openAnother = async () => {
    const id = await open();
    if (id !== null) setChosen(id);
  };
  const closeOne = async (id: string) => {
    await close(id);
    if (terminals !== null && terminals.length <= 1) hide(false);
  };
  return (
    <section className="terminal-drawer" aria-label={words.label} ref={drawer}>
      <DrawerGrip drawer={drawer} />
      <div className="terminal-bar">
        <div className="terminal-tabs" role="tablist" aria-label={words.tabs}>
          {(terminals ?? []).map((terminal, index) => (
            <Tab
              key={terminal.id}
              terminal={terminal}
              name={words.tab(terminal.title, index + 1)}
              on={terminal.id === shown?.id}
              onChoose={() => setChosen(terminal.id)}
              onStep={(step) => setChosen(terminals?.[index + step]?.id ?? terminal.id)}
              onClose={() => void closeOne(terminal.id)}
            />
          ))}
        </div>
        <IconButton small icon="plus" name={words.open} disabled={opening} onClick={() => void openAnother()} />
        <span className="grow" />
        <IconButton small icon="close" name={words.hide} keys="Ctrl J" onClick={() => hide(false)} />
      </div>
      {failure === null ? null : (
        <div className="banner danger" role="alert">
          <div className="grow">
            <b>{words.openFailed}.</b> <span className="text2">{failure}</span>
          </div>
        </div>
      )}
      {shown === null ? (
        terminals === null ? null : (
          <div className="terminal-empty">
            <p>
              <b>{words.emptyTitle}</b>
            </p>
            <p className="text2">{words.emptyBody}</p>
            <Button icon="plus" disabled={opening} onClick={() => void openAnother()}>
              {words.open}
            </Button>
          </div>
        )
      ) : (
        <TerminalPane key={shown.id} terminal={shown} onNew={() => void openAnother()} onEnded={() => ended(shown.id)} />
      )}
    </section>
  );
}

type TabProps = { terminal: TerminalSummary; name: string; on: boolean; onChoose: () => void; onStep: (step: 1 | -1) => void; onClose: () => void };

function Tab({ terminal, name, on, onChoose, onStep, onClose }: TabProps) {
  const exited = terminal.state.state === "exited";
  return (
    <span className={`terminal-tab ${on ? "on" : ""}`}>
      <button
        type="button"
        role="tab"
        id={`terminal-tab-${terminal.id}`}
        aria-selected={on}
        aria-controls={on ? `terminal-${terminal.id}` : undefined}
        tabIndex={on ? 0 : -1}
        onClick={onChoose}
        onKeyDown={(event) => {
          if (event.key === "ArrowRight") onStep(1);
          else if (event.key === "ArrowLeft") onStep(-1);
          else if (event.key === "Delete") onClose();
        }}
      >
        <Icon name="shell" />
        <span className={exited ? "muted" : ""}>{name}</span>
        {terminal.state.state === "exited" ? <span className="muted">{text.terminal.exitedShort(terminal.state.code)}</span> : null}
      </button>
      <button type="button" className="terminal-tab-close" tabIndex={-1} aria-label={text.terminal.close(name)} title={text.terminal.close(name)} onClick={onClose}>
        <Icon name="close" />
      </button>
    </span>
  );
}

/** The terminals of this workspace, and what can be done with them. The first one is opened when there is none. */
function useTerminals(workspaceId: string) {
  const [terminals, setTerminals] = useState<readonly TerminalSummary[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [opening, setOpening] = useState(false);
  const begun = useRef<string | null>(null);

  const open = useCallback(async (): Promise<string | null> => {
    setOpening(true);
    setFailure(null);
    try {
      const terminal = await shell().terminal.open({ workspaceId, size: FIRST_SIZE });
      setTerminals((before) => [...(before ?? []).filter((other) => other.id !== terminal.id), terminal]);
      return terminal.id;
    } catch (error) {
      setFailure(messageOf(error));
      setTerminals((before) => before ?? []);
      return null;
    } finally {
      setOpening(false);
    }
  }, [workspaceId]);

  useEffect(() => {
    // React runs effects twice in development; a second terminal must not come of it.
    if (begun.current === workspaceId) return;
    begun.current = workspaceId;
    shell()
      .terminal.list()
      .then(async (all) => {
        const mine = all.filter((terminal) => terminal.workspaceId === workspaceId);
        if (begun.current !== workspaceId) return;
        if (mine.length === 0) await open();
        else setTerminals(mine);
      })
      .catch((error: unknown) => {
        setFailure(messageOf(error));
        setTerminals([]);
      });
  }, [workspaceId, open]);

  const refresh = async (id: string) => {
    const all = await shell().terminal.list();
    const now = all.find((terminal) => terminal.id === id);
    if (now !== undefined) setTerminals((before) => before?.map((terminal) => (terminal.id === id ? now : terminal)) ?? null);
  };
  return {
    terminals,
    failure,
    opening,
    open,
    /** The shell is gone: reads how it ended. */
    ended: (id: string) => {
      refresh(id).catch(() => undefined);
    },
    close: async (id: string) => {
      setTerminals((before) => before?.filter((terminal) => terminal.id !== id) ?? null);
      // It may have ended by itself; closing it twice is no error that the user can act on.
      await shell()
        .terminal.close({ terminalId: id })
        .catch(() => undefined);
    },
  };
}
