/** Takes a restore back, one at a time. */
import { useState } from "react";

import type { RestoreReport } from "../../protocol";
import { messageOf } from "../../state/failure";
import { shell } from "../../state/shell";

export interface BringBack {
  running: boolean;
  /** Why the last one did not work. */
  failure: string | null;
  dismiss(): void;
  /** Returns the report, or nothing when it failed or another one runs. */
  run(restoreId: string): Promise<RestoreReport | null>;
}

export function useBringBack(sessionId: string): BringBack {
  const [running, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  return {
    running,
    failure,
    dismiss: () => setFailure(null),
    run: async (restoreId) => {
      if (running) return null;
      setRunning(true);
      setFailure(null);
      try {
        return await shell().changes.bringBack({ sessionId, restoreId });
      } catch (error) {
        setFailure(messageOf(error));
        return null;
      } finally {
        setRunning(false);
      }
    },
  };
}
