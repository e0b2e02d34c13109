/** What the header counts: stones, and the lines of those that still stand. */
import { expect, it } from "vitest";

import { scriptedTurn } from "../../backend/scripted-changes";
import { sessionChanges } from "./session-changes";

it("counts no line of a turn that was rolled back, and none at all when no turn changed a file", () => {
  const back = scriptedTurn(2, [3, 7, 4], { standing: { state: "rolled_back" } });
  expect(sessionChanges([scriptedTurn(1, [1, 5, 2]), back])).toEqual({ stones: 2, standing: 1, added: 5, removed: 2, newestTurn: "turn-2" });
  expect(sessionChanges([back])).toEqual({ stones: 1, standing: 0, added: 0, removed: 0, newestTurn: "turn-2" });
  expect(sessionChanges([scriptedTurn(1, [0, 0, 0])])).toBeNull();
});
