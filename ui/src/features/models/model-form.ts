/** Checks what the user typed into the form for a model, and makes a draft of it. Pure: no I/O, and it keeps no key. */
import type { KeyFallback, ProviderDraft, ProviderEntry } from "../../protocol";
import type { Preset } from "./presets";

/** What the fields hold. */
export type ModelFields = { name: string; baseUrl: string; key: string; modelId: string; contextWindow: string };

/** What is wrong with a field. The words are in the catalogue. */
export type FieldProblem = "empty" | "name_letters" | "name_taken" | "not_an_address" | "address_query" | "plain_http" | "key_missing" | "key_blank" | "not_a_number";

/** Problems by field; a field without one is right. */
export type FormProblems = Partial<Record<keyof ModelFields, FieldProblem>>;

/** What is known besides the fields. */
export type FormContext = { preset: Preset; taken: readonly ProviderEntry[]; editing: string | null };

/** What the check is for: a test can do without a model id, since the endpoint may list them. */
export type Purpose = "test" | "save";

/** Fields as a preset starts them, with a name that is free. */
export function startFields(preset: Preset, taken: readonly ProviderEntry[]): ModelFields {
  return { name: freeName(preset.name, taken), baseUrl: preset.baseUrl, key: "", modelId: "", contextWindow: "" };
}

/** Returns the name, or the name with the first free number. */
export function freeName(name: string, taken: readonly ProviderEntry[]): string {
  const names = new Set(taken.map((entry) => entry.name));
  if (!names.has(name)) return name;
  let number = 2;
  while (names.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

/** Returns every problem of the fields. */
export function checkFields(fields: ModelFields, context: FormContext, purpose: Purpose): FormProblems {
  const problems: FormProblems = {};
  const name = fields.name.trim();
  if (name === "") problems.name = "empty";
  else if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) problems.name = "name_letters";
  else if (name !== context.editing && context.taken.some((entry) => entry.name === name)) problems.name = "name_taken";

  const address = checkAddress(fields.baseUrl, fields.key);
  if (address !== null) problems.baseUrl = address;

  if (fields.key !== "" && fields.key.trim() === "") problems.key = "key_blank";
  else if (context.preset.key === "needed" && fields.key === "" && context.editing === null) problems.key = "key_missing";

  if (purpose === "save" && fields.modelId.trim() === "") problems.modelId = "empty";
  if (readTokens(fields.contextWindow) === "wrong") problems.contextWindow = "not_a_number";
  return problems;
}

/** An address is http or https, without question mark or fragment; a key never goes over plain http to another computer. */
function checkAddress(text: string, key: string): FieldProblem | null {
  const trimmed = text.trim();
  if (trimmed === "") return "empty";
  let url: URL;
  try {
    url = new URL(trimmed);
  } catch {
    return "not_an_address";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "not_an_address";
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return "address_query";
  if (url.protocol === "http:" && key.trim() !== "" && !isThisComputer(url.hostname)) return "plain_http";
  return null;
}

/** Whether a host name means this computer. */
export function isThisComputer(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Reads a number of tokens: `200000`, `200,000`, `200 000` or `200k`. */
export function readTokens(text: string): number | null | "wrong" {
  const plain = text.trim().toLowerCase().replace(/[\s,_]/g, "");
  if (plain === "") return null;
  const match = /^(\d{1,9})(k?)$/.exec(plain);
  if (match === null) return "wrong";
  const tokens = Number(match[1]) * (match[2] === "k" ? 1000 : 1);
  return tokens > 0 ? tokens : "wrong";
}

/** Makes the draft that goes to the backend. The fields have passed `checkFields`. */
export function toDraft(fields: ModelFields, fallback: KeyFallback): ProviderDraft {
  const tokens = readTokens(fields.contextWindow);
  const key = fields.key.trim();
  return {
    name: fields.name.trim(),
    api: "chat",
    baseUrl: fields.baseUrl.trim().replace(/\/+$/, ""),
    modelId: fields.modelId.trim(),
    headers: {},
    fallback,
    ...(typeof tokens === "number" ? { contextWindow: tokens } : {}),
    ...(key === "" ? {} : { key }),
  };
}

/** Returns what a change of the endpoint does to a test that ran before: it says nothing about another endpoint. */
export function sameEndpoint(a: ModelFields, b: ModelFields): boolean {
  return a.baseUrl === b.baseUrl && a.key === b.key && a.modelId === b.modelId;
}
