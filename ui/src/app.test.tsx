/** The whole window over the played shell: every world is drawn, named and reachable by keyboard. */
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";

import { App } from "./app";
import { ScriptedShell } from "./backend/scripted";
import { demoWorld } from "./backend/scripted-demo";
import { start } from "./start";
import { useNavigation } from "./state/navigation";
import { useProblems } from "./state/problems";
import { closeSession, useSession } from "./state/session-store";
import { connectShell } from "./state/shell";
import { violations } from "./test-shell";

let played: ScriptedShell;

beforeEach(() => {
  closeSession();
  useProblems.setState({ session: null, app: null });
  useNavigation.setState({ view: { kind: "first_run" }, dialog: null, reviewedTurn: null, selectedTurn: null, shownApproval: null, terminalOpen: false });
});

async function open(name: string): Promise<HTMLElement> {
  Object.defineProperty(window, "innerWidth", { value: 1440, configurable: true });
  // Without layout a list of no height draws no row.
  Object.defineProperty(HTMLElement.prototype, "offsetHeight", { value: 900, configurable: true });
  Object.defineProperty(HTMLElement.prototype, "offsetWidth", { value: 900, configurable: true });
  played = new ScriptedShell(demoWorld(new URLSearchParams(`demo=${name}`)));
  connectShell(played.backend());
  await start();
  const { container } = render(<App />);
  if (name !== "first") await waitFor(() => expect(useSession.getState().state).not.toBeNull());
  await act(async () => undefined);
  return container;
}

const press = (key: string, more: KeyboardEventInit = {}) => act(async () => void fireEvent.keyDown(document.body, { key, ...more }));

it.each(["turn", "approval", "edit", "question", "errors", "crash", "empty", "first"])("draws %s without a violation of accessibility", async (name) => {
  const container = await open(name);
  expect(await violations(container)).toEqual([]);
  expect(container.querySelector("a[href], img, iframe, [style*='url(']")).toBeNull();
});

it("lists what needs the user first, with state in words", async () => {
  await open("approval");
  const rail = screen.getByLabelText("Workspaces and sessions");
  expect(rail.querySelector(".need")?.textContent).toContain("Rate limits per API token");
  expect(rail.querySelector(".need [role=img]")?.getAttribute("aria-label")).toBe("Needs you");
});

it("opens the palette, finds and goes", async () => {
  await open("turn");
  await press("k", { ctrlKey: true });
  const field = await screen.findByRole("combobox");
  fireEvent.change(field, { target: { value: "flaky" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(useNavigation.getState().view).toEqual({ kind: "session", sessionId: "s2" }));
  expect(useNavigation.getState().dialog).toBeNull();
});

it("shows all keys, and puts them away", async () => {
  await open("turn");
  await press("/", { ctrlKey: true });
  expect(await screen.findByText("Show or hide the terminal")).toBeTruthy();
  await press("/", { ctrlKey: true });
  expect(useNavigation.getState().dialog).toBeNull();
});

it("reaches sessions by place and in order", async () => {
  await open("turn");
  await press("2", { ctrlKey: true });
  expect(useNavigation.getState().view).toEqual({ kind: "session", sessionId: "s2" });
  await press("]", { ctrlKey: true, shiftKey: true, code: "BracketRight" });
  expect(useNavigation.getState().view).toEqual({ kind: "session", sessionId: "s3" });
});

it("leaves the shell's keys to a terminal", async () => {
  await open("turn");
  const terminal = document.createElement("div");
  terminal.className = "xterm";
  document.body.append(terminal);
  fireEvent.keyDown(terminal, { key: "k", ctrlKey: true });
  expect(useNavigation.getState().dialog).toBeNull();
  terminal.remove();
});

it("shows what comes in the feed", async () => {
  await open("empty");
  fireEvent.change(screen.getByLabelText("Message"), { target: { value: "hello there" } });
  fireEvent.keyDown(screen.getByLabelText("Message"), { key: "Enter" });
  await waitFor(() => expect(useSession.getState().state?.timeline.blocks).toHaveLength(1));
  expect(played.calls.at(-1)).toEqual({ command: "session.start_turn", params: { sessionId: "s1", text: "hello there" } });
});

it("goes to the first run when the open session was deleted", async () => {
  await open("turn");
  await act(async () => played.emitApp([{ kind: "session_gone", sessionId: "s1" }]));
  expect(useNavigation.getState().view).toEqual({ kind: "first_run" });
});
