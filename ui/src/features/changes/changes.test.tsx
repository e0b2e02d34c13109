/** The changes panel and the dialog of a rollback, driven as a user does against the scripted store. */
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";

import { scriptedChanges, scriptedTurn, type ScriptedChanges } from "../../backend/scripted-changes";
import type { TurnRecord } from "../../protocol";
import { useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import { playApp, playSession, playShell, violations } from "../../test-shell";
import { ChangesPanel } from "./changes-panel";
import { RollBackDialog } from "./roll-back-dialog";

/** The test environment has no layout: every element is given a size, so that virtual lists draw. */
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "offsetWidth", "get").mockReturnValue(1200);
  useSession.setState({ id: null, state: null });
  useNavigation.setState({ dialog: null, reviewedTurn: "turn-2" });
  playApp();
});

function play(turns: TurnRecord[]): ScriptedChanges {
  const store = scriptedChanges(turns, (all, restores) => playSession(all, restores));
  playShell({ changes: store.changes });
  playSession(store.turns(), store.restores());
  return store;
}

const TURNS = [scriptedTurn(1, [2, 97, 8]), scriptedTurn(2, [9, 142, 29]), scriptedTurn(3, [1, 18, 3])];

function Window() {
  const { dialog, reviewedTurn, closeDialog } = useNavigation();
  return (
    <>
      <ChangesPanel sessionId="session-1" turnId={reviewedTurn ?? "turn-2"} onClose={() => undefined} />
      {dialog?.kind === "roll_back" ? <RollBackDialog {...dialog} onClose={closeDialog} /> : null}
    </>
  );
}

it("shows the stones, the files with who changed them, and no violation of accessibility", async () => {
  play(TURNS);
  const { container } = render(<Window />);
  const tree = await screen.findByRole("complementary", { name: "Files of turn 2" });
  await within(tree).findByText("9 files");
  expect(within(screen.getByRole("navigation", { name: /Stones/ })).getAllByRole("listitem")).toHaveLength(3);
  expect(within(tree).getByRole("button", { name: "Changed by a command: 4 files" })).toBeTruthy();
  expect(await violations(container)).toEqual([]);
});

it("shows the plan first, keeps mine unless I choose, rolls back, says what came out, and brings it back", async () => {
  const store = play(TURNS);
  const user = userEvent.setup();
  const { baseElement } = render(<Window />);
  await user.click(await screen.findByRole("button", { name: "Roll back this turn" }));
  const dialog = await screen.findByRole("dialog", { name: "Roll back turn 2" });
  await within(dialog).findByText("6 files will change, 1 keeps your version.");
  expect(store.restores()).toEqual([]);
  expect(await violations(baseElement)).toEqual([]);
  expect(within(dialog).getByRole("radio", { name: /Only this turn/ })).toHaveProperty("checked", true);

  await user.click(within(dialog).getByRole("radio", { name: /Take the snapshot's/ }));
  await user.click(await within(dialog).findByRole("button", { name: "Roll back 7 files" }));
  const done = await screen.findByRole("dialog", { name: "Rolled back turn 2" });
  expect(done.textContent).toContain("Rolled back exactly. 7 files read again, equal.");
  expect(store.restores()[0]?.report.target).toBe("revert");

  await user.click(within(done).getByRole("button", { name: "Bring back" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(store.turns()[1]?.standing).toEqual({ state: "active" });
});

it("keeps the focus in the dialog: on what confirms, then on what closes", async () => {
  play(TURNS);
  const user = userEvent.setup();
  render(<Window />);
  await user.click(await screen.findByRole("button", { name: "Roll back this turn" }));
  const dialog = await screen.findByRole("dialog");
  await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
  const confirm = await within(dialog).findByRole("button", { name: "Roll back 6 files" });
  await waitFor(() => expect(document.activeElement).toBe(confirm));
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(await within(dialog).findByRole("button", { name: "Close" }));
});

it("makes the list again and says so when a file moved since", async () => {
  const store = play(TURNS);
  const user = userEvent.setup();
  render(<RollBackDialog sessionId="session-1" turnId="turn-2" target="revert" paths={null} onClose={() => undefined} />);
  const confirm = await screen.findByRole("button", { name: "Roll back 6 files" });
  store.disturb();
  await user.click(confirm);
  expect((await screen.findByRole("alert")).textContent).toContain("Nothing was touched");
  expect(store.restores()).toEqual([]);
  await user.click(await screen.findByRole("button", { name: "Roll back 6 files" }));
  await screen.findByText("Rolled back exactly.");
});

it("asks for no target when no later turn stands, and goes back to the state before", async () => {
  const store = play(TURNS.slice(0, 2));
  const user = userEvent.setup();
  render(<RollBackDialog sessionId="session-1" turnId="turn-2" target="revert" paths={["Cargo.lock"]} onClose={() => undefined} />);
  await user.click(await screen.findByRole("button", { name: "Roll back 1 file" }));
  await screen.findByText("Rolled back exactly.");
  expect(screen.queryByRole("radio")).toBeNull();
  expect(store.restores()[0]?.report).toMatchObject({ target: "before", steps: { length: 1 } });
});

it("lists each difference when a restore is not exact", async () => {
  const store = play(TURNS);
  const restore = store.changes.restore.bind(store.changes);
  playShell({
    changes: {
      ...store.changes,
      restore: async (params) => ({ ...(await restore(params)), outcome: { kind: "differences", paths: [{ path: "Cargo.lock", reason: "held open by another program" }] } }),
    },
  });
  const user = userEvent.setup();
  render(<RollBackDialog sessionId="session-1" turnId="turn-2" target="revert" paths={null} onClose={() => undefined} />);
  await user.click(await screen.findByRole("button", { name: "Roll back 6 files" }));
  await screen.findByText("Rolled back with 1 difference.");
  expect(screen.getByText("held open by another program")).toBeTruthy();
  expect(screen.getByText("5 of 6 files read again and equal.")).toBeTruthy();
});

it("says why a turn that was not captured has nothing to show", async () => {
  play([scriptedTurn(2, [3, 1, 1], { completeness: { state: "not_protected", reason: "The disk was full." } })]);
  render(<Window />);
  expect(await screen.findByText("The disk was full.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Roll back this turn" })).toBeNull();
});
