/** The settings pages: what they set, what they warn of, and that all can read them. */
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";

import type { Settings } from "../../protocol";
import { useApp } from "../../state/app";
import type { SettingsPageName } from "../../state/navigation";
import { playApp, playShell, violations } from "../../test-shell";
import { readWhole } from "./read-whole";
import { SettingsPage } from "./settings-page";

const save = vi.fn(async ({ settings }: { settings: Settings }) => settings);
const held = () => useApp.getState().state?.settings;

it.each<SettingsPageName>(["models", "permissions", "snapshots", "appearance", "about"])("shows %s without a violation of accessibility", async (page) => {
  playApp({ providers: [{ name: "own", api: "chat", baseUrl: "https://gateway.example/v1", headers: {}, models: [{ modelId: "m", vision: false }], key: { kind: "keychain" } }] });
  playShell({ settings: { save } });
  const { container } = render(<SettingsPage page={page} />);
  expect(await violations(container)).toEqual([]);
});

it("sets what is chosen at once", async () => {
  playApp();
  playShell({ settings: { save } });
  const user = userEvent.setup();
  render(<SettingsPage page="permissions" />);
  await user.click(screen.getByRole("radio", { name: /Confined commands run/ }));
  await user.click(screen.getByRole("checkbox", { name: /dialog of the system/ }));
  await user.clear(screen.getByLabelText("Most model requests in a turn"));
  await user.type(screen.getByLabelText("Most model requests in a turn"), "1,500{Enter}");
  expect(held()).toMatchObject({ shellPolicy: "sandbox", nativeApprovals: true, maxIterations: 1500 });
});

it("keeps the number that holds when a wrong one is typed, and says what is right", async () => {
  playApp();
  playShell({ settings: { save } });
  const user = userEvent.setup();
  render(<SettingsPage page="permissions" />);
  await user.clear(screen.getByLabelText("Longest silence of a model"));
  await user.type(screen.getByLabelText("Longest silence of a model"), "soon{Enter}");
  expect(screen.getByText("A whole number from 0 to 86,400")).toBeTruthy();
  expect(held()?.modelIdleTimeoutMs).toBe(120_000);
});

it("leaves it to the shell to ask before snapshots are turned off", async () => {
  playApp();
  const { settings } = useApp.getState().state!;
  const asked = vi.fn(async () => settings);
  playShell({ settings: { save: asked } });
  const user = userEvent.setup();
  render(<SettingsPage page="snapshots" />);
  await user.click(screen.getByRole("radio", { name: /Off/ }));
  expect(asked).toHaveBeenCalledWith({ settings: { ...settings, snapshots: "off" } });
  expect(held()?.snapshots).toBe("shadow");
});

it("does not offer to act on its own as a default", () => {
  playApp();
  render(<SettingsPage page="permissions" />);
  expect(screen.queryByRole("radio", { name: /on its own/ })).toBeNull();
});

it("reads whole numbers in their range only", () => {
  expect(["800", "1 000", "0", "1.5", "-3", "", "99999"].map((typed) => readWhole(typed, 1, 10_000))).toEqual([800, 1000, null, null, null, null, null]);
});
