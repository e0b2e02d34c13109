/** Which Cairn this is and what works on this computer. */
import type { AppState } from "../../protocol";
import { text } from "../../text/en";

export function AboutPage({ app }: { app: AppState }) {
  const words = text.settings.about;
  return (
    <div className="panel">
      <dl className="facts selectable">
        <dt>{words.version}</dt>
        <dd>
          <b>{app.version}</b>, {words.platforms[app.platform] ?? app.platform}
        </dd>
        <dt>{words.confinement}</dt>
        <dd>{app.sandbox?.reason ?? words.testing}</dd>
        <dt>{words.keys}</dt>
        <dd>{app.keychain.state === "available" ? words.keychain : app.keychain.reason}</dd>
        {app.problems.length === 0 ? null : (
          <>
            <dt>{words.problems}</dt>
            <dd>
              {app.problems.map((problem) => (
                <p key={problem}>{problem}</p>
              ))}
            </dd>
          </>
        )}
        <dt>{words.privacy}</dt>
        <dd>{words.privacyNote}</dd>
        <dt>{words.licence}</dt>
        <dd>{words.licenceNote}</dd>
      </dl>
    </div>
  );
}
