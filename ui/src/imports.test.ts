/** The house rules that a linter can't hold: imports point one way, files stay small, text becomes no HTML. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = dirname(fileURLToPath(import.meta.url));

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("protocol/"));

const source = (path: string) => readFileSync(join(root, path), "utf8");

/** What a layer may import, besides itself. The app itself, at the top, may import everything. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  backend: ["protocol"],
  text: ["protocol"],
  state: ["backend", "protocol", "text"],
  components: ["protocol", "text"],
  features: ["state", "components", "protocol", "text"],
};

function importsOf(path: string): string[] {
  const found = source(path).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, target]) => relative(root, resolve(join(root, dirname(path)), target ?? "")).replaceAll("\\", "/"));
}

const product = files.filter((path) => !/\.test\.tsx?$/.test(path) && !path.startsWith("test-"));

it("lets imports point one way, and never from feature to feature", () => {
  const wrong: string[] = [];
  for (const path of product) {
    const [layer = "", feature = ""] = path.split("/");
    const allowed = MAY_IMPORT[layer];
    if (!allowed) continue;
    for (const target of importsOf(path)) {
      const [targetLayer = "", targetFeature = ""] = target.split("/");
      const same = targetLayer === layer && (layer !== "features" || targetFeature === feature);
      if (!same && !allowed.includes(targetLayer)) wrong.push(`${path} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

it("lets only the backend speak to the shell", () => {
  const wrong = product.filter((path) => source(path).includes('"@tauri-apps/') && path !== "backend/tauri.ts");
  expect(wrong).toEqual([]);
});

it("keeps what is played out of the product", () => {
  const wrong = product.filter((path) => !path.startsWith("backend/scripted") && importsOf(path).some((target) => target.startsWith("backend/scripted")));
  expect(wrong).toEqual(["main.tsx"]);
  expect(source("main.tsx")).toMatch(/import\.meta\.env\.DEV && [^\n]+\{\n[^\n]*import\("\.\/backend\/scripted"\)/);
});

it("makes no HTML out of text and gives no address to the engine", () => {
  const wrong = product.filter((path) => /dangerouslySetInnerHTML|\.innerHTML|\beval\(|new Function|\bhref=|\ssrc=\{|document\.write/.test(source(path)));
  expect(wrong).toEqual([]);
});

it("keeps files small: 300 lines a component, 500 lines anything", () => {
  const long = product.filter((path) => source(path).split("\n").length > (path.endsWith(".tsx") ? 301 : 501));
  expect(long).toEqual([]);
});

it("opens each file with what it is for", () => {
  const silent = product.filter((path) => !source(path).startsWith("/**"));
  expect(silent).toEqual([]);
});
