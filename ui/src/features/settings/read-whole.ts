/** Reads a whole number that a user typed, `1,000` and `1 000` too; nothing when it is none or out of range. */
export function readWhole(typed: string, least: number, most: number): number | null {
  const plain = typed.trim().replace(/[\s,_]/g, "");
  if (!/^\d{1,12}$/.test(plain)) return null;
  const value = Number(plain);
  return value >= least && value <= most ? value : null;
}
