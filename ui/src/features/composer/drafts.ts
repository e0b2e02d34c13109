/** What was written and not sent, by session, and texts that another view puts into the field. */
import { useEffect, useLayoutEffect, useRef } from "react";

import { useDraftRequests } from "../../state/draft-requests";

const drafts = new Map<string, string>();

export function draftOf(sessionId: string): string {
  return drafts.get(sessionId) ?? "";
}

export function keepDraft(sessionId: string, value: string): void {
  if (value === "") drafts.delete(sessionId);
  else drafts.set(sessionId, value);
}

/** Calls back when another view asks to write something into this session's field. */
export function useDraftFill(sessionId: string, fill: (value: string) => void): void {
  const latest = useRef(fill);
  useLayoutEffect(() => {
    latest.current = fill;
  });
  const request = useDraftRequests((requests) => requests.request);
  useEffect(() => {
    if (request?.sessionId !== sessionId) return;
    useDraftRequests.setState({ request: null });
    if (!request.offer || draftOf(sessionId) === "") latest.current(request.text);
  }, [request, sessionId]);
}
