/** Who changed each path of a turn, for the list of a rollback. Empty until it is known; the list does not wait for it. */
import { useEffect, useState } from "react";

import type { ChangeSource } from "../../protocol";
import { shell } from "../../state/shell";

export function useSources(sessionId: string, turnId: string): ReadonlyMap<string, ChangeSource> {
  const [sources, setSources] = useState<ReadonlyMap<string, ChangeSource>>(new Map());
  useEffect(() => {
    let current = true;
    shell()
      .changes.list({ sessionId, turnId })
      .then(
        ({ files }) => current && setSources(new Map(files.map((file) => [file.path, file.source]))),
        // The plan says what will happen; without this only a sign is missing.
        () => undefined,
      );
    return () => {
      current = false;
    };
  }, [sessionId, turnId]);
  return sources;
}
