/** What was said: the user's text, the model's answer, its thinking, and answers to questions. */
import { memo, useState } from "react";

import { Icon } from "../../components/icon";
import { Markdown } from "../../components/markdown/markdown";
import { liveName } from "../../state/live-texts";
import type { LiveSegment } from "../../state/session";
import type { StepPlace } from "../../state/rows";
import { useLiveText } from "../../state/session-store";
import type { Item } from "../../state/timeline";
import { text } from "../../text/en";
import { clockTime } from "../../text/format";
import { Lane } from "./lane";
import { partialWhat, toolView } from "./tool-view";

const words = text.conversation;

type Ask = Extract<Item, { kind: "ask" }>;
type Say = Extract<Item, { kind: "say" }>;
type Thought = Extract<Item, { kind: "thought" }>;
type Question = Extract<Item, { kind: "question" }>;

export const AskRow = memo(function AskRow({ item, open, first }: { item: Ask; open: boolean; first: boolean }) {
  return (
    <Lane start dashed={open} line={first ? "from-top" : "through"} mark={<span className="t">{clockTime(item.at)}</span>}>
      <div className="ask">{item.text}</div>
    </Lane>
  );
});

export const SayRow = memo(function SayRow({ item, open }: { item: Say; open: boolean }) {
  const { stop } = item;
  return (
    <Lane dashed={open}>
      <Markdown source={item.text} />
      {stop !== null && stop !== "completed" ? (
        <p className="note">
          <Icon name="info" />
          {words.cut[stop]}
        </p>
      ) : null}
    </Lane>
  );
});

export const ThoughtRow = memo(function ThoughtRow({ item, open }: { item: Thought; open: boolean }) {
  const ms = Date.parse(item.at) - Date.parse(item.startedAt);
  return (
    <Lane dashed={open}>
      <Foldable label={words.thought(ms)} body={item.text} />
    </Lane>
  );
});

function Foldable({ label, body }: { label: string; body: string }) {
  const [shown, setShown] = useState(false);
  return (
    <>
      <button type="button" className="thought" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name="think" />
        <span>{label}</span>
        <Icon name={shown ? "down" : "right"} />
      </button>
      {shown ? <div className="thinking">{body}</div> : null}
    </>
  );
}

/** A place where text streams. */
export function LiveRow({ segment, place }: { segment: LiveSegment; place: StepPlace }) {
  switch (segment.kind) {
    case "text":
      return (
        <Lane dashed>
          <LiveText />
        </Lane>
      );
    case "thinking":
      return (
        <Lane dashed>
          <LiveThinking />
        </Lane>
      );
    case "call":
      return (
        <Lane dashed tight={!place.last}>
          <LiveCall segment={segment} place={place} />
        </Lane>
      );
  }
}

function LiveText() {
  return <Markdown source={useLiveText(liveName("text", null))} />;
}

/** Lines of thinking that are shown while it streams. */
const THINKING_CHARACTERS = 600;

function LiveThinking() {
  const thinking = useLiveText(liveName("thinking", null));
  const [shown, setShown] = useState(false);
  const end = thinking.slice(-THINKING_CHARACTERS);
  return (
    <>
      <button type="button" className="thought" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name="think" />
        <span>{words.thinking}</span>
        <Icon name={shown ? "down" : "right"} />
      </button>
      <div className="thinking">{shown || end === thinking ? thinking : `… ${end}`}</div>
    </>
  );
}

function LiveCall({ segment, place }: { segment: LiveSegment; place: StepPlace }) {
  const json = useLiveText(liveName("call", segment.callId));
  const view = toolView({ tool: segment.tool, arguments: "", request: null, details: null });
  return (
    <div className={`step ${place.first ? "is-first" : ""} ${place.last ? "is-last" : ""}`}>
      <div className="step-head">
        <Icon name={view.icon} className="muted" />
        <span className="verb">{view.verb}</span>
        <span className="what cut">{partialWhat(segment.tool, json)}</span>
        <span className="grow" />
        <span className="meta">{words.step.writing}</span>
      </div>
    </div>
  );
}

export const QuestionRow = memo(function QuestionRow({ item, open }: { item: Question; open: boolean }) {
  if (item.answers === null) return null;
  return (
    <Lane dashed={open}>
      <div className="note">
        <Icon name="you" />
        <span>{words.note.question}</span>
        <span className="cut">{item.question}</span>
        <span className="text2">{item.answers.length === 0 ? words.note.declined : item.answers.join(", ")}</span>
      </div>
    </Lane>
  );
});
