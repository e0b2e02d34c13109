/** Reads what a command of the shell rejected with. The code decides, the message is for the user. */
import type { ErrorCode } from "../protocol";
import { ShellError } from "./shell";

/** Returns the sentence to show. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a command was refused for this reason. */
export function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof ShellError && error.code === code;
}
