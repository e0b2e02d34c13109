/** The window: which view fills the middle, what stands around it, and which dialog lies over it. */
import { lazy, Suspense, useEffect } from "react";

import { handleKey } from "./app-keys";
import { IconButton } from "./components/icon-button";
import { Icon } from "./components/icon";
import { Failure } from "./failure";
import { Composer } from "./features/composer/composer";
import { Conversation } from "./features/conversation/conversation";
import { EmptySession } from "./features/conversation/empty-session";
import { FirstRun } from "./features/first-run/first-run";
import { KeyHelp } from "./features/key-help/key-help";
import { Palette } from "./features/palette/palette";
import { Rail } from "./features/rail/rail";
import { Strip } from "./features/rail/strip";
import { SidePanel } from "./features/side-panel/side-panel";
import { RenameDialog } from "./features/top-bar/rename-dialog";
import { TopBar } from "./features/top-bar/top-bar";
import type { Settings } from "./protocol";
import { useApp } from "./state/app";
import { followLook } from "./state/look";
import { type OpenDialog, useNavigation } from "./state/navigation";
import { clearProblem, useProblems } from "./state/problems";
import { openSession, useSession } from "./state/session-store";
import { text } from "./text/en";

// What is not seen at the start comes when it is asked for.
const ChangesPanel = lazy(() => import("./features/changes/changes-panel").then((module) => ({ default: module.ChangesPanel })));
const RollBackDialog = lazy(() => import("./features/changes/roll-back-dialog").then((module) => ({ default: module.RollBackDialog })));
const TerminalDrawer = lazy(() => import("./features/terminal/terminal-drawer").then((module) => ({ default: module.TerminalDrawer })));
const ConnectModel = lazy(() => import("./features/models/connect-model").then((module) => ({ default: module.ConnectModel })));
const SettingsPage = lazy(() => import("./features/settings/settings-page").then((module) => ({ default: module.SettingsPage })));

/** Leaves the engine's own menu to text that can be copied or edited: its others load the page again. */
function withoutPageMenu(event: MouseEvent): void {
  const field = event.target instanceof Element && event.target.closest("input, textarea") !== null;
  if (!field && (getSelection()?.toString() ?? "") === "") event.preventDefault();
}

export function App() {
  const settings = useApp((app) => app.state?.settings);
  const view = useNavigation((navigation) => navigation.view);
  useLook(settings);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (handleKey(event)) event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    window.addEventListener("contextmenu", withoutPageMenu);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("contextmenu", withoutPageMenu);
    };
  }, []);
  const sessionId = view.kind === "session" ? view.sessionId : null;
  return (
    <div className="app">
      <Problem />
      {view.kind === "first_run" ? (
        <div className="main page" style={{ gridColumn: "1 / 4" }}>
          <FirstRun />
        </div>
      ) : (
        <>
          <RailPlace />
          <Failure key={sessionId ?? "settings"}>
            <Suspense fallback={<main className="main fill page" />}>
              {view.kind === "settings" ? (
                <main className="main fill page">
                  <SettingsPage page={view.page} />
                </main>
              ) : (
                <SessionArea key={view.sessionId} sessionId={view.sessionId} />
              )}
            </Suspense>
          </Failure>
        </>
      )}
      <DialogPlace />
    </div>
  );
}

function useLook(settings: Settings | undefined): void {
  const theme = settings?.theme;
  const textScale = settings?.textScale;
  useEffect(() => (theme && textScale ? followLook({ theme, textScale }) : undefined), [theme, textScale]);
}

/** The rail, its folded form, or the rail over the content of a narrow window. */
function RailPlace() {
  const { room, railOpen, setRailOpen } = useNavigation();
  if (!railOpen) return room === "narrow" ? null : <Strip />;
  return (
    <>
      {room === "narrow" ? <RoomScrim onPress={() => setRailOpen(false)} /> : null}
      <Rail />
    </>
  );
}

function RoomScrim({ onPress }: { onPress: () => void }) {
  return <button type="button" className="room-scrim" aria-label={text.frame.start.dismiss} onClick={onPress} />;
}

function SessionArea({ sessionId }: { sessionId: string }) {
  const { id, state, error } = useSession();
  const { reviewedTurn, review, sideOpen, setSideOpen, terminalOpen, room } = useNavigation();
  const side = sideOpen && reviewedTurn === null;
  if (id !== sessionId || !state) {
    return <main className="main fill page">{error && id === sessionId ? <OpenFailed sessionId={sessionId} message={error.message} /> : <div className="window-start muted">{text.conversation.opening}</div>}</main>;
  }
  const empty = state.timeline.blocks.length === 0 && !state.hasMore;
  return (
    <>
      <TopBar state={state} />
      <main className={`main ${side && room === "wide" ? "" : "fill"}`}>
        {reviewedTurn === null ? (
          <>
            {empty ? <EmptySession summary={state.summary} /> : <Conversation state={state} />}
            <Composer state={state} />
          </>
        ) : (
          <Suspense fallback={<div className="grow" />}>
            <ChangesPanel sessionId={sessionId} turnId={reviewedTurn} onClose={() => review(null)} />
          </Suspense>
        )}
        {terminalOpen ? (
          <Suspense fallback={null}>
            <TerminalDrawer workspaceId={state.summary.workspaceId} />
          </Suspense>
        ) : null}
      </main>
      {side ? (
        <>
          {room === "wide" ? null : <RoomScrim onPress={() => setSideOpen(false)} />}
          <SidePanel state={state} />
        </>
      ) : null}
    </>
  );
}

function OpenFailed({ sessionId, message }: { sessionId: string; message: string }) {
  return (
    <div className="window-start">
      <div className="window-start-in banner danger" role="alert">
        <Icon name="warn" />
        <div className="grow selectable">
          <b>{text.conversation.openFailed}</b> <span className="text2">{message}</span>
        </div>
        <button type="button" className="btn dense" onClick={() => void openSession(sessionId)}>
          {text.conversation.again}
        </button>
      </div>
    </div>
  );
}

function dismissProblems(): void {
  clearProblem("app");
  const { state } = useApp.getState();
  if (state && state.problems.length > 0) useApp.setState({ state: { ...state, problems: [] } });
}

/** What went wrong outside a session, and what is wrong with the data: said on top, until it is put away. */
function Problem() {
  const problem = useProblems((problems) => problems.app);
  const broken = useApp((app) => app.state?.problems);
  const lines = [...(problem ? [problem.message] : []), ...(broken ?? [])];
  if (lines.length === 0) return null;
  return (
    <div className="banner danger top-problem" role="alert">
      <Icon name="warn" />
      <div className="grow selectable">
        {lines.map((line) => (
          <div key={line}>{line}</div>
        ))}
      </div>
      <IconButton small icon="close" name={text.frame.start.dismiss} onClick={dismissProblems} />
    </div>
  );
}

function DialogPlace() {
  const dialog = useNavigation((navigation) => navigation.dialog);
  if (!dialog) return null;
  return (
    <Failure key={dialog.kind}>
      <Suspense fallback={null}>
        <DialogView dialog={dialog} />
      </Suspense>
    </Failure>
  );
}

function DialogView({ dialog }: { dialog: OpenDialog }) {
  const close = useNavigation((navigation) => navigation.closeDialog);
  switch (dialog.kind) {
    case "palette":
      return <Palette start={dialog.query} />;
    case "keys":
      return <KeyHelp />;
    case "rename":
      return <RenameDialog sessionId={dialog.sessionId} />;
    case "connect_model":
      return <ConnectModel name={dialog.name} onClose={close} />;
    case "roll_back":
      return <RollBackDialog sessionId={dialog.sessionId} turnId={dialog.turnId} target={dialog.target} paths={dialog.paths} onClose={close} />;
  }
}
