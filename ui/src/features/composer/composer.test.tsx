/** The composer: sends, queues, stops, recalls, and never while an input method composes. */
import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";

import { Story } from "../../backend/scripted-messages";
import type { SessionView } from "../../protocol";
import { openState } from "../../state/session";
import { useSession } from "../../state/session-store";
import { useProblems } from "../../state/problems";
import { ShellError } from "../../state/shell";
import { playApp, playSession, playShell, violations } from "../../test-shell";
import { Composer } from "./composer";

const startTurn = vi.fn(async (_params: { sessionId: string; text: string }) => undefined);
const interrupt = vi.fn(async () => undefined);
const setMode = vi.fn(async (params: { mode: SessionView["summary"]["mode"] }) => params.mode);
const unqueue = vi.fn(async () => "taken back");

beforeEach(() => {
  for (const mock of [startTurn, interrupt, setMode, unqueue]) mock.mockClear();
  playApp();
  playShell({ session: { startTurn, interrupt, setMode, unqueue } });
  useProblems.setState({ session: null, app: null });
});

let count = 0;

/** Each test has a session of its own, for drafts outlive the view. */
function show(more: Partial<SessionView> = {}, busy = false) {
  playSession([], []);
  count += 1;
  const story = new Story(0);
  story.begin("t1", 1, "first message");
  story.end("t1");
  story.begin("t2", 2, "second message");
  story.end("t2");
  const base = useSession.getState().state;
  if (!base) throw new Error("no session");
  const activity = busy ? { state: "working" as const, turn_id: "t", started_at: "2026-11-30T14:00:00.000Z" } : { state: "idle" as const };
  const state = openState({
    summary: { ...base.summary, id: `s-${count}`, activity },
    page: { messages: story.stored, hasMore: false, gaps: [] },
    turns: [], restores: [], pending: [], questions: [], todos: [], sandbox: base.sandbox, queue: [], interruptedCalls: [],
    ...more,
  });
  useSession.setState({ id: state.summary.id, state });
  const { container } = render(<Composer state={state} />);
  const field = screen.getByLabelText<HTMLTextAreaElement>("Message");
  return { container, field, id: state.summary.id };
}

const type = (field: HTMLTextAreaElement, value: string) => fireEvent.change(field, { target: { value } });
const settle = () => act(async () => undefined);

it("sends with Enter and empties the field", async () => {
  const { field, id } = show();
  type(field, "  do it  ");
  fireEvent.keyDown(field, { key: "Enter" });
  await settle();
  expect(startTurn).toHaveBeenCalledWith({ sessionId: id, text: "do it" });
  expect(field.value).toBe("");
});

it("does not send an empty text, with Shift, or while an input method composes", async () => {
  const { field } = show();
  fireEvent.keyDown(field, { key: "Enter" });
  type(field, "x");
  fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
  fireEvent(field, new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }));
  await settle();
  expect(startTurn).not.toHaveBeenCalled();
});

it("gives the text back when it could not be sent, and says why", async () => {
  startTurn.mockRejectedValueOnce(new ShellError({ code: "no_model", message: "No model is connected." }));
  const { field } = show();
  type(field, "do it");
  fireEvent.keyDown(field, { key: "Enter" });
  await settle();
  expect(field.value).toBe("do it");
  expect(screen.getByRole("alert").textContent).toContain("No model is connected.");
});

it("queues and stops while a turn runs", async () => {
  const { field, id } = show({}, true);
  type(field, "next");
  fireEvent.click(screen.getByText("Queue"));
  fireEvent.keyDown(field, { key: "Escape" });
  await settle();
  expect(startTurn).toHaveBeenCalledWith({ sessionId: id, text: "next" });
  expect(interrupt).toHaveBeenCalledOnce();
});

it("takes a queued message back into the field", async () => {
  const { field, id } = show({ queue: [{ id: "q1", text: "taken back" }] }, true);
  fireEvent.click(screen.getByText("Edit"));
  await settle();
  expect(unqueue).toHaveBeenCalledWith({ sessionId: id, queuedId: "q1" });
  expect(field.value).toBe("taken back");
});

it("recalls earlier messages with Up in an empty field", () => {
  const { field } = show();
  fireEvent.keyDown(field, { key: "ArrowUp" });
  expect(field.value).toBe("second message");
  fireEvent.keyDown(field, { key: "ArrowUp" });
  expect(field.value).toBe("first message");
  fireEvent.keyDown(field, { key: "ArrowDown" });
  fireEvent.keyDown(field, { key: "ArrowDown" });
  expect(field.value).toBe("");
});

it("steps the mode with Shift Tab", async () => {
  const { field, id } = show();
  fireEvent.keyDown(field, { key: "Tab", shiftKey: true });
  await settle();
  expect(setMode).toHaveBeenCalledWith({ sessionId: id, mode: "auto" });
});

it("has no violation of accessibility", async () => {
  const { container } = show({ queue: [{ id: "q1", text: "next" }] });
  expect(await violations(container)).toEqual([]);
});
