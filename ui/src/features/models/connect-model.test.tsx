/** Setting up a model, driven as a user does against a scripted endpoint. */
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";

import { scriptedProvider } from "../../backend/scripted-provider";
import { playApp, playShell, violations } from "../../test-shell";
import { ConnectModel } from "./connect-model";

function play() {
  const played = scriptedProvider();
  const save = vi.fn(async ({ settings }) => settings);
  playShell({ provider: played.provider, settings: { save } });
  return { ...played, settingsSaved: save };
}

it("tests a key, saves what works, and makes the first model the default", async () => {
  playApp();
  const { saved, settingsSaved } = play();
  const user = userEvent.setup();
  const close = vi.fn();
  const { baseElement } = render(<ConnectModel name={null} onClose={close} />);
  expect(await violations(baseElement)).toEqual([]);
  await user.click(await screen.findByRole("button", { name: /DeepSeek/ }));
  await user.click(screen.getByRole("button", { name: "Test" }));
  expect(screen.getByText("This endpoint needs a key")).toBeTruthy();

  await user.type(screen.getByLabelText("Key"), "wrong");
  await user.click(screen.getByRole("button", { name: "Test" }));
  expect(await screen.findByText("HTTP 401. The endpoint does not know this key")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();

  await user.clear(screen.getByLabelText("Key"));
  await user.type(screen.getByLabelText("Key"), "sk-right");
  await user.click(screen.getByRole("button", { name: "Test again" }));
  await user.selectOptions(await screen.findByLabelText("The endpoint lists 2 models"), "northlight-2");
  await user.click(screen.getByRole("button", { name: "Test again" }));
  expect(await violations(baseElement)).toEqual([]);
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  expect(saved()[0]).toMatchObject({ name: "deepseek", modelId: "northlight-2", key: "sk-right", api: "chat" });
  expect(settingsSaved.mock.calls[0]?.[0].settings.defaultModel).toEqual({ provider: "deepseek", model_id: "northlight-2" });
});

it("says that there is no keychain and keeps a key in a file only when that was chosen", async () => {
  playApp({ keychain: { state: "unavailable", reason: "No secret service answers." } });
  const { saved } = play();
  const user = userEvent.setup();
  render(<ConnectModel name={null} onClose={() => undefined} />);
  await user.click(await screen.findByRole("button", { name: /OpenAI/ }));
  await user.type(screen.getByLabelText("Key"), "sk");
  await user.type(screen.getByLabelText("Model"), "m");
  expect(screen.getByText("No secret service answers.")).toBeTruthy();
  expect(screen.getByRole("radio", { name: /Keep it for this run/ })).toHaveProperty("checked", true);
  await user.click(screen.getByRole("radio", { name: /in a file/ }));
  await user.click(screen.getByRole("button", { name: "Save without a test" }));
  expect(saved()[0]).toMatchObject({ fallback: "file" });
});

it("never shows a stored key, and keeps it when the field stays empty", async () => {
  playApp({ providers: [{ name: "own", api: "chat", baseUrl: "https://gateway.example/v1", headers: {}, models: [{ modelId: "m", vision: false }], key: { kind: "keychain" } }] });
  const { saved } = play();
  const user = userEvent.setup();
  render(<ConnectModel name="own" onClose={() => undefined} />);
  expect(screen.getByLabelText("Key")).toHaveProperty("value", "");
  await user.click(screen.getByRole("button", { name: "Save without a test" }));
  expect(saved()[0]).toMatchObject({ name: "own" });
  expect(saved()[0]).not.toHaveProperty("key");
});
