/** The settings: a list of pages and the one that is shown. What a page sets holds at once. */
import { useEffect, useRef } from "react";

import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import type { IconName } from "../../components/icons";
import type { AppState } from "../../protocol";
import { useApp } from "../../state/app";
import { type SettingsPageName, useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import { text } from "../../text/en";
import { AboutPage } from "./about-page";
import { AgentPage } from "./agent-page";
import { LookPage } from "./look-page";
import { ModelsPage } from "./models-page";
import "./settings.css";
import { SnapshotsPage } from "./snapshots-page";

const PAGES: readonly { name: SettingsPageName; icon: IconName }[] = [
  { name: "models", icon: "model" },
  { name: "permissions", icon: "shield" },
  { name: "snapshots", icon: "back" },
  { name: "appearance", icon: "eye" },
  { name: "about", icon: "info" },
];

export function SettingsPage({ page }: { page: SettingsPageName }) {
  const app = useApp((store) => store.state);
  const show = useNavigation((state) => state.show);
  const sessionId = useSession((store) => store.id);
  const close = () => show(sessionId === null ? { kind: "first_run" } : { kind: "session", sessionId });
  useEscape(close);
  if (app === null) return null;
  const words = text.settings;
  return (
    <div className="settings">
      <header className="settings-top">
        <h1 className="settings-title">{words.title}</h1>
        <span className="grow" />
        <IconButton icon="close" name={words.close} keys="Esc" onClick={close} />
      </header>
      <div className="settings-in">
        <nav className="settings-nav" aria-label={words.title}>
          {PAGES.map(({ name, icon }) => (
            <button
              key={name}
              type="button"
              className={`row ${name === page ? "is-here" : ""}`}
              aria-current={name === page ? "page" : undefined}
              onClick={() => show({ kind: "settings", page: name })}
            >
              <Icon name={icon} />
              {words.sections[name]}
            </button>
          ))}
        </nav>
        <main className="settings-main">
          <div className="settings-page">
            <h2>{words.sections[page]}</h2>
            <Page page={page} app={app} />
          </div>
        </main>
      </div>
    </div>
  );
}

/** Esc leaves the settings, unless a dialog or a menu is open: then it closes that. */
function useEscape(leave: () => void): void {
  const latest = useRef(leave);
  useEffect(() => {
    latest.current = leave;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const covered = document.querySelector('[role="dialog"], [role="menu"]') !== null;
      if (event.key === "Escape" && !event.defaultPrevented && !covered) latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function Page({ page, app }: { page: SettingsPageName; app: AppState }) {
  switch (page) {
    case "models":
      return <ModelsPage app={app} />;
    case "permissions":
      return <AgentPage app={app} />;
    case "snapshots":
      return <SnapshotsPage settings={app.settings} />;
    case "appearance":
      return <LookPage settings={app.settings} />;
    case "about":
      return <AboutPage app={app} />;
  }
}
