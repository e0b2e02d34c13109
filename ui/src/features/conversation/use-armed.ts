/**
 * Whether an allow may be pressed: half a second after the card took its place, and once its end was seen.
 *
 * So that a key that was meant for something else can't allow, and nothing is allowed unread.
 */
import { type RefObject, useEffect, useState } from "react";

/** Longer than the time between two keys of a fast typist. */
export const ARMING_MS = 500;

/** Without it nothing could ever be allowed, so then the wait alone counts. */
const CAN_OBSERVE = typeof IntersectionObserver !== "undefined";

export function useArmed(id: string, end: RefObject<HTMLElement | null>): boolean {
  const [waited, setWaited] = useState<string | null>(null);
  const [seen, setSeen] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(id), ARMING_MS);
    return () => clearTimeout(timer);
  }, [id]);
  useEffect(() => {
    const target = end.current;
    if (!target || !CAN_OBSERVE) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(id);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, [id, end]);
  return waited === id && (seen === id || !CAN_OBSERVE);
}
