/**
 * Makes the rows of the conversation's list out of the folded session. Pure; rows of turns that did not change are
 * the same objects as before, so that only what changed renders.
 */
import type { ApprovalRequest, PendingQuestion, RestoreRecord, RestoreReport, TurnRecord } from "../protocol";
import type { LiveSegment, SessionState } from "./session";
import type { Block, CallItem, Item, TurnBlock } from "./timeline";

/** Where a step stands in its box of neighbouring steps. */
export type StepPlace = { first: boolean; last: boolean };

export type Row =
  | { kind: "item"; key: string; item: Exclude<Item, CallItem>; time: string | null; open: boolean }
  | { kind: "step"; key: string; call: CallItem; place: StepPlace; open: boolean; running: boolean }
  | { kind: "live"; key: string; segment: LiveSegment; place: StepPlace }
  | { kind: "card"; key: string; request: ApprovalRequest; index: number; count: number }
  | { kind: "waiting"; key: string; requests: readonly ApprovalRequest[] }
  | { kind: "question"; key: string; question: PendingQuestion }
  | { kind: "ending"; key: string; turn: TurnBlock }
  | { kind: "stone"; key: string; turn: TurnBlock; record: TurnRecord | null; open: boolean }
  | { kind: "crash"; key: string; turn: TurnBlock; record: TurnRecord | null; calls: readonly CallItem[]; last: boolean }
  | { kind: "restore"; key: string; report: RestoreReport; told: string | null; record: RestoreRecord | null; turnNumber: number | null }
  | { kind: "gap"; key: string; seq: number };

const rowsByBlock = new WeakMap<Block, { record: TurnRecord | null; open: boolean; rows: readonly Row[] }>();

/** Returns every row, oldest first. `shown` is the approval whose card is open; the first one when it is gone. */
export function conversationRows(state: SessionState, shown: string | null): Row[] {
  const { blocks } = state.timeline;
  const records = new Map(state.turns.map((turn) => [turn.turnId, turn]));
  const restores = new Map(state.restores.map((restore) => [restore.report.restore_id, restore]));
  const openTurn = runningTurn(state);
  const rows: Row[] = [];
  blocks.forEach((block) => {
    switch (block.kind) {
      case "gap":
        rows.push({ kind: "gap", key: block.key, seq: block.seq });
        break;
      case "restore": {
        const turnNumber = records.get(block.report.turn_id)?.number ?? null;
        const record = restores.get(block.report.restore_id) ?? null;
        rows.push({ kind: "restore", key: block.key, report: block.report, told: block.told, record, turnNumber });
        break;
      }
      case "turn": {
        const record = block.turnId === null ? null : (records.get(block.turnId) ?? null);
        const open = block === openTurn;
        rows.push(...turnRows(block, record, open));
        if (open) rows.push(...openRows(state, block, shown));
        else if (isCrashed(block, record)) rows.push(crashRow(state, block, record));
        if (open || block.ending || record) rows.push(stoneRow(block, record, open));
        break;
      }
    }
  });
  return rows;
}

/** The turn that runs: the last one, as long as it has not ended and the session works. */
export function runningTurn(state: SessionState): TurnBlock | null {
  const last = state.timeline.blocks.findLast((block) => block.kind === "turn");
  if (last?.kind !== "turn" || last.ending !== null) return null;
  const { activity } = state.summary;
  return activity.state === "working" || activity.state === "needs_you" ? last : null;
}

function isCrashed(turn: TurnBlock, record: TurnRecord | null): boolean {
  return record?.state === "crashed" && turn.ending?.status !== "completed";
}

function turnRows(block: TurnBlock, record: TurnRecord | null, open: boolean): readonly Row[] {
  const known = rowsByBlock.get(block);
  if (known && known.record === record && known.open === open) return known.rows;
  const rows = block.items.map((item, i): Row => itemRow(block, item, i, open));
  if (!open && block.ending && (block.ending.error || block.ending.status !== "completed") && !isCrashed(block, record)) {
    rows.push({ kind: "ending", key: `${block.key}-end`, turn: block });
  }
  rowsByBlock.set(block, { record, open, rows });
  return rows;
}

function itemRow(block: TurnBlock, item: Item, i: number, open: boolean): Row {
  if (item.kind === "call") {
    const place = { first: block.items[i - 1]?.kind !== "call", last: block.items[i + 1]?.kind !== "call" };
    const running = open && item.output === null;
    return { kind: "step", key: item.key, call: item, place, open, running };
  }
  return { kind: "item", key: item.key, item, time: item.kind === "ask" ? item.at : null, open };
}

/** What stands between the items of a running turn and its stone: what streams, and what waits for the user. */
function openRows(state: SessionState, block: TurnBlock, shown: string | null): Row[] {
  const rows: Row[] = state.live.map((segment, i) => {
    const call = segment.kind === "call";
    const before = i > 0 && state.live[i - 1]?.kind === "call";
    return {
      kind: "live",
      key: segment.key,
      segment,
      place: { first: call && !before, last: state.live[i + 1]?.kind !== "call" },
    };
  });
  const { pending, questions } = state;
  const current = pending.find((request) => request.approval_id === shown) ?? pending[0];
  if (current) {
    const index = pending.indexOf(current);
    rows.push({ kind: "card", key: `a${current.approval_id}`, request: current, index, count: pending.length });
    if (pending.length > 1) {
      rows.push({ kind: "waiting", key: `${block.key}-waiting`, requests: pending.filter((one) => one !== current) });
    }
  }
  for (const question of questions) rows.push({ kind: "question", key: `q${question.questionId}`, question });
  return rows;
}

function stoneRow(turn: TurnBlock, record: TurnRecord | null, open: boolean): Row {
  return { kind: "stone", key: `${turn.key}-stone`, turn, record, open };
}

function crashRow(state: SessionState, turn: TurnBlock, record: TurnRecord | null): Row {
  const calls = turn.items.filter(
    (item): item is CallItem =>
      item.kind === "call" && (state.interruptedCalls.includes(item.callId) || (item.startedAt !== null && item.output === null)),
  );
  const last = state.timeline.blocks.findLast((block) => block.kind === "turn") === turn;
  return { kind: "crash", key: `${turn.key}-crash`, turn, record, calls, last };
}
