/** Plays a terminal for tests and for `npm run dev`: it echoes, knows three commands, and is not in the product. */
import type { TerminalSummary } from "../protocol";
import { type Backend, ShellError, type TerminalChunk } from "./backend";

const PROMPT = "\u001b[32mharbour-api\u001b[0m $ ";

type Open = { summary: TerminalSummary; listener: ((chunk: TerminalChunk) => void) | null; line: string; replay: string };

export interface ScriptedTerminal {
  terminal: Backend["terminal"];
  /** All that was written, by terminal. */
  written(id: string): string;
  acknowledged(): number;
}

/** Makes the terminals. The commands are `exit`, `colours` and `flood N`; anything else is answered by itself. */
export function scriptedTerminal(): ScriptedTerminal {
  const open = new Map<string, Open>();
  const written = new Map<string, string>();
  let count = 0;
  let acknowledged = 0;
  const find = (id: string): Open => {
    const one = open.get(id);
    if (one === undefined) throw new ShellError({ code: "not_found", message: "this terminal is closed" });
    return one;
  };
  const say = (one: Open, text: string) => {
    one.replay += text;
    one.listener?.({ kind: "bytes", bytes: new TextEncoder().encode(text) });
  };
  const run = (one: Open, line: string) => {
    if (line === "exit") {
      one.summary = { ...one.summary, state: { state: "exited", code: 0 } };
      one.listener?.({ kind: "exited" });
    } else if (line === "colours") {
      say(one, `${[31, 32, 33, 34, 35, 36].map((colour) => `\u001b[${colour}mcolour ${colour}\u001b[0m`).join(" ")} https://example.com/docs\r\n${PROMPT}`);
    } else if (line.startsWith("flood ")) {
      for (let index = 0; index < Number(line.slice(6)); index++) say(one, `line ${index}\r\n`);
      say(one, PROMPT);
    } else {
      say(one, `${line === "" ? "" : `you said: ${line}\r\n`}${PROMPT}`);
    }
  };
  return {
    written: (id) => written.get(id) ?? "",
    acknowledged: () => acknowledged,
    terminal: {
      list: async () => [...open.values()].map((one) => one.summary),
      open: async ({ workspaceId }) => {
        count += 1;
        const summary: TerminalSummary = { id: `terminal-${count}`, workspaceId, title: "bash", state: { state: "running" } };
        open.set(summary.id, { summary, listener: null, line: "", replay: PROMPT });
        return summary;
      },
      attach: async ({ terminalId }, listener) => {
        const one = find(terminalId);
        one.listener = listener;
        listener({ kind: "bytes", bytes: new TextEncoder().encode(one.replay) });
        if (one.summary.state.state === "exited") listener({ kind: "exited" });
        return () => {
          if (one.listener === listener) one.listener = null;
        };
      },
      write: async ({ terminalId, data }) => {
        const one = find(terminalId);
        written.set(terminalId, (written.get(terminalId) ?? "") + data);
        for (const key of data) {
          if (key === "\r") {
            say(one, "\r\n");
            run(one, one.line);
            one.line = "";
          } else if (key === "\u007f") {
            if (one.line !== "") say(one, "\b \b");
            one.line = one.line.slice(0, -1);
          } else if (key >= " ") {
            one.line += key;
            say(one, key);
          }
        }
      },
      ack: async ({ bytes }) => {
        acknowledged += bytes;
      },
      resize: async ({ terminalId }) => {
        find(terminalId);
      },
      close: async ({ terminalId }) => {
        open.delete(terminalId);
      },
    },
  };
}
