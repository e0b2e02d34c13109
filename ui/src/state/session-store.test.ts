/** Opening a session: nothing that comes while it is read is lost, and what was missed is read again (P-103). */
import { beforeEach, expect, it, vi } from "vitest";

import { ScriptedShell } from "../backend/scripted";
import { demoWorld } from "../backend/scripted-demo";
import { Story } from "../backend/scripted-messages";
import { closeSession, loadOlder, openSession, useSession } from "./session-store";
import { connectShell, shell } from "./shell";

let played: ScriptedShell;

beforeEach(() => {
  closeSession();
  played = new ScriptedShell(demoWorld(new URLSearchParams("demo=long")));
  connectShell(played.backend());
});

const lastSeq = () => useSession.getState().state?.lastSeq ?? 0;

it("applies what came while the session was read", async () => {
  const open = shell().session.open;
  vi.spyOn(shell().session, "open").mockImplementationOnce(async (params) => {
    const view = await open(params);
    const story = new Story(0, view.page.messages.at(-1)?.seq);
    played.emit("s1", [story.answer("late")]);
    return view;
  });
  await openSession("s1");
  const { state } = useSession.getState();
  expect(state?.messages.at(-1)?.message.payload).toMatchObject({ type: "text", text: "late" });
});

it("reads again after a hole in the feed", async () => {
  await openSession("s1");
  const before = lastSeq();
  const story = new Story(0, before);
  const [missed, second] = [story.answer("missed"), story.answer("second")];
  const view = played.sessions.get("s1")?.view;
  if (missed.kind === "stored") view?.page.messages.push({ seq: missed.seq, message: missed.message });
  played.emit("s1", [second]);
  await vi.waitFor(() => expect(lastSeq()).toBe(before + 2));
});

it("ignores what belongs to a session that was left", async () => {
  const first = openSession("s1");
  const second = openSession("s2");
  await Promise.all([first, second]);
  expect(useSession.getState().state?.summary.id).toBe("s2");
  played.emit("s1", [{ kind: "resync" }]);
  expect(useSession.getState().state?.summary.id).toBe("s2");
});

it("puts older pages in front until there are none", async () => {
  await openSession("s1");
  const start = useSession.getState().state?.firstSeq ?? 0;
  await loadOlder();
  expect(useSession.getState().state?.firstSeq).toBe(start - 200);
  for (let i = 0; i < 60 && useSession.getState().state?.hasMore; i += 1) await loadOlder();
  expect(useSession.getState().state).toMatchObject({ firstSeq: 1, hasMore: false });
});

it("says why a session could not be opened", async () => {
  await openSession("gone");
  expect(useSession.getState().error).toEqual({ code: "not_found", message: "This session does not exist any more." });
});
