/** What a step shows of a call: verb, object and counts, made from the tool's name and arguments. Pure. */
import type { IconName } from "../../components/icons";
import type { CallItem } from "../../state/timeline";
import { text } from "../../text/en";

export interface ToolView {
  icon: IconName;
  verb: string;
  /** What it acts on, in mono: a path, a command, a pattern. */
  what: string;
}

const { verbs } = text.conversation;

type Known = { icon: IconName; verb: string; fields: readonly string[] };

/** Icon, verb and the argument that names the object, by tool. */
const KNOWN: Readonly<Record<string, Known>> = {
  read_file: { icon: "read", verb: verbs.read, fields: ["path", "file_path"] },
  list_files: { icon: "tree", verb: verbs.list, fields: ["path"] },
  write_file: { icon: "edit", verb: verbs.write, fields: ["path", "file_path"] },
  replace_in_file: { icon: "edit", verb: verbs.edit, fields: ["path", "file_path"] },
  apply_patch: { icon: "edit", verb: verbs.patch, fields: [] },
  apply_unified_diff: { icon: "edit", verb: verbs.patch, fields: [] },
  run_shell: { icon: "shell", verb: verbs.run, fields: ["command", "cmd"] },
  shell_task_output: { icon: "shell", verb: verbs.follow, fields: ["task_id", "id"] },
  shell_task_kill: { icon: "stop", verb: verbs.kill, fields: ["task_id", "id"] },
  grep: { icon: "search", verb: verbs.search, fields: ["pattern", "query"] },
  web_search: { icon: "net", verb: verbs.searchWeb, fields: ["query"] },
  web_fetch: { icon: "net", verb: verbs.fetch, fields: ["url"] },
  git_log: { icon: "clock", verb: verbs.git, fields: ["path"] },
  git_status: { icon: "clock", verb: verbs.git, fields: ["path"] },
  git_diff: { icon: "clock", verb: verbs.git, fields: ["path"] },
  ask_user: { icon: "you", verb: verbs.askYou, fields: ["question"] },
  propose_plan: { icon: "plan", verb: verbs.propose, fields: [] },
  request_directory: { icon: "folder", verb: verbs.askFolder, fields: ["path", "directory"] },
  todo_write: { icon: "plan", verb: verbs.plan, fields: [] },
  explore: { icon: "agent", verb: verbs.explore, fields: ["task", "prompt"] },
  use_skill: { icon: "skill", verb: verbs.skill, fields: ["name"] },
};

/** Reads JSON arguments; what is not an object counts as empty. */
export function parseArguments(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Returns what a step shows. */
export function toolView(call: Pick<CallItem, "tool" | "arguments" | "request" | "details">): ToolView {
  const known = KNOWN[call.tool];
  const args = parseArguments(call.arguments);
  const edits = call.details?.edits ?? [];
  if (edits.length > 0) {
    const created = edits.every((edit) => edit.kind === "created");
    return { icon: "edit", verb: created ? verbs.create : (known?.verb ?? verbs.edit), what: edits.map((edit) => edit.path).join(", ") };
  }
  const field = known?.fields.map((name) => args[name]).find((value) => typeof value === "string");
  if (known && typeof field === "string") return { icon: known.icon, verb: known.verb, what: oneLine(field) };
  if (known) return { icon: known.icon, verb: known.verb, what: known.fields.length === 0 ? "" : call.tool.replace("git_", "") };
  const first = Object.values(args).find((value) => typeof value === "string");
  return { icon: "plug", verb: verbs.other, what: `${call.tool}${typeof first === "string" ? ` ${oneLine(first)}` : ""}` };
}

function oneLine(value: string): string {
  const line = value.trim().split("\n", 1)[0] ?? "";
  return line === value.trim() ? line : `${line} …`;
}

/** The object of a call that is still being written: what can be read of its arguments so far. */
export function partialWhat(tool: string, json: string): string {
  for (const field of KNOWN[tool]?.fields ?? []) {
    const found = new RegExp(`"${field}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(json);
    if (!found) continue;
    try {
      return oneLine(JSON.parse(`"${found[1] ?? ""}"`) as string);
    } catch {
      return found[1] ?? "";
    }
  }
  return "";
}

/** Lines of an output that a step shows unasked: the end while it runs, the start of it when it failed. */
export function tail(output: string, lines: number): { shown: string; hidden: number } {
  const all = output.replace(/\n+$/, "").split("\n");
  if (all.length <= lines) return { shown: all.join("\n"), hidden: 0 };
  return { shown: all.slice(-lines).join("\n"), hidden: all.length - lines };
}

/** Drops colour and cursor sequences of a terminal: a step shows plain text. */
export function withoutControls(output: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that are meant
  const plain = output.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, "");
  // A carriage return inside a line draws over it: what was drawn last is kept.
  return plain.replace(/\r\n/g, "\n").replace(/^.*\r(?!$)/gm, "").replaceAll("\r", "");
}
