/** Approvals: what is shown is whole, an allow is armed late, and the answer carries the record (D-6, security 3.7). */
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { commandRequest, editRequest } from "../../backend/scripted-messages";
import type { ApprovalAnswerParams, ApprovalRequest } from "../../protocol";
import { playApp, playSession, playShell, TEST_SETTINGS, violations } from "../../test-shell";
import { ApprovalCard } from "./approval-card";
import { ARMING_MS } from "./use-armed";

const answers: ApprovalAnswerParams[] = [];
let applied = true;
/** Whether the end of the card is on the screen. */
let endSeen = true;

class SeenObserver {
  readonly #tell: IntersectionObserverCallback;

  constructor(tell: IntersectionObserverCallback) {
    this.#tell = tell;
  }

  observe(): void {
    this.#tell([{ isIntersecting: endSeen } as IntersectionObserverEntry], this as unknown as IntersectionObserver);
  }

  disconnect(): void {
    this.observe = () => undefined;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  answers.length = 0;
  applied = true;
  endSeen = true;
  vi.stubGlobal("IntersectionObserver", SeenObserver);
  playApp();
  playSession([], []);
  playShell({
    approval: {
      answer: async (params) => {
        answers.push(params);
        return { applied };
      },
    },
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function show(request: ApprovalRequest): HTMLElement {
  render(<ApprovalCard request={request} index={0} count={1} />);
  return screen.getByRole("article");
}

const arm = () => act(() => vi.advanceTimersByTime(ARMING_MS));
const press = async (target: HTMLElement, key: string) => {
  fireEvent.keyDown(target, { key });
  await act(async () => undefined);
};

it("takes the focus, but not from a message that is being written", () => {
  const field = document.createElement("textarea");
  document.body.append(field);
  field.value = "half a sentence";
  field.focus();
  const card = show(commandRequest("a", "session-1", "make"));
  expect(document.activeElement).toBe(field);
  field.remove();
  card.remove();
});

it("does not allow before half a second has passed", async () => {
  const card = show(commandRequest("a", "session-1", "make"));
  expect(document.activeElement).toBe(card);
  await press(card, "Enter");
  expect(answers).toEqual([]);
  arm();
  await press(card, "Enter");
  expect(answers).toEqual([{ sessionId: "session-1", approvalId: "a", digest: commandRequest("a", "session-1", "make").digest, answer: { kind: "allow_once" } }]);
});

it("does not allow before the end of the card was seen", async () => {
  endSeen = false;
  const card = show(commandRequest("a", "session-1", "make"));
  arm();
  await press(card, "Enter");
  expect(answers).toEqual([]);
});

it("answers once, however often the key is pressed", async () => {
  const card = show(commandRequest("a", "session-1", "make"));
  arm();
  fireEvent.keyDown(card, { key: "Enter" });
  fireEvent.keyDown(card, { key: "Enter" });
  await act(async () => undefined);
  expect(answers).toHaveLength(1);
});

it("denies that one call with Esc, at once", async () => {
  await press(show(commandRequest("a", "session-1", "make")), "Escape");
  expect(answers.map((one) => one.answer)).toEqual([{ kind: "deny", reason: "" }]);
});

it("sends the reason with a deny", async () => {
  show(commandRequest("a", "session-1", "make"));
  fireEvent.click(screen.getByText("Deny…"));
  const field = screen.getByLabelText("Reason for the agent");
  fireEvent.change(field, { target: { value: " use cargo " } });
  await press(field, "Enter");
  expect(answers.map((one) => one.answer)).toEqual([{ kind: "deny", reason: "use cargo" }]);
});

it("offers always only where the record does, with the rule in words", () => {
  const request = commandRequest("a", "session-1", "cargo test --all");
  show(request);
  expect(screen.getByText('allow command "cargo test …"')).toBeTruthy();
  expect(screen.getByText("Always allow…")).toBeTruthy();
});

it("shows no always without a rule", () => {
  const request = commandRequest("a", "session-1", "cargo test");
  delete request.always;
  show(request);
  expect(screen.queryByText("Always allow…")).toBeNull();
});

it("says that the system's dialog decides what widens, and stays when the user says no there", async () => {
  applied = false;
  const card = show(commandRequest("a", "session-1", "docker ps", { class: "widening", sandbox: { kind: "unconfined" } }));
  expect(screen.getByText("Only the system's dialog can allow this")).toBeTruthy();
  expect(card.textContent).toContain("Not confined.");
  arm();
  await press(card, "Enter");
  expect(screen.getByText("Not allowed in the dialog. It still waits.")).toBeTruthy();
});

it("marks every allow as native when the setting says so", () => {
  playApp({ settings: { ...TEST_SETTINGS, nativeApprovals: true } });
  show(commandRequest("a", "session-1", "make"));
  expect(screen.getByText("Allow once…", { exact: false })).toBeTruthy();
});

it("shows a command whole and makes hidden characters visible", () => {
  const command = `echo a\u202eb \\\n  | ${"x".repeat(5000)}\n\u200bend`;
  const card = show(commandRequest("a", "session-1", command));
  expect(card.textContent).toContain("x".repeat(5000));
  expect(card.textContent).toContain("\\u{202e}");
  expect(card.textContent).toContain("\\u{200b}end");
  expect(card.textContent).not.toContain("\u202e");
});

it("shows every line of an edit", () => {
  const added = Array.from({ length: 700 }, (_, i) => `+line ${i}`).join("\n");
  const card = show(editRequest("a", "session-1", "src/a.rs", `@@ -1,1 +1,700 @@\n-old\n${added}\n`));
  expect(card.querySelectorAll(".diff-line")).toHaveLength(701);
  expect(card.getAttribute("aria-label")).toBe("Approval: Change src/a.rs?");
});

it("has no violation of accessibility", async () => {
  const card = show(commandRequest("a", "session-1", "make"));
  vi.useRealTimers();
  expect(await violations(card)).toEqual([]);
});
