/** Contrast of every pair that the window uses, in all four themes: AA for text, 3:1 for shapes, 7:1 in high contrast. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const css = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "tokens.css"), "utf8");

type Colours = Record<string, string>;

const themes = new Map<string, Colours>();
for (const [, names = "", body = ""] of css.matchAll(/([^{}]*data-theme="[^{}]*)\{([^{}]*)\}/g)) {
  const name = /data-theme="([\w-]+)"/.exec(names)?.[1] ?? "";
  themes.set(name, Object.fromEntries([...body.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, key = "", value = ""]) => [key, value])));
}

const linear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const part = (hex: string, at: number) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255);
const luminance = (hex: string) => 0.2126 * part(hex, 1) + 0.7152 * part(hex, 3) + 0.0722 * part(hex, 5);

function ratio(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["canvas", "surface", "raised", "sunken", "overlay"];
const TONES = ["accent", "busy", "attention", "success", "danger"];
const TEXT_PAIRS: [string, string][] = [
  ...["text", "text-2", "muted"].flatMap((ink) => [...GROUNDS, "hover"].map((ground): [string, string] => [ink, ground])),
  ...TONES.flatMap((tone): [string, string][] => [
    ...GROUNDS.map((ground): [string, string] => [tone, ground]),
    [tone, `${tone}-soft`],
    ["text", `${tone}-soft`],
    ["text-2", `${tone}-soft`],
  ]),
  ["on-accent", "accent"],
  ["on-accent", "accent-strong"],
  ["text", "active"],
  ["muted", "accent-soft"],
  ...["string", "number", "comment", "keyword"].flatMap((kind) =>
    ["sunken", "raised", "add-bg", "del-bg"].map((ground): [string, string] => [`code-${kind}`, ground]),
  ),
  ...["add-bg", "add-word", "del-bg", "del-word"].map((ground): [string, string] => ["text", ground]),
  ["muted", "add-bg"],
  ["muted", "del-bg"],
];

it.each(["light", "dark", "hc-light", "hc-dark"])("is readable in %s", (name) => {
  const colours = themes.get(name) ?? {};
  const limit = name.startsWith("hc") ? 7 : 4.5;
  const value = (key: string) => colours[key] ?? "#000000";
  const weak = TEXT_PAIRS.filter(([ink, ground]) => ratio(value(ink), value(ground)) < limit);
  const faint = ["canvas", "surface", "raised"].filter((ground) => ratio(value("stone"), value(ground)) < 3);
  expect({ weak, faint, missing: TEXT_PAIRS.flat().filter((key) => !(key in colours)) }).toEqual({ weak: [], faint: [], missing: [] });
});
