import { expect, it } from "vitest";

import { scriptedHunk } from "../backend/scripted-changes";
import { COLOURED_LINE, highlightHunk, indentOf, lineText, parserFor, pieces } from "./diff-highlight";

it("cuts a line into pieces of one colour and one mark, and loses no character", () => {
  const runs = [
    { text: "let ab", changed: false },
    { text: "cd", changed: true },
    { text: " = 1;", changed: false },
  ];
  const spans = [
    { from: 0, to: 3, class: "tk" },
    { from: 4, to: 7, class: "tp" },
    { from: 11, to: 12, class: "tn" },
  ];
  expect(pieces(runs, spans)).toEqual([
    { text: "let", class: "tk", changed: false },
    { text: " ", class: "", changed: false },
    { text: "ab", class: "tp", changed: false },
    { text: "c", class: "tp", changed: true },
    { text: "d", class: "", changed: true },
    { text: " = ", class: "", changed: false },
    { text: "1", class: "tn", changed: false },
    { text: ";", class: "", changed: false },
  ]);
});

it("colours both sides of a hunk in the file's language, also what spans lines", async () => {
  const hunk = scriptedHunk(1, 1, "", ' /* begins\n    ends */\n-let old = "text";\n+let [[fresh]] = 12;');
  const parser = await parserFor("src/main.rs");
  expect(parser).not.toBeNull();
  if (parser === null) return;
  const colours = highlightHunk(hunk, parser);
  const shown = hunk.lines.map((line, at) => (colours[at] ?? []).map((span) => `${span.class}:${lineText(line).slice(span.from, span.to)}`));
  expect(shown).toEqual([["tc:/* begins"], ["tc:   ends */"], ["tk:let", 'ts:"text"'], ["tk:let", "tn:12"]]);
});

it("leaves an unknown language and a very long line plain", async () => {
  expect(await parserFor("data.unknown")).toBeNull();
  const parser = await parserFor("a.js");
  if (parser === null) throw new Error("JavaScript is known");
  const colours = highlightHunk(scriptedHunk(1, 1, "", `+let a = "${"x".repeat(COLOURED_LINE)}"\n+let b`), parser);
  expect([colours[0], colours[1]?.length]).toEqual([[], 1]);
});

it("counts a tab as four cells and indents at most half a line", () => {
  expect([indentOf("\t  x"), indentOf("x"), indentOf(" ".repeat(90))]).toEqual([6, 0, 40]);
});
