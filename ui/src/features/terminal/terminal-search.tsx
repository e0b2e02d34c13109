/** The find bar of a terminal. */
import { useEffect, useRef, useState } from "react";

import { IconButton } from "../../components/icon-button";
import { text } from "../../text/en";

type Props = {
  matches: { at: number; all: number };
  onFind: (query: string, direction: "next" | "previous", typing: boolean) => void;
  onClose: () => void;
};

export function TerminalSearch({ matches, onFind, onClose }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const words = text.terminal;
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="terminal-search" role="search">
      <input
        ref={field}
        type="search"
        className="input"
        value={query}
        placeholder={words.search}
        aria-label={words.search}
        spellCheck={false}
        onChange={(event) => {
          setQuery(event.target.value);
          onFind(event.target.value, "next", true);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter") onFind(query, event.shiftKey ? "previous" : "next", false);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className="small muted num" role="status">
        {query === "" ? "" : words.matches(matches.at, matches.all)}
      </span>
      <IconButton small icon="up" name={words.searchPrevious} onClick={() => onFind(query, "previous", false)} />
      <IconButton small icon="down" name={words.searchNext} onClick={() => onFind(query, "next", false)} />
      <IconButton small icon="close" name={words.searchClose} keys="Esc" onClick={onClose} />
    </div>
  );
}
