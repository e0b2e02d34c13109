/**
 * Plays turns, their changes and rollbacks for tests and for `npm run dev`. It touches no file and is not in the product.
 *
 * The content is made up, yet behaves as the store does: a plan has a token, a stale one is refused, a restore is a record
 * that can be brought back.
 */
import type { ChangedFile, DiffHunk, DiffLine, FileDiff, LineRun, RestoreRecord, RestoreReport, RestoreRequest, RestoreStep, TurnChanges, TurnRecord } from "../protocol";
import { type Backend, ShellError } from "./backend";

/** Told after each rollback: all turns and restores. */
export type OnTurns = (turns: TurnRecord[], restores: RestoreRecord[]) => void;

export interface ScriptedChanges {
  changes: Backend["changes"];
  turns(): TurnRecord[];
  restores(): RestoreRecord[];
  /** Makes the next confirmation stale, as an edit by another program would. */
  disturb(): void;
}

const SHA = "8f1c2a6d3be94f05a7c1d2e3f4a5b6c7d8e9fa0b";

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 14, minutes)).toISOString();

/** A turn of the script, closed and covered. */
export function scriptedTurn(number: number, summary: [files: number, added: number, removed: number], more: Partial<TurnRecord> = {}): TurnRecord {
  return {
    turnId: `turn-${number}`,
    number,
    before: SHA,
    after: SHA,
    state: "closed",
    completeness: { state: "protected" },
    summary: { files: summary[0], added: summary[1], removed: summary[2] },
    standing: { state: "active" },
    startedAt: at(number * 4),
    endedAt: at(number * 4 + 2),
    ...more,
  };
}

/** A changed file of the script. */
export function scriptedFile(path: string, more: Partial<ChangedFile> = {}): ChangedFile {
  return { path, kind: "modified", source: "agent", renamedFrom: null, added: 3, removed: 1, binary: false, oldSize: 1200, newSize: 1300, rolledBack: false, ...more };
}

/** Reads `-`, `+` and ` ` lines; `[[` and `]]` mark the changed words. */
export function scriptedHunk(oldStart: number, newStart: number, heading: string, source: string): DiffHunk {
  let oldLine = oldStart;
  let newLine = newStart;
  const lines = source.split("\n").map((raw): DiffLine => {
    const kind = raw[0] === "+" ? "added" : raw[0] === "-" ? "removed" : "context";
    return {
      kind,
      old: kind === "added" ? null : oldLine++,
      new: kind === "removed" ? null : newLine++,
      runs: runsOf(raw.slice(1)),
      noNewline: false,
    };
  });
  return { oldStart, newStart, heading, lines };
}

function runsOf(text: string): LineRun[] {
  return text.split(/(\[\[.*?\]\])/).filter((part) => part !== "").map((part) => (part.startsWith("[[") ? { text: part.slice(2, -2), changed: true } : { text: part, changed: false }));
}

const WORKER: DiffHunk[] = [
  scriptedHunk(
    41,
    41,
    "impl Worker {",
    ` async fn deliver(&self, item: Delivery) -> Outcome {
     let reply = self.client.post(&item.url, &item.body).await;
     match reply {
         Ok(r) if r.status().is_success() => Outcome::Done,
-        Ok(r) => Outcome::[[Failed]](r.status()),
-        Err(e) => Outcome::[[Failed]](e.into()),
+        Ok(r) if r.status().is_server_error() => {
+            self.try_again(item, self.clock.now()).await
+        }
+        Ok(r) => Outcome::[[Refused]](r.status()),
+        Err(e) if e.is_timeout() => self.try_again(item, self.clock.now()).await,
+        Err(e) => Outcome::[[Unreachable]](e.into()),
     }
 }`,
  ),
  scriptedHunk(
    78,
    82,
    "impl Worker {",
    `+    /// Puts the delivery back with a delay, or gives up at the ceiling.
+    async fn try_again(&self, item: Delivery, now: Instant) -> Outcome {
+        let Some(delay) = backoff::next(item.attempts) else {
+            return Outcome::GaveUp(item.attempts);
+        };
+        self.queue.put(item.after(now + delay)).await
+    }
+
     fn sign(&self, body: &[u8]) -> Signature {
-        Signature::new(&self.key, body, [[Instant::now()]])
+        Signature::new(&self.key, body, [[self.clock.now()]])
     }`,
  ),
];

const BACKOFF = scriptedHunk(
  0,
  1,
  "",
  `+//! How long to wait before a delivery is tried again.
+
+const FIRST: u64 = 250;
+const CEILING: u64 = 15_000;
+
+/// The delay after \`attempts\` failures, or nothing once we give up.
+pub fn next(attempts: u32) -> Option<Duration> {
+    let base = FIRST.saturating_mul(1 << attempts.min(16));
+    (attempts < 12).then(|| Duration::from_millis(base.min(CEILING)))
+}`,
);

const FILES: ChangedFile[] = [
  scriptedFile("src/delivery/backoff.rs", { kind: "created", added: 10, removed: 0, oldSize: null }),
  scriptedFile("src/delivery/worker.rs", { added: 15, removed: 3 }),
  scriptedFile("src/delivery/mod.rs", { added: 2, removed: 2 }),
  scriptedFile("tests/delivery.rs", { added: 24, removed: 0 }),
  scriptedFile("assets/logo.png", { source: "shell", binary: true, added: 0, removed: 0, oldSize: 14_200, newSize: 15_900 }),
  scriptedFile("Cargo.lock", { source: "shell", added: 8, removed: 5 }),
  scriptedFile("fixtures/old.json", { source: "shell", kind: "deleted", added: 0, removed: 96, newSize: null }),
  scriptedFile("scripts/run.sh", { source: "shell", kind: "mode_changed", added: 0, removed: 0 }),
  scriptedFile("docs/webhooks.md", { source: "outside", added: 9, removed: 0 }),
];

/** Makes the changes of a session with the given turns; all turns have the same files. */
export function scriptedChanges(startTurns: TurnRecord[], onTurns: OnTurns = () => undefined, files: ChangedFile[] = FILES): ScriptedChanges {
  let turns = startTurns;
  let restores: RestoreRecord[] = [];
  let generation = 0;
  let disturbed = false;
  const tell = () => onTurns(turns, restores);
  const find = (turnId: string): TurnRecord => {
    const turn = turns.find((one) => one.turnId === turnId);
    if (turn === undefined) throw new ShellError({ code: "not_found", message: "this turn is not known (any more)" });
    return turn;
  };
  const setStanding = (report: RestoreReport, standing: TurnRecord["standing"]) => {
    turns = turns.map((turn) => (turn.turnId === report.turn_id ? { ...turn, standing } : turn));
  };
  const steps = (request: RestoreRequest): RestoreStep[] =>
    files
      .filter((file) => file.source !== "outside" && (request.paths === null || request.paths.includes(file.path)))
      .map((file) => stepOf(file, request.takeSnapshot))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const record = (report: RestoreReport) => {
    restores = [...restores, { report, undoneBy: null }];
    tell();
    return report;
  };
  const report = (turnId: string, more: Partial<RestoreReport>): RestoreReport => ({
    restore_id: `restore-${restores.length + 1}`,
    session_id: "session-1",
    turn_id: turnId,
    outcome: { kind: "exact" },
    steps: [],
    not_covered: [],
    safety: SHA,
    at: new Date(Date.UTC(2026, 10, 30, 15, 2 + restores.length)).toISOString(),
    ...more,
  });
  const changes: Backend["changes"] = {
    list: async ({ turnId }): Promise<TurnChanges> => {
      const turn = find(turnId);
      const gone = turn.standing.state === "rolled_back";
      return { turn, files: turn.summary.files === 0 ? [] : files.map((file) => ({ ...file, rolledBack: gone && file.source !== "outside" })), skipped: [{ path: "dump.sql", reason: "larger than 50 MB" }] };
    },
    diff: async ({ turnId, path, fromHunk }) => {
      find(turnId);
      return diffOf(path, files, fromHunk);
    },
    plan: async ({ request }) => ({
      request,
      token: `token-${generation}`,
      steps: steps(request),
      notCovered: [{ path: "dump.sql", reason: "larger than 50 MB" }],
    }),
    restore: async ({ request, token }) => {
      if (disturbed || token !== `token-${generation}`) {
        disturbed = false;
        generation += 1;
        throw new ShellError({ code: "stale", message: "a file changed since the list was made" });
      }
      generation += 1;
      const made = report(request.turnId, { target: request.target, steps: steps(request) });
      setStanding(made, request.paths === null ? { state: "rolled_back" } : { state: "partly", rolled_back: request.paths.length });
      return record(made);
    },
    bringBack: async ({ restoreId }) => {
      const open = restores.findLast((one) => one.undoneBy === null && one.report.undoes === undefined && (restoreId === null || one.report.restore_id === restoreId));
      if (open === undefined) throw new ShellError({ code: "not_found", message: "there is nothing to bring back" });
      const made = report(open.report.turn_id, { undoes: open.report.restore_id, steps: open.report.steps });
      restores = restores.map((one) => (one === open ? { ...one, undoneBy: made.restore_id } : one));
      setStanding(made, { state: "active" });
      return record(made);
    },
  };
  return {
    changes,
    turns: () => turns,
    restores: () => restores,
    disturb: () => {
      disturbed = true;
    },
  };
}

function stepOf(file: ChangedFile, takeSnapshot: readonly string[]): RestoreStep {
  const step = (action: RestoreStep["action"], note: string | null = null): RestoreStep => ({ path: file.path, action, note, added: file.removed, removed: file.added });
  if (file.path === "tests/delivery.rs") return takeSnapshot.includes(file.path) ? step("taken_back") : { ...step("kept_yours", "Edited at 14:47, in the same lines"), added: 0, removed: 0 };
  if (file.path === "src/delivery/mod.rs") return step("merged");
  if (file.path === "scripts/run.sh") return step("unchanged");
  switch (file.kind) {
    case "created":
      return step("deleted", "unchanged since");
    case "deleted":
      return step("created_again");
    default:
      return step("taken_back");
  }
}

function diffOf(path: string, files: readonly ChangedFile[], fromHunk: number): FileDiff {
  const file = files.find((one) => one.path === path);
  if (file === undefined) throw new ShellError({ code: "not_found", message: "this path did not change in the turn" });
  const base = { path, kind: file.kind, oldMode: file.kind === "created" ? null : "100644", newMode: file.kind === "deleted" ? null : file.kind === "mode_changed" ? "100755" : "100644" };
  if (file.binary) return { ...base, content: { kind: "binary", reason: "Binary file, no text to compare" } };
  if (file.kind === "mode_changed") return { ...base, content: { kind: "text", hunks: [], truncated: false } };
  const hunks = path.endsWith("worker.rs") ? WORKER : path.endsWith("backoff.rs") ? [BACKOFF] : madeHunks(file);
  // One hunk a page where there are several, so that paging is always exercised.
  return { ...base, content: { kind: "text", hunks: hunks.slice(fromHunk, fromHunk + 1), truncated: fromHunk + 1 < hunks.length } };
}

/** As many changed lines as the file's counts say. */
function madeHunks(file: ChangedFile): DiffHunk[] {
  const line = (sign: string, index: number) => `${sign}    let value_${index} = "line ${index} of ${file.path}"; // ${index % 7}`;
  const source = [
    ...Array.from({ length: file.removed }, (_, index) => line("-", index)),
    ...Array.from({ length: file.added }, (_, index) => line("+", index)),
    "     }",
  ];
  return [scriptedHunk(file.kind === "created" ? 0 : 12, file.kind === "deleted" ? 0 : 12, "fn main() {", source.join("\n"))];
}

/** A turn with so many files and lines: what the panel must bear without freezing. */
export function manyFiles(count: number, linesEach: number): ChangedFile[] {
  return Array.from({ length: count }, (_, index) => scriptedFile(`src/part_${String(index % 40).padStart(2, "0")}/file_${String(index).padStart(4, "0")}.rs`, { added: linesEach, removed: 0 }));
}
