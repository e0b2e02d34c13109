/** The upper edge of the drawer: dragged, or moved by the arrow keys, it changes the drawer's height. */
import { type RefObject, useRef, useState } from "react";

import { text } from "../../text/en";

/** Heights in pixels: three lines with the tabs at least, and room for the conversation above. */
const LEAST = 96;
const LEFT_ABOVE = 160;
const STEP = 24;

let kept: number | null = null;

export function DrawerGrip({ drawer }: { drawer: RefObject<HTMLElement | null> }) {
  const [height, setHeight] = useState<number | null>(kept);
  const from = useRef<{ y: number; height: number } | null>(null);
  const apply = (wanted: number) => {
    const node = drawer.current;
    if (node === null) return;
    const next = Math.round(Math.max(LEAST, Math.min(wanted, innerHeight - LEFT_ABOVE)));
    node.style.height = `${next}px`;
    kept = next;
    setHeight(next);
  };
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
      aria-valuenow={height ?? Math.round(current())}
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
      ref={(node) => {
        // The height that the user chose holds when the drawer is shown again.
        if (node !== null && kept !== null && drawer.current !== null && drawer.current.style.height === "") drawer.current.style.height = `${kept}px`;
      }}
    />
  );
}
