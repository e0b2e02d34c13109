/** Watches how wide an element is in text units. */
import { type RefObject, useLayoutEffect, useState } from "react";

import { remPixels } from "./file-tree-view";

/** Returns whether the element is at least so many rem wide. True until it was measured. */
export function useRoom(element: RefObject<HTMLElement | null>, rem: number): boolean {
  const [roomy, setRoomy] = useState(true);
  useLayoutEffect(() => {
    const node = element.current;
    if (node === null || typeof ResizeObserver === "undefined") return;
    const measure = () => setRoomy(node.clientWidth === 0 || node.clientWidth / remPixels() >= rem);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [element, rem]);
  return roomy;
}
