/** Lines added and removed, as numbers with their sign. A zero is left out; two leave nothing. */
export function LineCounts({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span className="num counts">
      {added > 0 ? <span className="add">+{added.toLocaleString("en")}</span> : null}
      {removed > 0 ? <span className="del">−{removed.toLocaleString("en")}</span> : null}
    </span>
  );
}
