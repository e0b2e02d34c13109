/** Ends an exhaustive switch: the types say that nothing is left, and a newer shell may still send something. */
export function never<T>(_value: never, otherwise: T): T {
  return otherwise;
}
