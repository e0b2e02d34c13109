/** Plays the test and the saving of a model's endpoint for tests and for `npm run dev`. It sends nothing. */
import type { ConnectionTest, ProviderDraft, ProviderEntry } from "../protocol";
import { type Backend, ShellError } from "./backend";

export interface ScriptedProvider {
  provider: Backend["provider"];
  entries(): ProviderEntry[];
  /** Drafts that were saved; the key is in none of the entries. */
  saved(): ProviderDraft[];
}

/** A key that contains `wrong` is refused; without a model id the rest is not tried. */
export function scriptedProvider(start: ProviderEntry[] = [], onChange: (entries: ProviderEntry[]) => void = () => undefined): ScriptedProvider {
  let entries = start;
  const saved: ProviderDraft[] = [];
  return {
    entries: () => entries,
    saved: () => saved,
    provider: {
      test: async ({ draft }): Promise<ConnectionTest> => {
        const refused = draft.key?.includes("wrong") ?? false;
        if (refused) {
          return {
            checks: [
              { name: "Reaches the address", outcome: "ok", detail: "answered in 48 ms" },
              { name: "Takes the key", outcome: "failed", detail: "HTTP 401. The endpoint does not know this key" },
              { name: "Answers", outcome: "skipped", detail: "" },
            ],
            models: [],
            latencyMs: null,
          };
        }
        const models = ["northlight-2", "northlight-2-small"];
        const known = draft.modelId !== "";
        return {
          checks: [
            { name: "Reaches the address", outcome: "ok", detail: "answered in 48 ms" },
            { name: "Takes the key", outcome: "ok", detail: draft.key === undefined ? "none needed" : "accepted" },
            { name: "Lists models", outcome: "ok", detail: `${models.length} models` },
            { name: "Answers", outcome: known ? "ok" : "failed", detail: known ? "as a stream" : "No model is chosen. Pick one from the list" },
            { name: "Calls tools", outcome: known ? "warning" : "skipped", detail: known ? "2 of 3 calls well formed" : "" },
          ],
          models,
          latencyMs: known ? 620 : null,
        };
      },
      save: async ({ draft }) => {
        saved.push(draft);
        const key = draft.key === undefined ? ({ kind: "none" } as const) : ({ kind: draft.fallback === "file" ? "file" : "memory" } as const);
        const model = { modelId: draft.modelId, vision: false, ...(draft.contextWindow === undefined ? {} : { contextWindow: draft.contextWindow }) };
        const entry: ProviderEntry = { name: draft.name, api: draft.api, baseUrl: draft.baseUrl, headers: draft.headers, models: [model], key };
        entries = [...entries.filter((one) => one.name !== draft.name), entry];
        onChange(entries);
        return key;
      },
      delete: async ({ name }) => {
        if (!entries.some((one) => one.name === name)) throw new ShellError({ code: "not_found", message: "this endpoint is not known" });
        entries = entries.filter((one) => one.name !== name);
        onChange(entries);
      },
    },
  };
}
