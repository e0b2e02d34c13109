import { expect, it } from "vitest";

import { scriptedFile, scriptedTurn } from "../../backend/scripted-changes";
import type { RestoreAction, RestorePlan, RestoreRecord, RestoreStep } from "../../protocol";
import { diffAct, type KeyPress } from "./keys";
import { bytes } from "./diff-row";
import { countSources, filterFiles, NO_FILTER, treeRows } from "./file-tree";
import { choose, countPlan, groupPlan } from "./plan-groups";
import { reduceRollBack, requestOf, startRollBack } from "./roll-back";
import { lastRestore, miles } from "./stones";

const step = (path: string, action: RestoreAction): RestoreStep => ({ path, action, note: null, added: 0, removed: 0 });

function plan(steps: RestoreStep[], takeSnapshot: string[] = []): RestorePlan {
  return { request: { sessionId: "s", turnId: "t", target: "revert", paths: null, takeSnapshot }, token: "token", steps, notCovered: [] };
}

it("groups a plan into what changes, what the user decides, and what is as wanted", () => {
  const groups = groupPlan(plan([step("a", "taken_back"), step("b", "kept_yours"), step("c", "unchanged"), step("d", "merged"), step("e", "taken_back")], ["e"]));
  const paths = (steps: RestoreStep[]) => steps.map(({ path }) => path);
  expect([paths(groups.changes), paths(groups.conflicts), paths(groups.same)]).toEqual([["a", "d"], ["b", "e"], ["c"]]);
  expect(countPlan(plan([step("a", "deleted"), step("b", "kept_yours"), step("c", "unchanged")]).steps)).toEqual({ changed: 1, kept: 1 });
});

it("keeps a choice sorted and can take it back", () => {
  expect(choose(["b"], "a", "snapshot")).toEqual(["a", "b"]);
  expect(choose(["a", "b"], "a", "mine")).toEqual(["b"]);
  expect(choose(["a"], "a", "snapshot")).toEqual(["a"]);
});

it("plans anew after every choice and confirms only what is shown", () => {
  const ready = reduceRollBack(startRollBack("revert"), { type: "planned", plan: plan([step("a", "kept_yours")]) });
  const chosen = reduceRollBack(ready, { type: "version_chosen", path: "a", version: "snapshot" });
  expect(chosen.phase.kind).toBe("planning");
  expect(reduceRollBack(chosen, { type: "confirmed" })).toBe(chosen);
  expect(requestOf(chosen, "s", "t", ["a"])).toEqual({ sessionId: "s", turnId: "t", target: "revert", paths: ["a"], takeSnapshot: ["a"] });
  expect(reduceRollBack(ready, { type: "confirmed" }).phase.kind).toBe("restoring");
  const other = reduceRollBack(chosen, { type: "target_chosen", target: "before" });
  expect([other.target, other.takeSnapshot]).toEqual(["before", []]);
  const stale = reduceRollBack(reduceRollBack(ready, { type: "confirmed" }), { type: "was_stale" });
  expect([stale.phase.kind, stale.stale]).toEqual(["planning", true]);
});

it("reads keys, but not in fields nor with Ctrl", () => {
  const press = (more: Partial<KeyPress>): KeyPress => ({ key: "n", ctrlKey: false, metaKey: false, altKey: false, target: document.body, ...more });
  const field = document.createElement("textarea");
  expect(["n", "p", "]", "[", "s", "Escape", "x"].map((key) => diffAct(press({ key })))).toEqual(["next_hunk", "previous_hunk", "next_file", "previous_file", "layout", "close", null]);
  expect([diffAct(press({ ctrlKey: true })), diffAct(press({ target: field })), diffAct(press({ key: "]", altKey: true }))]).toEqual([null, null, "next_file"]);
});

it("has the files below their folders, those at the top by themselves, and filters by words and source", () => {
  const files = [scriptedFile("src/a/one.rs"), scriptedFile("src/a/two.rs", { source: "shell" }), scriptedFile("Cargo.lock", { source: "outside" })];
  const shown = (closed: string[]) => treeRows(files, new Set(closed)).map((row) => (row.kind === "folder" ? `${row.path}/` : row.name));
  expect(shown([])).toEqual(["src/a/", "one.rs", "two.rs", "Cargo.lock"]);
  expect(shown(["src/a"])).toEqual(["src/a/", "Cargo.lock"]);
  expect(filterFiles(files, { source: null, text: "SRC tw" }).map(({ path }) => path)).toEqual(["src/a/two.rs"]);
  expect(filterFiles(files, { ...NO_FILTER, source: "outside" })).toHaveLength(1);
  expect(countSources(files)).toEqual({ agent: 1, shell: 1, outside: 1 });
});

it("has turns and restores by time, the newest first", () => {
  const turns = [scriptedTurn(1, [1, 1, 0]), scriptedTurn(2, [1, 1, 0])];
  const restore = (id: string, minute: string, more: Partial<RestoreRecord["report"]> = {}, undoneBy: string | null = null): RestoreRecord => ({
    report: { restore_id: id, session_id: "s", turn_id: "turn-1", outcome: { kind: "exact" }, steps: [step("a", "taken_back"), step("b", "unchanged")], not_covered: [], safety: "x", at: `2026-11-30T14:${minute}:00.000Z`, ...more },
    undoneBy,
  });
  const restores = [restore("r1", "06", {}, "r2"), restore("r2", "20", { undoes: "r1" })];
  const shown = miles(turns, restores, new Map([["turn-2", "Add a test"]]));
  expect(shown.map((mile) => (mile.kind === "turn" ? `${mile.turn.number} ${mile.title}` : `${mile.restore.report.restore_id} ${mile.turnNumber} ${mile.files}`))).toEqual(["r2 1 1", "2 Add a test", "r1 1 1", "1 "]);
  expect(lastRestore(restores)).toBeNull();
});

it("writes sizes with at most three digits", () => {
  expect([0, 999, 1_000, 14_200, 4_000_000_000].map(bytes)).toEqual(["0 B", "999 B", "1.0 KB", "14 KB", "3.7 GB"]);
});
