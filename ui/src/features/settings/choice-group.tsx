/** One setting with a few values, each with a word or two on what it does. */
import { useId } from "react";

export type Option<T extends string> = { value: T; name: string; note?: string; disabled?: boolean };

type Props<T extends string> = {
  label: string;
  value: T;
  options: readonly Option<T>[];
  onChoose: (value: T) => void;
};

export function ChoiceGroup<T extends string>({ label, value, options, onChoose }: Props<T>) {
  const name = useId();
  return (
    <fieldset className="choice-group">
      <legend>{label}</legend>
      <div className="panel">
        {options.map((option) => (
          <label key={option.value} className={option.disabled ? "is-off" : ""}>
            <input type="radio" name={name} checked={option.value === value} disabled={option.disabled} onChange={() => onChoose(option.value)} />
            <span>
              <span className="choice-name">{option.name}</span>
              {option.note === undefined ? null : <span className="choice-note">{option.note}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
