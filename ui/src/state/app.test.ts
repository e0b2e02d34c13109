/** The fold of app events, the sessions that are ready to review, the look. */
import { expect, it } from "vitest";

import { playApp } from "../test-shell";
import type { SessionSummary } from "../protocol";
import { reduceApp, unseenAfter } from "./app";
import { roomFor, themeName } from "./look";
import { signOf } from "./session-sign";

function session(id: string, lastActiveAt: string, activity: SessionSummary["activity"] = { state: "idle" }): SessionSummary {
  return { id, workspaceId: "w", title: id, model: null, mode: "interactive", activity, createdAt: lastActiveAt, lastActiveAt, turns: 0, usage: { cache_read: 0, cache_write: 0, output: 0, total: 0 } };
}

const WORKING = { state: "working" as const, turn_id: "t", started_at: "2026-11-30T14:00:00.000Z" };

it("keeps sessions in the order of their last activity", () => {
  const state = playApp({ sessions: [session("b", "2026-02"), session("a", "2026-01")] });
  const next = reduceApp(state, { kind: "session", summary: session("a", "2026-03") });
  expect(next.sessions.map((one) => one.id)).toEqual(["a", "b"]);
  expect(reduceApp(next, { kind: "session_gone", sessionId: "b" }).sessions.map((one) => one.id)).toEqual(["a"]);
});

it("is ready to review when a turn ended unseen", () => {
  const before = [session("a", "1", WORKING), session("b", "1", WORKING)];
  const after = [session("a", "2"), session("b", "2")];
  const unseen = unseenAfter(before, after, new Set(), "b");
  expect([...unseen]).toEqual(["a"]);
  expect(signOf(after[0]!, true)).toBe("ready");
  expect([...unseenAfter(after, [session("a", "3", WORKING)], unseen, null)]).toEqual([]);
});

it("chooses the theme and the room", () => {
  expect(themeName("system", true, false)).toBe("dark");
  expect(themeName("system", false, true)).toBe("hc-light");
  expect(themeName("hc_dark", false, false)).toBe("hc-dark");
  expect([roomFor(1440, 1), roomFor(1440, 1.5), roomFor(1024, 1), roomFor(640, 1), roomFor(1440, 2)]).toEqual(["wide", "mid", "mid", "narrow", "narrow"]);
});
