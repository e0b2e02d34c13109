/** Entry of the window: chooses the backend, starts, and draws. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./app";
import { tauriBackend } from "./backend/tauri";
import { start } from "./start";
import { StartFailed } from "./start-failed";
import { connectShell, shell } from "./state/shell";

import "./styles/index.css";

const root = createRoot(document.getElementById("root") ?? document.body);

async function run(): Promise<void> {
  // The scripted shell exists only while the code is being worked on; a product build has no trace of it.
  if (import.meta.env.DEV && new URLSearchParams(location.search).has("demo")) {
    const { demoBackend } = await import("./backend/scripted");
    connectShell(demoBackend(new URLSearchParams(location.search)));
  } else {
    connectShell(tauriBackend);
  }
  try {
    await start();
    root.render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
  } catch (cause) {
    root.render(<StartFailed cause={cause} onAgain={() => void run()} />);
  }
  // The window is shown once something is drawn, also when it is the failure.
  requestAnimationFrame(() => {
    shell()
      .app.ready()
      .catch(() => undefined);
  });
}

void run();
