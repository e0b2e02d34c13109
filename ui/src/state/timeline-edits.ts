/** The single edits of a timeline: each gives a new one and leaves the old as it is. */
import type { EventMsg, StopReason } from "../protocol";
import type { Block, CallItem, Item, Note, Timeline, TurnBlock } from "./timeline";

/** A turn of which nothing is known yet. */
export function emptyTurn(key: string): TurnBlock {
  return {
    kind: "turn",
    key,
    turnId: null,
    number: null,
    startedAt: null,
    items: [],
    before: null,
    after: null,
    ending: null,
    abortReason: null,
  };
}

/** Adds a block at the end. */
export function addBlock(timeline: Timeline, block: Block): Timeline {
  return { ...timeline, blocks: [...timeline.blocks, block] };
}

/** Adds a line of the trace that can't be read. */
export function addGap(timeline: Timeline, seq: number): Timeline {
  return { ...timeline, blocks: [...timeline.blocks, { kind: "gap", key: `gap${seq}`, seq }] };
}

/** Edits the last turn; makes one without a beginning where a page starts inside a turn, or after a restore. */
export function editTurn(timeline: Timeline, edit: (turn: TurnBlock) => TurnBlock): Timeline {
  const last = timeline.blocks.at(-1);
  if (last?.kind === "turn") {
    const edited = edit(last);
    return edited === last ? timeline : { ...timeline, blocks: [...timeline.blocks.slice(0, -1), edited] };
  }
  // A part that can't be read may lie inside a turn; nothing else may.
  const index = timeline.blocks.findLastIndex((block) => block.kind !== "gap");
  const found = timeline.blocks[index];
  if (found?.kind === "turn" && found.ending === null) {
    return { ...timeline, blocks: timeline.blocks.with(index, edit(found)) };
  }
  return addBlock(timeline, edit(emptyTurn(`f${timeline.blocks.length}-${timeline.lastAt ?? ""}`)));
}

/** Adds an item to the last turn. */
export function addItem(timeline: Timeline, item: Item): Timeline {
  return editTurn(timeline, (turn) => ({ ...turn, items: [...turn.items, item] }));
}

/** Adds a note to the last turn. */
export function addNote(timeline: Timeline, key: string, at: string, note: Note): Timeline {
  return addItem(timeline, { kind: "note", key, note, at });
}

/** Adds what the engine told the model; what it told of a restore belongs to the restore. */
export function addTold(timeline: Timeline, key: string, at: string, text: string): Timeline {
  const last = timeline.blocks.at(-1);
  if (last?.kind !== "restore" || last.told !== null) return addNote(timeline, key, at, { about: "engine_text", text });
  return { ...timeline, blocks: [...timeline.blocks.slice(0, -1), { ...last, told: text }] };
}

/** Edits a call, wherever it is; the newest turns are looked at first. A call on an older page is left out. */
export function editCall(timeline: Timeline, callId: string, edit: (call: CallItem) => CallItem): Timeline {
  for (let b = timeline.blocks.length - 1; b >= 0; b -= 1) {
    const block = timeline.blocks[b];
    if (block?.kind !== "turn") continue;
    const i = block.items.findLastIndex((item) => item.kind === "call" && item.callId === callId);
    const call = block.items[i];
    if (call?.kind !== "call") continue;
    return { ...timeline, blocks: timeline.blocks.with(b, { ...block, items: block.items.with(i, edit(call)) }) };
  }
  return timeline;
}

function isOpenRetry(item: Item): boolean {
  return item.kind === "note" && item.note.about === "retry" && item.note.until !== null;
}

function endRetry(item: Item): Item {
  if (item.kind !== "note" || item.note.about !== "retry" || item.note.until === null) return item;
  return { ...item, note: { ...item.note, until: null } };
}

/** Ends the waits that are shown; the same list when there is none. */
export function endRetries(items: readonly Item[]): readonly Item[] {
  return items.some(isOpenRetry) ? items.map(endRetry) : items;
}

type RequestEnd = Extract<EventMsg, { type: "request_end" }>;

/** Several attempts in a row are one note whose number grows. */
export function addRetry(timeline: Timeline, key: string, at: string, event: RequestEnd, delayMs: number): Timeline {
  const until = new Date(Date.parse(at) + delayMs).toISOString();
  const note: Note = { about: "retry", attempt: event.attempt ?? 1, message: event.error_message ?? "", until };
  const block = timeline.blocks.at(-1);
  const last = block?.kind === "turn" ? block.items.at(-1) : undefined;
  if (last?.kind === "note" && last.note.about === "retry") {
    return editTurn(timeline, (turn) => ({ ...turn, items: [...turn.items.slice(0, -1), { ...last, note, at }] }));
  }
  return addNote(timeline, key, at, note);
}

/** Ends the note of a compaction that runs; adds one where its beginning is on an older page. */
export function endCompaction(timeline: Timeline, key: string, at: string, ended: StopReason, message: string | null): Timeline {
  const note: Note = { about: "compacted", ended, message };
  let found = false;
  const edited = editTurn(timeline, (turn) => {
    const i = turn.items.findLastIndex((item) => item.kind === "note" && item.note.about === "compacted" && item.note.ended === null);
    const item = turn.items[i];
    if (item?.kind !== "note") return turn;
    found = true;
    return { ...turn, items: turn.items.with(i, { ...item, note }) };
  });
  return found ? edited : addNote(timeline, key, at, note);
}
