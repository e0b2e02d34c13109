/** The upper edge of the drawer: dragged, or moved by the arrow keys, it changes the drawer's height. */
import { type RefObject, useLayoutEffect, useRef, useState } from "react";

import { text } from "../../text/en";

/** Heights in pixels: three lines with the tabs at least, and room for the conversation above. */
const LEAST = 96;
const LEFT_ABOVE = 160;
const STEP = 24;

/** The height that the user chose holds when the drawer is shown again. */
const kept: { height: number | null } = { height: null };

export function DrawerGrip({ drawer }: { drawer: RefObject<HTMLElement | null> }) {
  const [height, setHeight] = useState<number | null>(kept.height);
  const from = useRef<{ y: number; height: number } | null>(null);
  const apply = (wanted: number) => {
    const node = drawer.current;
    if (node === null) return;
    const next = Math.round(Math.max(LEAST, Math.min(wanted, innerHeight - LEFT_ABOVE)));
    node.style.setProperty("height", `${next}px`);
    kept.height = next;
    setHeight(next);
  };
  useLayoutEffect(() => {
    if (kept.height !== null) drawer.current?.style.setProperty("height", `${kept.height}px`);
  }, [drawer]);
  const current = () => drawer.current?.getBoundingClientRect().height ?? LEAST;
  return (
    <div
      className="drawer-grip"
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={text.terminal.resize}
      aria-valuemin={LEAST}
      aria-valuemax={Math.max(LEAST, innerHeight - LEFT_ABOVE)}
      aria-valuenow={height ?? LEAST}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { y: event.clientY, height: current() };
      }}
      onPointerMove={(event) => {
        if (from.current !== null) apply(from.current.height + from.current.y - event.clientY);
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onPointerCancel={() => {
        from.current = null;
      }}
      onKeyDown={(event) => {
        if (event.key === "ArrowUp") apply(current() + STEP);
        else if (event.key === "ArrowDown") apply(current() - STEP);
        else return;
        event.preventDefault();
      }}
    />
  );
}
