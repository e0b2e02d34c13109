/** Order of what is typed into a terminal. */
import { expect, test } from "vitest";

import type { TerminalWriteParams } from "../protocol";
import { inOrder } from "./terminal-input";

test("what is typed while a call is under way goes with the next one, in order", async () => {
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const write = inOrder(({ terminalId, data }: TerminalWriteParams) => {
    sent.push(`${terminalId}:${data}`);
    return new Promise((resolve) => ends.push(resolve));
  });
  const all = [..."echo"].map((data) => write({ terminalId: "a", data }));
  void write({ terminalId: "b", data: "x" });
  await expect.poll(() => sent).toEqual(["a:echo", "b:x"]);
  const late = write({ terminalId: "a", data: "!" });
  expect(sent).toHaveLength(2);
  ends[0]?.();
  await Promise.all(all);
  await expect.poll(() => sent).toEqual(["a:echo", "b:x", "a:!"]);
  ends[2]?.();
  await late;
});

test("a call that fails does not hold back the next one", async () => {
  const sent: string[] = [];
  const write = inOrder(({ data }: TerminalWriteParams) => {
    sent.push(data);
    return data === "1" ? Promise.reject(new Error("gone")) : Promise.resolve();
  });
  await expect(write({ terminalId: "a", data: "1" })).rejects.toThrow("gone");
  await write({ terminalId: "a", data: "2" });
  expect(sent).toEqual(["1", "2"]);
});
