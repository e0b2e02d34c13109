/** What the user sees until a session is open: try it, connect a model, open a folder; then the folders opened before. */
import { useRef, useState } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { StateSign } from "../../components/state-sign";
import type { AppState, WorkspaceSummary } from "../../protocol";
import { addFolder, newSession, showSession, startTour } from "../../state/actions";
import { knownModels, useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import "./first-run.css";
import { SetUpStack } from "./set-up-stack";

export function FirstRun() {
  const app = useApp((store) => store.state);
  if (app === null) return null;
  return (
    <div className="first">
      <aside className="first-side">
        <div className="first-brand">
          <b>Cairn</b>
        </div>
        <p className="motto">
          {text.firstRun.motto.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </p>
        <SetUpStack model={connectedModel(app)} folder={app.workspaces[0]?.name ?? null} />
        <span className="grow" />
        <p className="small muted">{text.firstRun.privacy}</p>
      </aside>
      <main className="first-main">
        <div className="first-in">
          <Offers app={app} />
          <Recent workspaces={app.workspaces} app={app} />
          <Computer app={app} />
        </div>
      </main>
    </div>
  );
}

function Offers({ app }: { app: AppState }) {
  const words = text.firstRun;
  const [starting, setStarting] = useState(false);
  const busy = useRef(false);
  const openDialog = useNavigation((state) => state.openDialog);
  const model = connectedModel(app);
  const tour = async () => {
    if (busy.current) return;
    busy.current = true;
    setStarting(true);
    await startTour();
    busy.current = false;
    setStarting(false);
  };
  return (
    <>
      <h1>{words.title}</h1>
      <p className="lede">{words.lede}</p>
      <div className="offers">
        <div className="offer lead">
          <span className="grow">
            <b>{words.tryIt}</b>
            <span>{words.tryNote}</span>
          </span>
          <Button tone="primary" autoFocus disabled={starting} onClick={() => void tour()} aria-label={`${words.tryIt}: ${words.tryAct}`}>
            {starting ? words.starting : words.tryAct}
          </Button>
        </div>
        <div className="offer">
          <span className="grow">
            <b>{words.connect}</b>
            <span>{model === null ? words.connectNote : words.connected(model)}</span>
          </span>
          <Button onClick={() => openDialog({ kind: "connect_model", name: null })} aria-label={words.connect}>
            {model === null ? words.connectAct : words.connectMore}
          </Button>
        </div>
        <div className="offer">
          <span className="grow">
            <b>{words.open}</b>
            <span>{words.openNote}</span>
          </span>
          <Button onClick={addFolder} aria-label={`${words.open}…`}>
            {words.openAct}
          </Button>
        </div>
      </div>
    </>
  );
}

/** Folders that are shown at most; the rail has them all. */
const RECENT = 6;

function Recent({ workspaces, app }: { workspaces: readonly WorkspaceSummary[]; app: AppState }) {
  const words = text.firstRun;
  if (workspaces.length === 0) return null;
  const open = (workspace: WorkspaceSummary) => {
    const last = app.sessions.find((session) => session.workspaceId === workspace.id);
    if (last === undefined) newSession(workspace.id);
    else showSession(last.id);
  };
  return (
    <section aria-label={words.recent}>
      <h2 className="sub">{words.recent}</h2>
      <ul className="panel recent">
        {workspaces.slice(0, RECENT).map((workspace) => (
          <li key={workspace.id}>
            <button type="button" className="recent-open" disabled={!workspace.present} onClick={() => open(workspace)}>
              <Icon name="folder" className="muted" />
              <b>{workspace.name}</b>
              <span className="grow cut muted" title={workspace.path}>
                {workspace.path}
              </span>
              {workspace.present ? null : <span className="tag attention">{words.missing}</span>}
            </button>
            <IconButton
              small
              icon="close"
              name={words.forget(workspace.name)}
              onClick={() => void attempt("app", () => shell().workspace.forget({ workspaceId: workspace.id }))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What works on this computer, as it was found. */
function Computer({ app }: { app: AppState }) {
  const words = text.firstRun;
  return (
    <section className="computer" aria-label={words.computer}>
      <h2>{words.computer}</h2>
      <ul>
        {app.sandbox ? (
          <Fact good={app.sandbox.enforced} word={app.sandbox.enforced ? words.confined : words.notConfined} detail={app.sandbox.reason} />
        ) : (
          <li>
            <StateSign name="busy" />
            <span className="fact-word">{words.testing}</span>
          </li>
        )}
        <Fact
          good={app.keychain.state === "available"}
          word={app.keychain.state === "available" ? words.keychain : words.noKeychain}
          detail={app.keychain.state === "available" ? "" : app.keychain.reason}
        />
        {app.problems.map((problem) => (
          <Fact key={problem} good={false} word={words.problems} detail={problem} />
        ))}
      </ul>
    </section>
  );
}

function Fact({ good, word, detail }: { good: boolean; word: string; detail: string }) {
  return (
    <li>
      {good ? <Icon name="check" className="success" /> : <StateSign name="attention" />}
      <span className="fact-word">{word}</span>
      <span className="muted">{detail}</span>
    </li>
  );
}

/** The model that a new session would have, other than the script. */
function connectedModel(app: AppState): string | null {
  const real = knownModels(app.providers.filter((provider) => provider.api !== "script"));
  const chosen = app.settings.defaultModel;
  const found = real.find((model) => model.ref.provider === chosen?.provider && model.ref.model_id === chosen.model_id) ?? real[0];
  return found?.name ?? null;
}
