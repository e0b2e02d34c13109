/** The first screen. */
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";

import { ShellError } from "../../backend/backend";
import { useNavigation } from "../../state/navigation";
import { playApp, playShell, violations } from "../../test-shell";
import { FirstRun } from "./first-run";

it("offers three ways to begin, the script plainly labelled", async () => {
  playApp();
  playShell({});
  const { container } = render(<FirstRun />);
  expect(screen.getAllByRole("button").map((button) => button.getAttribute("aria-label"))).toEqual(["Try it: Start", "Connect a model", "Open a folder…"]);
  expect(screen.getByText(/Not an AI/)).toBeTruthy();
  expect(await violations(container)).toEqual([]);
});

it("says what this computer cannot do, and why", () => {
  playApp({ sandbox: { backend: "none", enforced: false, reason: "bubblewrap is not installed." }, keychain: { state: "unavailable", reason: "No secret service answers." } });
  render(<FirstRun />);
  expect(screen.getByText("Commands cannot be confined").parentElement?.textContent).toContain("bubblewrap is not installed.");
  expect(screen.getByText("No secret service answers.")).toBeTruthy();
});

it("opens the dialog for a model, and can be started again after the tour failed", async () => {
  playApp();
  const startTour = vi.fn(() => Promise.reject(new ShellError({ code: "io", message: "disk full" })));
  playShell({ workspace: { startTour } });
  const user = userEvent.setup();
  render(<FirstRun />);
  await user.click(screen.getByRole("button", { name: "Connect a model" }));
  expect(useNavigation.getState().dialog).toEqual({ kind: "connect_model", name: null });
  await user.click(screen.getByRole("button", { name: "Try it: Start" }));
  await user.click(await screen.findByRole("button", { name: "Try it: Start" }));
  expect(startTour).toHaveBeenCalledTimes(2);
});

it("lists folders opened before; one that is gone cannot be opened but forgotten", async () => {
  const workspace = (id: string, present: boolean) => ({ id, name: id, path: `/work/${id}`, lastUsedAt: "2026-11-30T14:00:00Z", present });
  playApp({ workspaces: [workspace("here", true), workspace("gone", false)] });
  const forget = vi.fn(() => Promise.resolve());
  playShell({ workspace: { forget } });
  const user = userEvent.setup();
  const { container } = render(<FirstRun />);
  expect(screen.getByRole("button", { name: /gone.*not there now/ })).toHaveProperty("disabled", true);
  await user.click(screen.getByRole("button", { name: "Take gone off the list" }));
  expect(forget).toHaveBeenCalledWith({ workspaceId: "gone" });
  expect(await violations(container)).toEqual([]);
});
