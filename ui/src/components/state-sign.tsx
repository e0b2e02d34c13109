/** The sign of a state: shape and colour together; the word stands beside it or in `label`. */
export type SignName = "busy" | "attention" | "ready" | "idle" | "failed";

const SHAPES: Record<SignName, React.ReactNode> = {
  busy: (
    <>
      <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.5" opacity=".35" />
      <path d="M6 1.8A4.2 4.2 0 0 1 10.2 6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </>
  ),
  attention: <path d="M6 .8 11.2 6 6 11.2.8 6z" fill="currentColor" />,
  ready: (
    <path
      d="M2.2 10.3C.9 10.3.2 9.2.3 7.7.5 5 2 3.3 4.6 3L6.8 2.8c3-.2 4.8 1.3 5 4 .2 2.2-.8 3.5-2.6 3.5z"
      fill="currentColor"
    />
  ),
  idle: <circle cx="6" cy="6" r="3" fill="none" stroke="currentColor" strokeWidth="1.3" />,
  failed: (
    <path d="M2.6 2.6l6.8 6.8M9.4 2.6 2.6 9.4" stroke="currentColor" strokeWidth="1.9" strokeLinecap="round" />
  ),
};

export function StateSign({ name, label }: { name: SignName; label?: string }) {
  const named = label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return (
    <svg className={`state is-${name}`} viewBox="0 0 12 12" {...named}>
      {SHAPES[name]}
    </svg>
  );
}
