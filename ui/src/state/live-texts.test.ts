/** Streamed text is kept outside of React and told at most once a frame. */
import { expect, it, vi } from "vitest";

import { Story } from "../backend/scripted-messages";
import { KEPT_CHARACTERS, liveName, LiveTexts } from "./live-texts";

function play() {
  const frames: (() => void)[] = [];
  const texts = new LiveTexts((flush) => frames.push(flush));
  const story = new Story(0);
  const delta = (text: string) => story.part({ type: "partial_text", role: "assistant", event_type: "delta", text });
  const output = (text: string) => story.part({ type: "partial_tool_call_output", role: "user", event_type: "delta", output: text, tool_call_id: "c" });
  return { frames, texts, story, delta, output };
}

it("tells once a frame, however many deltas came", () => {
  const { frames, texts, delta } = play();
  const listener = vi.fn();
  texts.subscribe("text", listener);
  texts.apply([delta("a"), delta("b")]);
  texts.apply([delta("c")]);
  expect(listener).not.toHaveBeenCalled();
  expect(frames).toHaveLength(1);
  frames[0]?.();
  expect(listener).toHaveBeenCalledTimes(1);
  expect(texts.get("text")).toBe("abc");
});

it("tells only who shows what changed", () => {
  const { frames, texts, delta, output } = play();
  const [said, ran] = [vi.fn(), vi.fn()];
  texts.subscribe("text", said);
  texts.subscribe(liveName("output", "c"), ran);
  texts.apply([output("x")]);
  frames[0]?.();
  expect([said.mock.calls.length, ran.mock.calls.length]).toEqual([0, 1]);
  texts.apply([delta("y")]);
  frames[1]?.();
  expect([said.mock.calls.length, ran.mock.calls.length]).toEqual([1, 1]);
});

it("starts over with each start and forgets with the whole message", () => {
  const { texts, story, delta } = play();
  texts.apply([delta("old"), story.part({ type: "partial_text", role: "assistant", event_type: "start", text: "" }), delta("new")]);
  expect(texts.get("text")).toBe("new");
  texts.apply([story.answer("new")]);
  expect(texts.get("text")).toBe("");
});

it("keeps the end of an output without end", () => {
  const { texts, output } = play();
  texts.apply([output("a".repeat(KEPT_CHARACTERS)), output("end")]);
  expect(texts.get("output:c")).toHaveLength(KEPT_CHARACTERS);
  expect(texts.get("output:c").endsWith("aend")).toBe(true);
});
