/** The pure parts of the conversation: tools in words, terminal output as text, diffs, hidden characters. */
import { expect, it } from "vitest";

import { newCall } from "../../state/timeline";
import { partialWhat, tail, toolView, withoutControls } from "./tool-view";
import { parseUnifiedDiff } from "./unified-diff";
import { visibleRuns } from "./visible-text";

const view = (tool: string, args: unknown) => {
  const shown = toolView(newCall("k", "c", tool, typeof args === "string" ? args : JSON.stringify(args), ""));
  return `${shown.verb} ${shown.what}`.trim();
};

it("says what a call does", () => {
  expect(view("run_shell", { command: "cargo test\nls" })).toBe("Run cargo test …");
  expect(view("read_file", { path: "src/a.rs" })).toBe("Read src/a.rs");
  expect(view("grep", { pattern: "fn main" })).toBe("Search fn main");
  expect(view("some_server_tool", { name: "x" })).toBe("Call some_server_tool x");
  expect(view("read_file", "not json")).toBe("Read read_file");
});

it("names the files that were changed", () => {
  const call = newCall("k", "c", "write_file", "{}", "");
  const details = { duration_ms: 1, edits: [{ path: "a.rs", kind: "created" as const, added: 1, removed: 0 }] };
  expect(toolView({ ...call, details })).toMatchObject({ verb: "Create", what: "a.rs" });
});

it("reads what it can of a call that is being written", () => {
  expect(partialWhat("run_shell", '{"command":"cargo te')).toBe("cargo te");
  expect(partialWhat("run_shell", '{"command":"a \\"b\\" c')).toBe('a "b" c');
  expect(partialWhat("run_shell", '{"com')).toBe("");
});

it("shows terminal output as plain text", () => {
  expect(withoutControls("\u001b[31mred\u001b[0m \u001b]0;title\u0007ok\r\n10%\r100%\n")).toBe("red ok\n100%\n");
  expect(tail("a\nb\nc\n", 2)).toEqual({ shown: "b\nc", hidden: 1 });
});

it("reads a unified diff", () => {
  const [hunk] = parseUnifiedDiff("--- a\n+++ b\n@@ -3,3 +3,3 @@ fn main\n a\n-let x = 1;\n+let x = 2;\n c\n\\ No newline at end of file\n");
  expect(hunk).toMatchObject({ oldStart: 3, newStart: 3, heading: "fn main" });
  expect(hunk?.lines.map((line) => [line.kind, line.old, line.new])).toEqual([
    ["context", 3, 3],
    ["removed", 4, null],
    ["added", null, 4],
    ["context", 5, 5],
  ]);
  expect(hunk?.lines[2]?.runs).toEqual([
    { text: "let x = ", changed: false },
    { text: "2", changed: true },
    { text: ";", changed: false },
  ]);
  expect(hunk?.lines[3]?.noNewline).toBe(true);
});

it("writes out what could not be seen", () => {
  expect(visibleRuns("a\u202eb\tc")).toEqual([
    { text: "a", marked: false },
    { text: "\\u{202e}", marked: true },
    { text: "b\tc", marked: false },
  ]);
  for (const char of ["\u0000", "\u001b", "\u00ad", "\u200b", "\u2066", "\ufeff", "\u2028", "\u00a0", "\u3164", "\u{e0041}"]) {
    expect(visibleRuns(char)).toEqual([{ text: expect.stringMatching(/^\\u\{[0-9a-f]+\}$/) as string, marked: true }]);
  }
  expect(visibleRuns("日本語 é 🙂")).toEqual([{ text: "日本語 é 🙂", marked: false }]);
});
