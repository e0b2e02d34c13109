/** A piece of code in prose: its language, its colours, and a way to copy it. */
import { useEffect, useState } from "react";

import { text } from "../text/en";
import type { CodeRun } from "./code-highlight";
import { IconButton } from "./icon-button";

/** Longer code stays plain: parsing it would be felt. */
const COLOURED_CHARACTERS = 60_000;

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const runs = useColours(code, language);
  return (
    <div className="code-box">
      <div className="code-head">
        <span className="grow">{language}</span>
        <CopyButton value={code} />
      </div>
      {/* It scrolls sideways, so it must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          {runs
            ? runs.map((run, i) => (
                // Runs are never moved or kept: their place is their identity.
                <span key={i} className={run.className || undefined}>
                  {run.text}
                </span>
              ))
            : code}
        </code>
      </pre>
    </div>
  );
}

function useColours(code: string, language: string): CodeRun[] | null {
  const [made, setMade] = useState<{ code: string; runs: CodeRun[] } | null>(null);
  useEffect(() => {
    if (language === "" || code.length > COLOURED_CHARACTERS) return undefined;
    let wanted = true;
    const colour = async () => {
      // Parsers are large and only colour: the text is shown without waiting for them.
      const { colourCode, parserOf } = await import("./code-highlight");
      const parser = await parserOf(language);
      if (wanted && parser) setMade({ code, runs: colourCode(code, parser) });
    };
    colour().catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [code, language]);
  return made?.code === code ? made.runs : null;
}

/** Copies a text; tells that it did. */
export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  const { code } = text.conversation;
  return <IconButton small icon={copied ? "check" : "copy"} name={copied ? code.copied : code.copy} onClick={copy} />;
}
