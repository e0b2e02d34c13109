/** The bar above a session: where it is, what confines its commands, what it changed, and the panels. */
import { Menu } from "@base-ui/react/menu";

import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { LineCounts } from "../../components/line-counts";
import { StateSign } from "../../components/state-sign";
import type { SandboxState, TurnRecord } from "../../protocol";
import { deleteSession } from "../../state/actions";
import { useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import type { SessionState } from "../../state/session";
import { text } from "../../text/en";
import { sessionChanges } from "./session-changes";

const words = text.frame.top;

export function TopBar({ state }: { state: SessionState }) {
  const { summary } = state;
  const workspace = useApp((app) => app.state?.workspaces.find((one) => one.id === summary.workspaceId));
  const sandbox = useApp((app) => app.state?.sandbox ?? null);
  const { room, railOpen, setRailOpen } = useNavigation();
  return (
    <header className="top" aria-label={words.label}>
      {room === "narrow" ? (
        <IconButton icon="panel-left" name={text.frame.rail.label} keys="Ctrl B" aria-expanded={railOpen} onClick={() => setRailOpen(!railOpen)} />
      ) : null}
      <span className="crumb">
        <span className="muted ws" title={workspace?.path}>
          {workspace?.name ?? ""}
        </span>
        <span className="slash">/</span>
        <SessionMenu sessionId={summary.id} title={summary.title} />
      </span>
      <span className="grow" />
      <Protection turns={state.turns} />
      {sandbox ? <Sandbox sandbox={sandbox} /> : null}
      <Changes turns={state.turns} />
      <Panels />
    </header>
  );
}

function SessionMenu({ sessionId, title }: { sessionId: string; title: string }) {
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="title" title={title} aria-label={`${title}. ${words.menu}`}>
        <b className="cut">{title}</b>
        <Icon name="down" className="muted" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-at" side="bottom" align="start" sideOffset={4}>
          <Menu.Popup className="menu" aria-label={words.menu}>
            <Menu.Item className="menu-item" onClick={() => openDialog({ kind: "rename", sessionId })}>
              <Icon name="edit" />
              <span className="grow menu-label">{words.rename}</span>
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={() => deleteSession(sessionId)}>
              <Icon name="close" />
              <span className="grow menu-label">{words.delete}</span>
              <Icon name="window" className="muted" />
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** A turn that is not protected is told until its changes were looked at. */
function Protection({ turns }: { turns: readonly TurnRecord[] }) {
  const review = useNavigation((navigation) => navigation.review);
  const last = turns.at(-1);
  if (last?.completeness.state !== "not_protected") return null;
  return (
    <button type="button" className="badge-line attention" title={last.completeness.reason} onClick={() => review(last.turnId)}>
      <StateSign name="attention" />
      <span>{words.notProtected(last.number)}</span>
    </button>
  );
}

function Sandbox({ sandbox }: { sandbox: SandboxState }) {
  return (
    <span className={`badge-line ${sandbox.enforced ? "" : "attention"}`} title={sandbox.reason}>
      <Icon name={sandbox.enforced ? "shield" : "shield-off"} className={sandbox.enforced ? "success" : ""} />
      <span>
        {sandbox.enforced ? words.confined : words.notConfined}
        <span className="far">{sandbox.enforced ? words.confinedMore : words.notConfinedMore}</span>
      </span>
    </span>
  );
}

function Changes({ turns }: { turns: readonly TurnRecord[] }) {
  const { review, reviewedTurn } = useNavigation();
  const changes = sessionChanges(turns);
  if (!changes) {
    return (
      <span className="badge-line far muted">
        <Icon name="agent" />
        {words.noChanges}
      </span>
    );
  }
  const toggle = () => review(reviewedTurn === null ? changes.newestTurn : null);
  return (
    <button type="button" className="badge-line far" title={words.changesHint} aria-pressed={reviewedTurn !== null} onClick={toggle}>
      <Icon name="agent" />
      <span className="num">{words.stones(changes.stones)}</span>
      {changes.standing === 0 ? <span className="muted">{words.allRolledBack}</span> : null}
      <LineCounts added={changes.added} removed={changes.removed} />
    </button>
  );
}

function Panels() {
  const { sideOpen, terminalOpen, setSideOpen, setTerminalOpen, reviewedTurn } = useNavigation();
  return (
    <span className="seg icons" role="group" aria-label={words.panels}>
      <button
        type="button"
        aria-pressed={sideOpen && reviewedTurn === null}
        aria-label={words.side}
        title={`${words.side}  Ctrl Alt B`}
        disabled={reviewedTurn !== null}
        onClick={() => setSideOpen(!sideOpen)}
      >
        <Icon name="panel-right" />
      </button>
      <button
        type="button"
        aria-pressed={terminalOpen}
        aria-label={words.terminal}
        title={`${words.terminal}  Ctrl J`}
        onClick={() => setTerminalOpen(!terminalOpen)}
      >
        <Icon name="panel-bottom" />
      </button>
    </span>
  );
}
