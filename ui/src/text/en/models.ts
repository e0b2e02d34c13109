/** English words for connecting a model, shared by the first run and the settings. */
import type { CheckOutcome, KeySource } from "../../protocol";
import { duration } from "../format";

const outcomes: Record<CheckOutcome, string> = { ok: "Works", warning: "Works with a catch", failed: "Does not work", skipped: "Not tried" };

export const models = {
  title: "Connect a model",
  lede: "Pick one, test it, then save it. Any endpoint that speaks OpenAI Chat Completions works.",
  editTitle: (name: string) => `Change ${name}`,
  here: "On this computer",
  withKey: "With a key",
  other: "Another endpoint",
  customNote: "own address",
  choose: (label: string) => `Set up ${label}`,
  setUp: "Set up",
  back: "All endpoints",
  fields: {
    name: "Name",
    nameNote: "How it is called in Cairn",
    baseUrl: "Address",
    baseUrlNote: "Up to the version, such as https://host/v1",
    key: "Key",
    keyNote: "Sent to this address only. It cannot be shown again.",
    keyOptional: "Key, if the server asks for one",
    keyKeep: "A key is stored. Leave this empty to keep it.",
    keyPlaceholder: "Paste the key",
    modelId: "Model",
    modelNote: (example: string) => (example === "" ? "The id that the endpoint uses" : `The id that the endpoint uses, such as ${example}`),
    modelListed: (count: number) => (count === 1 ? "The endpoint lists 1 model" : `The endpoint lists ${count} models`),
    contextWindow: "Context",
    contextNote: "In tokens. Leave it empty when you do not know",
  },
  problems: {
    empty: "Fill this in",
    name_letters: "Letters, digits, dot, dash and underscore, at most 64",
    name_taken: "There is an endpoint with this name already",
    not_an_address: "An address begins with http:// or https://",
    address_query: "Without question mark, fragment, user or password",
    plain_http: "A key is not sent to another computer over plain http. Use https",
    key_missing: "This endpoint needs a key",
    key_blank: "The key is blank",
    not_a_number: "A number of tokens, such as 128000 or 128k",
  },
  test: "Test",
  testAgain: "Test again",
  testing: "Testing…",
  testNote: "The test sends one short request to this address.",
  testFailed: "The test could not be run",
  testStale: "The fields changed since this test.",
  checks: "What the test showed",
  outcomes,
  latency: (milliseconds: number) => `First token after ${duration(milliseconds)}`,
  save: "Save",
  saveUntested: "Save without a test",
  saving: "Saving…",
  saved: (model: string) => `${model} is ready`,
  saveFailed: "The model was not saved",
  cancel: "Cancel",
  keychainStores: "The key is kept in the system keychain.",
  keychainGone: "The system keychain does not work here",
  fallback: "Where to keep the key",
  fallbackMemory: "Keep it for this run",
  fallbackMemoryNote: "It is gone when Cairn closes",
  fallbackFile: "Keep it in a file that only you can read",
  fallbackFileNote: "Not encrypted. Programs that run as you can read it",
  keySource: (source: KeySource) => {
    switch (source.kind) {
      case "none":
        return "no key";
      case "keychain":
        return "key in the keychain";
      case "memory":
        return "key for this run only";
      case "file":
        return "key in a file";
      case "env":
        return `key from ${source.variable}`;
    }
  },
};
