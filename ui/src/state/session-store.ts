/**
 * The session that is open in the window: opens it, follows its feed, loads older pages. One at a time.
 *
 * What the feed means is folded in `session.ts`; text that streams is in `live-texts.ts`.
 */
import { useSyncExternalStore } from "react";
import { create } from "zustand";

import type { ErrorInfo, FeedItem, SessionView } from "../protocol";
import { LiveTexts } from "./live-texts";
import { openState, reduceFeed, type SessionState, withOlder } from "./session";
import { shell, ShellError, type Unsubscribe } from "./shell";

/** Messages of an older page. A page is about three windows of text. */
export const PAGE_MESSAGES = 200;

export interface SessionStore {
  /** The session that is open or being opened. */
  id: string | null;
  state: SessionState | null;
  error: ErrorInfo | null;
  loadingOlder: boolean;
}

const CLOSED: SessionStore = { id: null, state: null, error: null, loadingOlder: false };

export const useSession = create<SessionStore>()(() => CLOSED);

/** Text that streams in the open session. */
export const liveTexts = new LiveTexts();

/** One opening of a session. A later one makes all that an earlier one still brings void. */
class Opening {
  /** Items that came while the session was being read; null once it is. */
  held: FeedItem[] | null = [];
  unsubscribe: Unsubscribe = () => undefined;
  closed = false;

  close(): void {
    this.closed = true;
    this.unsubscribe();
  }
}

let opening: Opening | null = null;

/** Opens a session, or does nothing when it is open already. */
export async function openSession(id: string): Promise<void> {
  if (useSession.getState().id === id && opening && !opening.closed) return;
  const mine = begin(id);
  try {
    const end = await shell().session.subscribe({ sessionId: id }, (items) => receive(mine, id, items));
    if (mine.closed) return end();
    mine.unsubscribe = end;
    await read(mine, id);
  } catch (cause) {
    if (!mine.closed) useSession.setState({ error: toErrorInfo(cause) });
  }
}

/** Shows a session that was just made: its view is known, only the feed is missing. */
export async function adoptSession(view: SessionView): Promise<void> {
  await openSession(view.summary.id);
}

/** Closes the open session; its turn goes on. */
export function closeSession(): void {
  opening?.close();
  opening = null;
  liveTexts.clear();
  useSession.setState(CLOSED);
}

function begin(id: string): Opening {
  opening?.close();
  opening = new Opening();
  liveTexts.clear();
  useSession.setState({ ...CLOSED, id });
  return opening;
}

/** Reads the session and applies what came meanwhile; again as long as something was missed. */
async function read(mine: Opening, id: string): Promise<void> {
  for (;;) {
    mine.held = [];
    const view = await shell().session.open({ sessionId: id });
    if (mine.closed) return;
    const held = mine.held;
    // A place that streamed while the session was read is known from its deltas, though its head may be missing.
    const { state, resync } = reduceFeed(openState(view), held.filter((item) => item.kind !== "resync"));
    useSession.setState({ state, error: null });
    liveTexts.apply(held);
    if (!resync) break;
  }
  mine.held = null;
}

function receive(mine: Opening, id: string, items: readonly FeedItem[]): void {
  if (mine.closed) return;
  if (mine.held) {
    mine.held.push(...items);
    return;
  }
  const { state } = useSession.getState();
  if (!state) return;
  liveTexts.apply(items);
  const result = reduceFeed(state, items);
  if (result.state !== state) useSession.setState({ state: result.state });
  if (result.resync) {
    liveTexts.clear();
    read(mine, id).catch((cause: unknown) => {
      if (!mine.closed) useSession.setState({ error: toErrorInfo(cause) });
    });
  }
}

/** Loads the page before the first message that is known. */
export async function loadOlder(): Promise<void> {
  const { id, state, loadingOlder } = useSession.getState();
  if (!id || !state?.hasMore || loadingOlder) return;
  useSession.setState({ loadingOlder: true });
  try {
    const page = await shell().session.history({ sessionId: id, before: state.firstSeq, limit: PAGE_MESSAGES });
    const now = useSession.getState();
    if (now.id === id && now.state) useSession.setState({ state: withOlder(now.state, page) });
  } catch (cause) {
    useSession.setState({ error: toErrorInfo(cause) });
  } finally {
    if (useSession.getState().id === id) useSession.setState({ loadingOlder: false });
  }
}

/** Makes an `ErrorInfo` out of whatever was thrown. */
export function toErrorInfo(cause: unknown): ErrorInfo {
  if (cause instanceof ShellError) return { code: cause.code, message: cause.message };
  return { code: "internal", message: cause instanceof Error ? cause.message : String(cause) };
}

/** Returns text that streams, and renders again when it grows. */
export function useLiveText(name: string): string {
  return useSyncExternalStore(
    (listener) => liveTexts.subscribe(name, listener),
    () => liveTexts.get(name),
  );
}
