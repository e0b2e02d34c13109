/** Time that runs, since an instant or until one, counted once a second. */
import { elapsed } from "../text/format";
import { useNow } from "./use-now";

export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  return <span className="num">{elapsed(now - Date.parse(since))}</span>;
}
