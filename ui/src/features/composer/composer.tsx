/**
 * Where the user writes: sends or queues a message, picks mode and model, sees how full the context is.
 *
 * A draft belongs to its session and outlives a switch to another one.
 */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";

import { Button } from "../../components/button";
import { interrupt, send } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { isBusy, type SessionState } from "../../state/session";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { ContextGauge } from "./context-gauge";
import { draftOf, keepDraft, useDraftFill } from "./drafts";
import { earlierTexts } from "./history";
import { ModeMenu, nextMode } from "./mode-menu";
import { ModelMenu } from "./model-menu";
import { ProblemBanner } from "./problem-banner";
import { Queue } from "./queue";

const words = text.conversation.composer;

export function Composer({ state }: { state: SessionState }) {
  const { summary } = state;
  const field = useRef<HTMLTextAreaElement>(null);
  const [value, setValue] = useState(() => draftOf(summary.id));
  /** Which earlier message is shown; -1 is the draft. */
  const [earlier, setEarlier] = useState(-1);
  const busy = isBusy(summary);
  const asking = state.pending.length > 0 || state.questions.length > 0;

  const put = (next: string) => {
    setValue(next);
    keepDraft(summary.id, next);
  };
  useDraftFill(summary.id, (fill) => {
    put(fill);
    field.current?.focus();
  });
  useEffect(() => {
    if (!document.activeElement || document.activeElement === document.body) field.current?.focus();
  }, []);
  useAutoHeight(field, value);

  const submit = async () => {
    const trimmed = value.trim();
    if (trimmed === "") return;
    put("");
    setEarlier(-1);
    // What could not be sent is given back, unless something new was written meanwhile.
    if (!(await send(summary.id, trimmed)) && draftOf(summary.id) === "") put(trimmed);
  };
  const recall = (step: 1 | -1) => {
    const texts = earlierTexts(state);
    const next = Math.min(texts.length - 1, Math.max(-1, earlier + step));
    if (next === earlier) return;
    setEarlier(next);
    put(texts[next] ?? "");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const recalled = earlier >= 0 && value === earlierTexts(state)[earlier];
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) void submit();
    else if (event.key === "Tab" && event.shiftKey) void setMode(summary.id, nextMode(summary.mode));
    else if (event.key === "ArrowUp" && !event.altKey && (value === "" || recalled)) recall(1);
    else if (event.key === "ArrowDown" && !event.altKey && recalled) recall(-1);
    else if (event.key === "Escape" && busy && !asking) interrupt();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const hint = asking ? words.hintAsking : busy ? words.hintBusy : words.hint;
  return (
    <div className="composer-wrap">
      <ProblemBanner />
      <Queue
        sessionId={summary.id}
        queue={state.queue}
        onEdit={(taken) => {
          put(value.trim() === "" ? taken : `${taken}\n\n${value}`);
          field.current?.focus();
        }}
      />
      <div className="composer">
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={value}
          placeholder={hint}
          aria-label={words.label}
          spellCheck
          onChange={(event) => put(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="chips">
          <ModeMenu mode={summary.mode} onChoose={(mode) => void setMode(summary.id, mode)} />
          <ModelMenu summary={summary} />
          <span className="grow" />
          <ContextGauge state={state} />
          <Submit busy={busy} empty={value.trim() === ""} onSubmit={() => void submit()} />
        </div>
      </div>
    </div>
  );
}

async function setMode(sessionId: string, mode: SessionState["summary"]["mode"]): Promise<void> {
  await attempt("session", () => shell().session.setMode({ sessionId, mode }));
}

/** Grows the field with its text; engines without `field-sizing` need the height set. */
function useAutoHeight(field: React.RefObject<HTMLTextAreaElement | null>, value: string): void {
  const room = useNavigation((navigation) => navigation.room);
  useLayoutEffect(() => {
    if (field.current && !CSS.supports?.("field-sizing", "content")) fitHeight(field.current);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the height follows the text and the width
  }, [field, value, room]);
}

function fitHeight(element: HTMLElement): void {
  element.style.height = "auto";
  element.style.height = `${element.scrollHeight}px`;
}

/** The keys make each button a new one: one that turned into another would fade, white on white. */
function Submit({ busy, empty, onSubmit }: { busy: boolean; empty: boolean; onSubmit: () => void }) {
  if (!busy) {
    return (
      <Button key="send" dense tone="primary" keyCap="Enter" disabled={empty} onClick={onSubmit}>
        {words.send}
      </Button>
    );
  }
  return (
    <>
      <Button key="queue" dense keyCap="Enter" disabled={empty} onClick={onSubmit}>
        {words.queue}
      </Button>
      <Button dense tone="stop" icon="stop" title={`${words.stop}  Esc`} onClick={interrupt}>
        {words.stop}
      </Button>
    </>
  );
}
