/**
 * The conversation of the open session: a virtual list that starts at its end, loads older pages on the way up, and
 * follows what streams until the user scrolls away.
 *
 * Which rows there are is decided in `state/rows.ts`; this file only places them.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { Button } from "../../components/button";
import { OpenLink } from "../../components/markdown/inert";
import { openLink } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { conversationRows, type Row } from "../../state/rows";
import type { SessionState } from "../../state/session";
import { loadOlder } from "../../state/session-store";
import { text } from "../../text/en";
import { Announcer } from "./announcer";
import { RowView } from "./row-view";
import { useStoneKeys } from "./use-stone-keys";

const words = text.conversation;

/** Distance from the end at which the list counts as being there. */
const END_PX = 48;
/** Distance from the start at which the page before is read. */
const OLDER_PX = 800;

/** Heights before a row was measured; the nearer, the calmer the scroll bar. */
const ESTIMATES: Record<Row["kind"], number> = {
  item: 72,
  step: 31,
  live: 40,
  card: 320,
  waiting: 90,
  question: 220,
  ending: 56,
  stone: 56,
  crash: 220,
  restore: 56,
  gap: 32,
};

export function Conversation({ state }: { state: SessionState }) {
  const scroller = useRef<HTMLDivElement>(null);
  const shown = useNavigation((navigation) => navigation.shownApproval);
  const rows = useMemo(() => conversationRows(state, shown), [state, shown]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.key ?? index,
    estimateSize: (index) => ESTIMATES[rows[index]?.kind ?? "item"],
    anchorTo: "end",
    scrollEndThreshold: END_PX,
    overscan: 8,
    paddingStart: 40,
    paddingEnd: 4,
  });
  const { following, toEnd, handlers } = useFollowing(scroller, () => virtualizer.scrollToEnd());
  const scrollTo = useCallback((index: number) => virtualizer.scrollToIndex(index, { align: "center" }), [virtualizer]);
  const stoneKeys = useStoneKeys(rows, scrollTo);

  const size = virtualizer.getTotalSize();
  const places = virtualizer.getVirtualItems();
  useLayoutEffect(() => {
    if (following) virtualizer.scrollToEnd();
  }, [virtualizer, following, rows, size]);
  // A card that was asked for must be in view, wherever the list is.
  useEffect(() => {
    if (shown !== null) toEnd();
  }, [shown, toEnd]);

  const onKeyDown = (event: KeyboardEvent) => {
    handlers.onKeyDown(event);
    stoneKeys(event);
  };
  return (
    <OpenLink.Provider value={openLink}>
      <div className="talk-wrap">
        {/* A pane that scrolls takes the focus, so that the arrow and page keys move it. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
        <div ref={scroller} className="talk" role="region" aria-label={words.label} tabIndex={0} {...handlers} onKeyDown={onKeyDown}>
          <div className="talk-list" style={{ height: size }}>
            {state.hasMore ? (
              <div className="talk-top">
                <button type="button" className="link" onClick={() => void loadOlder()}>
                  {words.loadOlder}
                </button>
              </div>
            ) : null}
            {/* The rows that are drawn follow one another, so that one that grew never lies on the next. */}
            <div className="talk-rows" style={{ top: places[0]?.start ?? 0 }}>
              {places.map((place) => {
                const row = rows[place.index];
                if (!row) return null;
                return (
                  <div key={place.key} ref={virtualizer.measureElement} data-index={place.index} className="talk-row">
                    <RowView row={row} first={place.index === 0 && !state.hasMore} last={place.index === rows.length - 1} />
                  </div>
                );
              })}
            </div>
          </div>
        </div>
        {following ? null : (
          <Button dense icon="down" className="latest" onClick={toEnd}>
            {words.latest}
          </Button>
        )}
        <Announcer state={state} />
      </div>
    </OpenLink.Provider>
  );
}

/** Follows the end until the user moves away from it; moving back to the end follows again. */
function useFollowing(scroller: React.RefObject<HTMLDivElement | null>, scrollToEnd: () => void) {
  const [following, setFollowing] = useState(true);
  /** Whether the next scroll is the user's: growth and measuring scroll too. */
  const byUser = useRef(false);
  const jump = useRef(scrollToEnd);
  useLayoutEffect(() => {
    jump.current = scrollToEnd;
  });
  // A pane that gets lower, because of the terminal or a longer message, keeps showing the end.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !following || typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(() => jump.current());
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, following]);

  const toEnd = useCallback(() => {
    setFollowing(true);
    jump.current();
  }, []);
  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (distance < 4) setFollowing(true);
    else if (byUser.current && distance > END_PX) setFollowing(false);
    if (element.scrollTop < OLDER_PX && byUser.current) void loadOlder();
  };
  const handlers = {
    onScroll,
    onWheel: () => {
      byUser.current = true;
    },
    onPointerDown: () => {
      byUser.current = true;
    },
    onTouchMove: () => {
      byUser.current = true;
    },
    onKeyDown: (event: KeyboardEvent) => {
      byUser.current = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "].includes(event.key) || byUser.current;
    },
  };
  return { following, toEnd, handlers };
}
