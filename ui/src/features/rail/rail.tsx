/** The rail: what needs the user first, then each workspace with its sessions. */
import { useState } from "react";

import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { Mark } from "../../components/mark";
import { addFolder, newSession } from "../../state/actions";
import { groupSessions, useApp, type WorkspaceGroup } from "../../state/app";
import { shownSession, useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { SessionRow } from "./session-row";

const words = text.frame.rail;

export function Rail() {
  const state = useApp((app) => app.state);
  const { view, room, openDialog, show, setRailOpen } = useNavigation();
  if (!state) return null;
  const here = shownSession(view);
  const needing = state.sessions.filter((session) => session.activity.state === "needs_you");
  return (
    <nav className="rail" aria-label={words.label}>
      <div className="rail-head">
        <span className="brand">
          <Mark />
          <b>{text.frame.product}</b>
        </span>
        <span className="grow" />
        {room === "narrow" ? null : <IconButton icon="panel-left" name={words.hide} keys="Ctrl B" onClick={() => setRailOpen(false)} />}
        <IconButton icon="plus" name={words.newSession} keys="Ctrl N" onClick={() => newSession()} />
      </div>
      <button type="button" className="find" onClick={() => openDialog({ kind: "palette", query: "" })}>
        <Icon name="search" />
        <span className="grow">{words.find}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className="rail-list">
        {needing.length > 0 ? (
          <section className="group need">
            <h2 className="group-head">
              <span>{words.needsYou}</span>
              <span className="count attention">{needing.length}</span>
            </h2>
            {needing.map((session) => (
              <SessionRow key={session.id} session={session} here={session.id === here} />
            ))}
          </section>
        ) : null}
        {groupSessions(state).map((group) => (
          <Group key={group.workspace.id} group={group} here={here} />
        ))}
        <button type="button" className="row muted" onClick={addFolder}>
          <Icon name="folder" />
          <span className="grow">{words.addFolder}</span>
        </button>
      </div>
      <div className="rail-foot">
        <button
          type="button"
          className={`row ${view.kind === "settings" ? "is-here" : ""}`}
          onClick={() => show({ kind: "settings", page: "models" })}
        >
          <Icon name="gear" />
          <span className="grow">{words.settings}</span>
          <kbd>Ctrl ,</kbd>
        </button>
      </div>
    </nav>
  );
}

function Group({ group, here }: { group: WorkspaceGroup; here: string | null }) {
  const { workspace, sessions } = group;
  const [open, setOpen] = useState(true);
  const calm = sessions.filter((session) => session.activity.state !== "needs_you");
  const forget = () => void attempt("app", () => shell().workspace.forget({ workspaceId: workspace.id }));
  return (
    <section className="group">
      <div className="group-line">
        <button type="button" className="group-head grow" aria-expanded={open} title={workspace.path} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          <span className="cut">{workspace.name}</span>
          {workspace.present ? null : <span className="tag attention">{words.missing}</span>}
          {open || sessions.length === 0 ? null : <span className="count">{sessions.length}</span>}
        </button>
        {workspace.present ? (
          <IconButton small icon="plus" name={words.newIn(workspace.name)} onClick={() => newSession(workspace.id)} />
        ) : null}
        {workspace.present && sessions.length > 0 ? null : <IconButton small icon="close" name={words.forget} onClick={forget} />}
      </div>
      {open ? calm.map((session) => <SessionRow key={session.id} session={session} here={session.id === here} />) : null}
      {open && sessions.length === 0 ? <p className="group-none">{words.none}</p> : null}
    </section>
  );
}
