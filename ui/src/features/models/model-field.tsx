/** One labelled field with its note and its problem. */
import { type ReactNode, useId } from "react";

import { Icon } from "../../components/icon";
import { text } from "../../text/en";
import type { FieldProblem } from "./model-form";

type Props = {
  label: string;
  note: string;
  value: string;
  problem: FieldProblem | null;
  onChange: (value: string) => void;
  mono?: boolean;
  /** Never shown, never completed by the webview. */
  secret?: boolean;
  readOnly?: boolean;
  autoFocus?: boolean;
  children?: ReactNode;
};

export function ModelField({ label, note, value, problem, onChange, mono = false, secret = false, readOnly = false, autoFocus = false, children }: Props) {
  const id = useId();
  return (
    <div className="field-box">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={`input ${mono || secret ? "mono" : ""}`}
        type={secret ? "password" : "text"}
        value={value}
        readOnly={readOnly}
        placeholder={secret ? text.models.fields.keyPlaceholder : undefined}
        autoComplete={secret ? "new-password" : "off"}
        autoCapitalize="off"
        spellCheck={false}
        autoFocus={autoFocus}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.target.value)}
      />
      {children}
      <p id={`${id}-note`} className={`small ${problem === null ? "muted" : "danger field-problem"}`}>
        {problem === null ? (
          note
        ) : (
          <>
            <Icon name="warn" />
            {text.models.problems[problem]}
          </>
        )}
      </p>
    </div>
  );
}
