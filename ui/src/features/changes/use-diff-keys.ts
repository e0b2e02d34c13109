/** Acts on the keys of the changes panel, wherever the focus is, unless it is in a field or a dialog. */
import { type RefObject, useEffect, useRef } from "react";

import { type DiffAct, diffAct } from "./keys";

/** `root` bounds Esc: it closes only when the focus is inside or nowhere, so that it does not steal it from the composer. */
export function useDiffKeys(root: RefObject<HTMLElement | null> | null, acts: Partial<Record<DiffAct, () => void>>): void {
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const act = diffAct(event);
      const run = act === null ? undefined : latest.current[act];
      if (run === undefined || isCovered(event.target)) return;
      if (act === "close" && !isInside(event.target, root?.current ?? null)) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [root]);
}

function isInside(target: EventTarget | null, root: HTMLElement | null): boolean {
  return target === document.body || target === document.documentElement || (target instanceof Node && root !== null && root.contains(target));
}

/** A dialog, a menu or the terminal has the keys. */
function isCovered(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return true;
  return target instanceof Element && target.closest('[role="menu"], .xterm') !== null;
}
