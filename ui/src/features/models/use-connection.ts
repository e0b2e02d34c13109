/** Tests and saves a draft of a provider, one at a time. */
import { useState } from "react";

import type { ConnectionTest, ProviderDraft } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { useApp } from "../../state/app";
import { messageOf } from "../../state/failure";
import { shell } from "../../state/shell";

/** What is going on, or how the last act failed. */
export type Progress = { kind: "idle" } | { kind: "testing" } | { kind: "saving" } | { kind: "failed"; doing: "test" | "save"; message: string };

export interface Connection {
  progress: Progress;
  /** Returns what the test showed, or nothing when it could not be run. */
  test(draft: ProviderDraft): Promise<ConnectionTest | null>;
  /** Returns whether it is saved. The first model becomes the default. */
  save(draft: ProviderDraft): Promise<boolean>;
}

export function useConnection(): Connection {
  const [progress, setProgress] = useState<Progress>({ kind: "idle" });
  return {
    progress,
    test: async (draft) => {
      setProgress({ kind: "testing" });
      try {
        const result = await shell().provider.test({ draft });
        setProgress({ kind: "idle" });
        return result;
      } catch (error) {
        setProgress({ kind: "failed", doing: "test", message: messageOf(error) });
        return null;
      }
    },
    save: async (draft) => {
      setProgress({ kind: "saving" });
      try {
        await shell().provider.save({ draft });
      } catch (error) {
        setProgress({ kind: "failed", doing: "save", message: messageOf(error) });
        return false;
      }
      if (useApp.getState().state?.settings.defaultModel === null) {
        await changeSettings({ defaultModel: { provider: draft.name, model_id: draft.modelId } });
      }
      setProgress({ kind: "idle" });
      return true;
    },
  };
}
