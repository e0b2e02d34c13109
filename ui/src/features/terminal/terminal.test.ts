import { expect, it } from "vitest";

import { Acknowledger, PORTION_BYTES } from "./ack";
import { belongsToWindow, terminalAct, type TerminalKey } from "./keys";
import { followable } from "./links";
import { encodePaste, readPaste } from "./paste";

it("takes control characters out of a paste, so that it cannot end its own brackets", () => {
  expect(readPaste("a\u001b[201~\nrm -rf /\u0007\u009b\tb", true)).toMatchObject({ text: "a[201~\nrm -rf /\tb", removed: 3, lines: 2, ask: true });
});

it("asks for several lines, and for a line end that would run the line", () => {
  const asks = (text: string, bracketed: boolean) => readPaste(text, bracketed).ask;
  expect([asks("ls", false), asks("ls\n", false), asks("ls\n", true), asks("a\r\nb", true)]).toEqual([false, true, false, true]);
});

it("sends line ends as Enter does, in brackets when the program asked", () => {
  expect([encodePaste("a\nb", false), encodePaste("a", true)]).toEqual(["a\rb", "\u001b[200~a\u001b[201~"]);
});

it("acknowledges every byte once: in portions in a flood, the rest when it is over", () => {
  const sent: number[] = [];
  const acks = new Acknowledger((bytes) => sent.push(bytes));
  const chunk = 10_000;
  for (let index = 0; index < 10; index++) acks.received(chunk);
  for (let index = 0; index < 10; index++) acks.drawn(chunk);
  expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBe(10 * chunk);
  expect(sent.slice(0, -1).every((bytes) => bytes >= PORTION_BYTES)).toBe(true);
  acks.received(5);
  acks.drawn(5);
  expect(sent.at(-1)).toBe(5);
});

it("keeps only its own keys from the shell, and leaves the window only its own", () => {
  const press = (key: string, more: Partial<TerminalKey> = {}): TerminalKey => ({ type: "keydown", key, ctrlKey: true, shiftKey: false, altKey: false, metaKey: false, ...more });
  const shift = { shiftKey: true };
  expect(["C", "V", "F", "T", "X"].map((key) => terminalAct(press(key, shift), "linux"))).toEqual(["copy", "paste", "search", "new_terminal", null]);
  expect(["c", "d", "k", "w", "l", "r"].map((key) => [terminalAct(press(key), "linux"), belongsToWindow(press(key))])).toEqual(Array.from({ length: 6 }, () => [null, false]));
  expect(terminalAct(press("c", { ctrlKey: false, metaKey: true }), "macos")).toBe("copy");
  expect([belongsToWindow(press("j")), belongsToWindow(press("b", { altKey: true })), belongsToWindow(press("b"))]).toEqual([true, true, false]);
});

it("follows web and mail addresses and nothing else", () => {
  expect(["https://example.com/a b", "mailto:a@example.com", "file:///etc/passwd", "javascript:alert(1)", "nonsense"].map(followable)).toEqual([
    "https://example.com/a%20b",
    "mailto:a@example.com",
    null,
    null,
    null,
  ]);
});
