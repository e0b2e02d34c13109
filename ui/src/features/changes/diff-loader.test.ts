import { expect, it } from "vitest";

import { scriptedHunk } from "../../backend/scripted-changes";
import type { FileDiff } from "../../protocol";
import { DiffLoader } from "./diff-loader";

const HUNK = scriptedHunk(1, 1, "", "+a");

function page(path: string, hunks: number, truncated: boolean): FileDiff {
  return { path, kind: "modified", oldMode: "100644", newMode: "100644", content: { kind: "text", hunks: Array.from({ length: hunks }, () => HUNK), truncated } };
}

/** A loader whose answers are given by hand. */
function byHand() {
  const asked: { path: string; fromHunk: number; answer: (diff: FileDiff) => void; refuse: (error: Error) => void }[] = [];
  const loader = new DiffLoader(
    (path, fromHunk) => new Promise((answer, refuse) => asked.push({ path, fromHunk, answer, refuse })),
    (error) => String(error),
  );
  return { loader, asked };
}

const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

it("asks for four at a time and drops wishes that are off the screen again", async () => {
  const { loader, asked } = byHand();
  loader.want(["a", "b", "c", "d", "e", "f"].map((path) => ({ path, fromHunk: 0 })));
  expect(asked.map(({ path }) => path)).toEqual(["a", "b", "c", "d"]);
  loader.want([{ path: "z", fromHunk: 0 }]);
  asked[0]?.answer(page("a", 1, false));
  await settle();
  expect(asked.map(({ path }) => path)).toEqual(["a", "b", "c", "d", "z"]);
});

it("reads page after page, each from where the last one ended, and never the same twice", async () => {
  const { loader, asked } = byHand();
  loader.want([{ path: "a", fromHunk: 0 }]);
  loader.want([{ path: "a", fromHunk: 0 }]);
  asked[0]?.answer(page("a", 2, true));
  await settle();
  loader.want([{ path: "a", fromHunk: 2 }]);
  asked[1]?.answer(page("a", 1, false));
  await settle();
  loader.want([{ path: "a", fromHunk: 3 }]);
  expect(asked.map(({ fromHunk }) => fromHunk)).toEqual([0, 2]);
  expect(loader.entry("a")).toMatchObject({ state: "ready", truncated: false, hunks: { length: 3 } });
});

it("ends at an empty page that claims more", async () => {
  const { loader, asked } = byHand();
  loader.want([{ path: "a", fromHunk: 0 }]);
  asked[0]?.answer(page("a", 0, true));
  await settle();
  expect(loader.entry("a")).toMatchObject({ state: "ready", truncated: false });
});

it("says what failed, does not ask again by itself, and keeps what was read", async () => {
  const { loader, asked } = byHand();
  loader.want([{ path: "a", fromHunk: 0 }]);
  asked[0]?.answer(page("a", 1, true));
  await settle();
  loader.want([{ path: "a", fromHunk: 1 }]);
  asked[1]?.refuse(new Error("disk"));
  await settle();
  expect(loader.entry("a")).toMatchObject({ state: "failed", message: "Error: disk", hunks: { length: 1 } });
  loader.want([{ path: "a", fromHunk: 1 }]);
  expect(asked).toHaveLength(2);
  loader.retry("a");
  expect(asked[2]).toMatchObject({ path: "a", fromHunk: 1 });
});
