import { expect, it } from "vitest";

import type { ProviderEntry } from "../../protocol";
import { checkFields, type FormContext, freeName, type ModelFields, readTokens, startFields, toDraft } from "./model-form";
import { type Preset, presetOf, PRESETS } from "./presets";

const named = (name: string): Preset => PRESETS.find((preset) => preset.name === name) ?? presetOf("");
const entry = (name: string): ProviderEntry => ({ name, api: "chat", baseUrl: "", headers: {}, models: [], key: { kind: "none" } });
const right: ModelFields = { name: "openai", baseUrl: "https://api.openai.com/v1", key: "sk-1", modelId: "gpt-5.1", contextWindow: "" };
const context: FormContext = { preset: named("openai"), taken: [], editing: null };

it("finds nothing wrong with fields that are right", () => {
  expect(checkFields(right, context, "save")).toEqual({});
});

it("says what is wrong with each field", () => {
  const problems = (more: Partial<ModelFields>, other: Partial<FormContext> = {}) => checkFields({ ...right, ...more }, { ...context, ...other }, "save");
  expect(problems({ name: " " })).toEqual({ name: "empty" });
  expect(problems({ name: "a b" })).toEqual({ name: "name_letters" });
  expect(problems({}, { taken: [entry("openai")] })).toEqual({ name: "name_taken" });
  expect(problems({}, { taken: [entry("openai")], editing: "openai" })).toEqual({});
  expect(problems({ baseUrl: "api.openai.com" })).toEqual({ baseUrl: "not_an_address" });
  expect(problems({ baseUrl: "ftp://a" })).toEqual({ baseUrl: "not_an_address" });
  expect(problems({ baseUrl: "https://a/v1?key=1" })).toEqual({ baseUrl: "address_query" });
  expect(problems({ baseUrl: "https://user:secret@a/v1" })).toEqual({ baseUrl: "address_query" });
  expect(problems({ baseUrl: "http://10.0.0.2/v1" })).toEqual({ baseUrl: "plain_http" });
  expect(problems({ baseUrl: "http://127.0.0.1:8080/v1" })).toEqual({});
  expect(problems({ key: "" })).toEqual({ key: "key_missing" });
  expect(problems({ key: "" }, { editing: "openai" })).toEqual({});
  expect(problems({ key: "  " })).toEqual({ key: "key_blank" });
  expect(problems({ modelId: "" })).toEqual({ modelId: "empty" });
  expect(problems({ contextWindow: "lots" })).toEqual({ contextWindow: "not_a_number" });
});

it("can be tested without a model, since the endpoint may list them", () => {
  expect(checkFields({ ...right, modelId: "" }, context, "test")).toEqual({});
});

it("reads tokens as people write them", () => {
  expect(["", "128000", "128,000", "128 000", "128k", "0", "-1", "1e5"].map(readTokens)).toEqual([null, 128_000, 128_000, 128_000, 128_000, "wrong", "wrong", "wrong"]);
});

it("leaves an empty key out of the draft, so that the stored one stays", () => {
  expect(toDraft({ ...right, key: "", baseUrl: " https://api.openai.com/v1/ ", contextWindow: "200k" }, "memory")).toEqual({
    name: "openai",
    api: "chat",
    baseUrl: "https://api.openai.com/v1",
    modelId: "gpt-5.1",
    headers: {},
    fallback: "memory",
    contextWindow: 200_000,
  });
});

it("starts every preset with a free name and fields that lack only what the user must give", () => {
  expect(freeName("ollama", [entry("ollama"), entry("ollama-2")])).toBe("ollama-3");
  for (const preset of PRESETS) {
    const problems = checkFields({ ...startFields(preset, []), modelId: "m" }, { preset, taken: [], editing: null }, "save");
    expect(Object.values(problems).every((problem) => problem === "empty" || problem === "key_missing")).toBe(true);
  }
});
