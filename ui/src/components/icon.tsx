/** One icon of the set, for the eye only: the control that holds it carries the name. */
import { FILLED, ICONS, type IconName } from "./icons";

export function Icon({ name, className = "" }: { name: IconName; className?: string }) {
  const filled = FILLED.has(name);
  return (
    <svg className={`i ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[name]} {...(filled ? { fill: "currentColor", stroke: "none" } : {})} />
    </svg>
  );
}
