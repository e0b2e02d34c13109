/** A setting that is a whole number. It is taken over when the field is left, or by Enter; a wrong one is said and not kept. */
import { useId, useState } from "react";

import { text } from "../../text/en";
import { readWhole } from "./read-whole";

type Props = { label: string; note: string; unit: string; value: number; least: number; most: number; onSet: (value: number) => void };

export function NumberSetting({ label, note, unit, value, least, most, onSet }: Props) {
  const id = useId();
  const [typed, setTyped] = useState(String(value));
  const [held, setHeld] = useState(value);
  // The setting changed elsewhere: what is typed here is out of date.
  if (held !== value) {
    setHeld(value);
    setTyped(String(value));
  }
  const [wrong, setWrong] = useState(false);
  const take = () => {
    const read = readWhole(typed, least, most);
    setWrong(read === null);
    if (read !== null && read !== value) onSet(read);
  };
  return (
    <div className="setting">
      <label htmlFor={id}>{label}</label>
      <span className="setting-number">
        <input
          id={id}
          className="input num"
          inputMode="numeric"
          value={typed}
          aria-invalid={wrong}
          aria-describedby={`${id}-note`}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={take}
          onKeyDown={(event) => event.key === "Enter" && take()}
        />
        <span className="muted">{unit}</span>
      </span>
      <p id={`${id}-note`} className={`small ${wrong ? "danger" : "muted"}`}>
        {wrong ? text.settings.agent.notInRange(least, most) : note}
      </p>
    </div>
  );
}
