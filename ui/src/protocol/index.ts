/**
 * Every value that crosses between the window and the shell.
 *
 * Generated from the Rust crate `cairn-protocol`; never edited. To rewrite it:
 * `UPDATE_PROTOCOL=1 cargo test -p cairn-tests --test contract`.
 * A message or event of a newer version may carry a `type` that is not listed: ignore it.
 */

/**
 * What changed outside a session: sent to every window.
 */
export type AppEvent = { "kind": "session",
  /** The whole of it. */
  summary: SessionSummary, } | { "kind": "session_gone",
  /** Which. */
  sessionId: SessionId, } | { "kind": "workspaces",
  /** The whole of it. */
  workspaces: Array<WorkspaceSummary>, } | { "kind": "settings",
  /** The whole of them. */
  settings: Settings, } | { "kind": "providers",
  /** The whole of them. */
  providers: Array<ProviderEntry>, } | { "kind": "sandbox",
  /** The state. */
  sandbox: SandboxState, };

/**
 * `app.state`: all that the window needs at its start.
 */
export type AppState = {
  /** Cairn's version. */
  version: string,
  /** `linux`, `macos` or `windows`. */
  platform: string,
  /** The user's settings. */
  settings: Settings,
  /** Providers and models. */
  providers: Array<ProviderEntry>,
  /** Known workspaces, last used first. */
  workspaces: Array<WorkspaceSummary>,
  /** Sessions of all workspaces, last active first, at most 500. */
  sessions: Array<SessionSummary>,
  /** What confines commands here; absent until it was tested. */
  sandbox: SandboxState | null,
  /** Whether keys can be kept in the OS keychain; else why not. */
  keychain: KeychainState,
  /** What is wrong with the data on this machine and must be said at once. */
  problems: Array<string>, };

/**
 * What the user answers.
 */
export type ApprovalAnswer = { "kind": "deny",
  /** What to tell the model; may be empty. */
  reason: string, } | { "kind": "allow_once" } | { "kind": "always",
  /** For how long. `once` is not valid here. */
  scope: GrantScope, } | { "kind": "stop" };

/**
 * `approval.answer`: what widens is asked for again in a native dialog.
 */
export type ApprovalAnswerParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The question. */
  approvalId: ApprovalId,
  /** The digest of the record that was shown. */
  digest: string,
  /** The answer. */
  answer: ApprovalAnswer, };

/**
 * `approval.answer`: what came of it.
 */
export type ApprovalAnswerResult = {
  /** False when the user said neither yes nor no in the native dialog, and the question still waits. */
  applied: boolean, };

/**
 * Names one question to the user that waits for an answer.
 */
export type ApprovalId = string;

/**
 * What was decided about a call (P-18).
 */
export type ApprovalOutcome = "allow" | "deny" | "forbidden";

/**
 * All that the user is shown about a call that waits (security plan 3.7).
 */
export type ApprovalRequest = {
  /** Names the question. */
  approval_id: ApprovalId,
  /** The session. */
  session_id: SessionId,
  /** The turn. */
  turn_id: TurnId,
  /** The call. */
  tool_call_id: ToolCallId,
  /** The tool. */
  tool: string,
  /** The arguments as the model sent them. */
  arguments: string,
  /** What the call will do. */
  effects: CallEffects,
  /** Why it asks, for a person. */
  reason: string,
  /** How strong an answer it needs. */
  class: AskClass,
  /** What will confine the call's commands. */
  sandbox: SandboxPolicy,
  /** What "always" would store; absent when it is not offered. */
  always?: RuleMatcher,
  /**
  * SHA-256, hex, over the tool, the arguments, the effects and the sandbox. An answer must carry it, and the
  * executor checks it again.
  */
  digest: string,
  /** When the question was put. */
  created_at: string, };

/**
 * How strong an answer a question needs (D-6).
 */
export type AskClass = "confined" | "widening";

/**
 * What ran in the background.
 */
export type BackgroundKind = "command" | "subagent";

/**
 * What one call is about to do. Made by the tool from its arguments, read by the policy and the card.
 */
export type CallEffects = {
  /** The most that the call may do. */
  class: ToolClass,
  /** One line for a person, such as `Edit src/main.rs`. */
  title: string,
  /** Files and folders that it reads. */
  reads: Array<ResolvedPath>,
  /** Files that it writes, creates or deletes. */
  writes: Array<PlannedWrite>,
  /** The command that it runs. */
  command: PlannedCommand | null, };

/**
 * What happens to a path.
 */
export type ChangeKind = "created" | "modified" | "deleted" | "mode_changed" | "kind_changed";

/**
 * Who changed a path in a turn.
 */
export type ChangeSource = "agent" | "shell" | "outside";

/**
 * How much a turn changed.
 */
export type ChangeSummary = {
  /** Paths. */
  files: number,
  /** Lines added. */
  added: number,
  /** Lines removed. */
  removed: number, };

/**
 * One changed path.
 */
export type ChangedFile = {
  /** The path. */
  path: string,
  /** What happened. */
  kind: ChangeKind,
  /** Who changed it. */
  source: ChangeSource,
  /** Where it was before, when it seems to be renamed. For the viewer only: a rollback has both paths. */
  renamedFrom: string | null,
  /** Lines added; 0 for binary content. */
  added: number,
  /** Lines removed; 0 for binary content. */
  removed: number,
  /** Whether one side is binary. */
  binary: boolean,
  /** Bytes before. */
  oldSize: number | null,
  /** Bytes after. */
  newSize: number | null,
  /** Whether it was rolled back since. */
  rolledBack: boolean, };

/**
 * `changes.bring_back`: takes a restore back.
 */
export type ChangesBringBackParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The restore; the last one that is not undone when absent. */
  restoreId?: RestoreId | null, };

/**
 * `changes.diff`: the difference of one path in a turn.
 */
export type ChangesDiffParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The turn. */
  turnId: TurnId,
  /** The path. */
  path: string,
  /** The first hunk wanted, from 0. */
  fromHunk: number, };

/**
 * `changes.list`: what changed in a turn.
 */
export type ChangesListParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The turn. */
  turnId: TurnId, };

/**
 * `changes.plan`: what a rollback would do.
 */
export type ChangesPlanParams = {
  /** What is asked for. */
  request: RestoreRequest, };

/**
 * `changes.restore`: does what the plan with this token showed.
 */
export type ChangesRestoreParams = {
  /** What is asked for; equal to the plan's. */
  request: RestoreRequest,
  /** The plan's token. */
  token: string, };

/**
 * How a check went.
 */
export type CheckOutcome = "ok" | "warning" | "failed" | "skipped";

/**
 * How a context was made smaller.
 */
export type CompactionMode = "summarize" | "discard";

/**
 * What made a context smaller.
 */
export type CompactionReason = "context" | "turns" | "manual";

/**
 * How much of the workspace a capture covers: the three-state badge.
 */
export type Completeness = { "state": "protected" } | { "state": "partly",
  /** How many. */
  skipped: number,
  /** In one sentence, what and why. */
  reason: string, } | { "state": "not_protected",
  /** Why, and what to do. */
  reason: string, };

/**
 * One thing tried in a live test.
 */
export type ConnectionCheck = {
  /** What was tried, such as `Answers as a stream`. */
  name: string,
  /** How it went. */
  outcome: CheckOutcome,
  /** What was seen, and what to do when it failed. */
  detail: string, };

/**
 * What a live test of a connection showed.
 */
export type ConnectionTest = {
  /** One line per thing tried, in order. */
  checks: Array<ConnectionCheck>,
  /** Model ids that the endpoint lists; empty when it does not. */
  models: Array<string>,
  /** Time to the first token. */
  latencyMs: number | null, };

/**
 * A number of tokens, or the word `unknown`.
 */
export type ContextWindow = number | UnknownWord;

/**
 * What the policy says about a call, and why.
 */
export type Decision = {
  /** What is to happen. */
  verdict: Verdict,
  /** The step of the fixed order that decided (Z-45). */
  step: PolicyStep,
  /** Why, for a person. */
  reason: string,
  /** The rule that decided, literally. */
  rule: string | null,
  /** What "always" would store, where it may be offered. */
  always: RuleMatcher | null,
  /** What will confine the call's commands, if it runs. */
  sandbox: SandboxPolicy, };

/**
 * Who decided about a call.
 */
export type DecisionSource = "mode" | "rule" | "session_grant" | "user" | "native_dialog" | "policy" | "timeout" | "headless";

/**
 * The content difference of one path.
 */
export type DiffContent = { "kind": "text",
  /** Hunks with 3 lines of context, in order. */
  hunks: Array<DiffHunk>,
  /** Whether more lines follow that were left out (page by `from_hunk`). */
  truncated: boolean, } | { "kind": "binary",
  /** Why there is no text, for a person. */
  reason: string, } | { "kind": "missing",
  /** Why. */
  reason: string, };

/**
 * A run of changed lines with context.
 */
export type DiffHunk = {
  /** First line on the old side, from 1; 0 when that side is empty. */
  oldStart: number,
  /** First line on the new side, from 1; 0 when that side is empty. */
  newStart: number,
  /** The nearest line above that looks like a heading, for the hunk's title; may be empty. */
  heading: string,
  /** Its lines, in order. */
  lines: Array<DiffLine>, };

/**
 * How diffs are laid out.
 */
export type DiffLayout = "unified" | "split";

/**
 * One line of a hunk.
 */
export type DiffLine = {
  /** Which side it is on. */
  kind: LineKind,
  /** Its number on the old side, from 1. */
  old: number | null,
  /** Its number on the new side, from 1. */
  new: number | null,
  /** Its text in runs: each is marked when it is what changed within the line. No line end. */
  runs: Array<LineRun>,
  /** Whether the file ends here without a line end. */
  noNewline: boolean, };

/**
 * The cases that a caller can act on.
 */
export type ErrorCode = "not_found" | "invalid" | "turn_in_progress" | "not_running" | "not_pending" | "stale" | "declined" | "no_model" | "auth" | "io" | "workspace_missing" | "locked" | "unsupported" | "internal";

/**
 * What went wrong, for a person and for a program. The window decides by `code`, never by text.
 */
export type ErrorInfo = {
  /** What a caller can act on. */
  code: ErrorCode,
  /** What happened, why, and what to do, in one or two sentences. */
  message: string, };

/**
 * An event of a session.
 */
export type EventMsg = { "type": "tool_list_ready",
  /** The tools that the model is offered. */
  tools: Array<ToolDefinition>, } | { "type": "request_begin", } | { "type": "request_end",
  /** How it ended. */
  status: StopReason,
  /** Why, when it was not completed. */
  error_message?: string,
  /** The number of this attempt from 1; absent on a clean first one. */
  attempt?: number,
  /** Milliseconds until the next attempt, when there will be one in this run. */
  retry_in_ms?: number, } | { "type": "approval_request" } & ApprovalRequest | { "type": "approval_decision",
  /** What was decided. */
  decision: ApprovalOutcome,
  /** The call. */
  tool_call_id: ToolCallId,
  /** Who decided. */
  source?: DecisionSource,
  /** The rule that decided, literally. */
  rule?: string,
  /** For how long the decision holds. */
  scope?: GrantScope,
  /** What the user said to the model, with a denial. */
  reason?: string,
  /** The request that was answered, where there was one. */
  approval_id?: ApprovalId, } | { "type": "tool_started",
  /** The call. */
  tool_call_id: ToolCallId, } | { "type": "token_usage",
  /** Of the whole session. */
  session: TokenUsage,
  /** Of this request; `total` is also the present context size. */
  request: TokenUsage, } | { "type": "compaction_begin",
  /** What caused it. */
  reason: CompactionReason,
  /** How. */
  mode: CompactionMode,
  /** Tokens in context. */
  context: number,
  /** Turns in context. */
  turns: number, } | { "type": "compaction_end",
  /** What caused it. */
  reason: CompactionReason,
  /** How. */
  mode: CompactionMode,
  /** How it ended. */
  status: StopReason,
  /** The number of this attempt. */
  attempt?: number,
  /** Why it failed. */
  error_message?: string, } | { "type": "mcp_connect_begin",
  /** Their names. */
  servers: Array<string>, } | { "type": "mcp_connect_end",
  /** `failed` when at least one failed. */
  status: StopReason,
  /** One per server. */
  results: Array<McpConnectResult>, } | { "type": "abort",
  /** Why, where there is more to say than that the user stopped it. */
  reason: string | null, } | { "type": "subagent",
  /** The child. */
  session_id: SessionId, } | { "type": "goal_finished",
  /** How it ended. */
  outcome: GoalOutcome,
  /** Rounds run. */
  rounds: number,
  /** Tokens used. */
  tokens_used: number, } | { "type": "turn_begin",
  /** The turn. */
  turn_id: TurnId,
  /** Its number in the session, from 1. */
  number: number,
  /** The mode at its start. */
  mode: Mode,
  /** The model. */
  model: ModelRef,
  /** What the user typed, shortened to 200 characters; the whole text is the message that follows. */
  input: string, } | { "type": "turn_end",
  /** The turn. */
  turn_id: TurnId,
  /** How it ended (Z-60). */
  status: TurnStatus,
  /** Model requests with their tool calls. */
  iterations: number,
  /** Files that the turn created or changed, relative to the workspace (Z-61). */
  produced_files: Array<string>,
  /** Tokens of this turn. */
  usage: TokenUsage,
  /** How long it took. */
  duration_ms: number,
  /** What to tell the user, when it did not complete. */
  error?: ErrorInfo, } | { "type": "snapshot" } & SnapshotEvent | { "type": "restore" } & RestoreReport | { "type": "question",
  /** Names the question. */
  question_id: QuestionId,
  /** The call that asked. */
  tool_call_id: ToolCallId,
  /** The question. */
  question: string,
  /** Answers to choose from; may be empty. */
  options: Array<string>,
  /** Whether a free text may be given. */
  allow_text: boolean,
  /** Whether several options may be chosen. */
  multi: boolean, } | { "type": "question_answer",
  /** The question. */
  question_id: QuestionId,
  /** What the user chose or typed; empty when declined. */
  answers: Array<string>, } | { "type": "mode_change",
  /** The new mode. */
  mode: Mode, } | { "type": "model_change",
  /** The new model. */
  model: ModelRef, } | { "type": "sandbox_state" } & SandboxState | { "type": "todo",
  /** The whole list. */
  items: Array<TodoItem>, } | { "type": "title",
  /** The title. */
  title: string,
  /** Who gave it. */
  source: TitleSource, } | { "type": "notice",
  /** How much it matters. */
  level: NoticeLevel,
  /** What happened, why, and what to do. */
  info: ErrorInfo, };

/**
 * What a session's subscribers get, in order, at most one batch a frame.
 */
export type FeedItem = { "kind": "stored",
  /** Place in the session, from 1. */
  seq: number,
  /** The message. */
  message: Message, } | { "kind": "partial",
  /** The part. */
  message: Message, } | { "kind": "summary",
  /** The whole of it. */
  summary: SessionSummary, } | { "kind": "queue",
  /** The whole of it. */
  queue: Array<QueuedInput>, } | { "kind": "turns",
  /** All turns, oldest first. */
  turns: Array<TurnRecord>,
  /** All restores, oldest first. */
  restores: Array<RestoreRecord>, } | { "kind": "resync", };

/**
 * Opaque data of a provider, kept and sent back byte for byte (P-24): the raw JSON text.
 */
export type Fidelity = unknown;

/**
 * The difference of one path between two states.
 */
export type FileDiff = {
  /** The path. */
  path: string,
  /** What happened. */
  kind: ChangeKind,
  /** Octal mode before, such as `100644`. */
  oldMode: string | null,
  /** Octal mode after. */
  newMode: string | null,
  /** The content difference. */
  content: DiffContent, };

/**
 * One edit that a file tool made: the mark from which the snapshot knows the agent's own changes.
 */
export type FileEdit = {
  /** Relative to the workspace, with `/`. */
  path: string,
  /** What happened. */
  kind: ChangeKind,
  /** Lines added. */
  added: number,
  /** Lines removed. */
  removed: number, };

/**
 * How a goal run ended (P-21).
 */
export type GoalOutcome = "complete" | "blocked" | "budget_limited" | "aborted";

/**
 * For how long an approval holds.
 */
export type GrantScope = "once" | "session" | "workspace";

/**
 * A page of a session's history, oldest first.
 */
export type HistoryPage = {
  /** The messages. */
  messages: Array<StoredMessage>,
  /** Whether there are older ones. */
  hasMore: boolean,
  /** Places of lines that could not be read, shown as gaps. */
  gaps: Array<number>, };

/**
 * An image by http(s) address or `data:` URL (P-10).
 */
export type ImageUrl = {
  /** Who it speaks for. */
  role: Role,
  /** The address. */
  image_url: string, };

/**
 * An image or other data in place (P-10).
 */
export type InlineData = {
  /** Who it speaks for. */
  role: Role,
  /** Base64. */
  data: string,
  /** What the data is. */
  mime_type: string,
  /** Opaque data of the provider. */
  fidelity?: Fidelity, };

/**
 * Reasoning in a form that is not text (P-8).
 */
export type InlineThinking = {
  /** Always `assistant`. */
  role: Role,
  /** Base64. */
  data: string,
  /** What the data is. */
  mime_type: string,
  /** Opaque data of the provider. */
  fidelity?: Fidelity,
  /** How it ended. */
  stop_reason?: StopReason, };

/**
 * What to do with a key when there is no OS keychain (D-9).
 */
export type KeyFallback = "memory" | "file";

/**
 * Where a provider's key is kept (D-9). Never the key itself.
 */
export type KeySource = { "kind": "none" } | { "kind": "keychain" } | { "kind": "memory" } | { "kind": "file" } | { "kind": "env",
  /** The variable. */
  variable: string, };

/**
 * Whether the OS keychain works.
 */
export type KeychainState = { "state": "available" } | { "state": "unavailable",
  /** Why, and what to do. */
  reason: string, };

/**
 * Which side a line is on.
 */
export type LineKind = "context" | "added" | "removed";

/**
 * A run of text in a line.
 */
export type LineRun = {
  /** The text. */
  text: string,
  /** Whether it is what changed within the line. */
  changed: boolean, };

/**
 * A block with meaning for the window; stored beside the text that begins with it (P-31).
 */
export type Marker = { "tag": "use_skills",
  /** At least one name. */
  skills: Array<string>, } | { "tag": "handoff_from",
  /** The agent. */
  agent: Named,
  /** Its session. */
  session: Named,
  /** The workspace's path. */
  workspace: string, } | { "tag": "scheduled_task",
  /** The schedule's name. */
  schedule: string,
  /** When it fired. */
  fired_at: string, } | { "tag": "model_switch_from",
  /** The earlier session. */
  session: string,
  /** Its trace, where there is one. */
  trace?: string,
  /** The workspace's path. */
  workspace: string,
  /** The earlier model's id. */
  previous_model: string,
  /** Its provider. */
  previous_provider: string, } | { "tag": "background_task_done",
  /** Which of the two. */
  kind: BackgroundKind,
  /** Its id. */
  id: string,
  /** Whether it completed; else it failed. */
  completed: boolean,
  /** More about the end. */
  detail?: string, } | { "tag": "goal",
  /** From 1. */
  round: number,
  /** What the model reads after the first line. */
  text: string, } | { "tag": "user_steering",
  /** The words. */
  text: string, } | { "tag": "context_summary",
  /** The summary. */
  text: string, };

/**
 * How one tool server was connected (P-16).
 */
export type McpConnectResult = {
  /** Its name. */
  server: string,
  /** How it is reached. */
  transport: McpTransport,
  /** How it ended. */
  status: StopReason,
  /** How long it took. */
  duration_ms: number,
  /** How many tools it has. */
  tools?: number,
  /** Why it failed. */
  error?: string, };

/**
 * How a tool server is reached.
 */
export type McpTransport = "stdio" | "http" | "sse";

/**
 * One message: what streams to the window, what the trace stores, what the model sees (P-5).
 */
export type Message = {
  /** When the message was made. */
  timestamp: string,
  /** The child sessions that it came through, outer to inner; empty for the main session (P-23). */
  origin?: Array<SessionId>, } & ({ "type": "session_meta", "payload": SessionMeta } | { "type": "model_msg", "payload": ModelMsg } | { "type": "event_msg", "payload": EventMsg });

/**
 * What the agent may do without being asked (Z-44).
 */
export type Mode = "discuss" | "plan" | "interactive" | "auto";

/**
 * One model of a provider (P-57).
 */
export type ModelEntry = {
  /** The id at the provider. */
  modelId: string,
  /** How it is shown; the id when absent. */
  displayName?: string,
  /** Tokens, where known. */
  contextWindow?: number,
  /** The most tokens in one answer. */
  maxTokens?: number,
  /** Whether it reads images. */
  vision: boolean, };

/**
 * What the model, the user or a tool said, whole or in parts.
 */
export type ModelMsg = { "type": "text" } & Text | { "type": "thinking" } & Thinking | { "type": "inline_thinking" } & InlineThinking | { "type": "tool_call" } & ToolCall | { "type": "tool_call_output" } & ToolCallOutput | { "type": "image_url" } & ImageUrl | { "type": "inline_data" } & InlineData | { "type": "partial_text" } & PartialText | { "type": "partial_thinking" } & PartialThinking | { "type": "partial_tool_call" } & PartialToolCall | { "type": "partial_tool_call_output" } & PartialToolCallOutput;

/**
 * A model's identity: both halves, always (P-56).
 */
export type ModelRef = {
  /** The provider's name in the table. */
  provider: string,
  /** The model's id at that provider. */
  model_id: string, };

/**
 * An id with a name for people.
 */
export type Named = {
  /** The id. */
  id: string,
  /** The name, where it is known. */
  label?: string, };

/**
 * What a confined command may reach on the network.
 */
export type NetworkAccess = "none" | "full";

/**
 * How much a notice matters.
 */
export type NoticeLevel = "info" | "warning" | "error";

/**
 * `app.open_link`: asks natively, then opens an http, https or mailto address outside.
 */
export type OpenLinkParams = {
  /** The address. */
  url: string, };

/**
 * Which part of a segment this is: one start, any number of deltas, one stop, then the whole (P-12).
 */
export type PartialEvent = "start" | "delta" | "stop";

/**
 * A part of a text.
 */
export type PartialText = {
  /** Who it speaks for. */
  role: Role,
  /** Which part this is. */
  event_type: PartialEvent,
  /** The added text; empty on start and stop. */
  text: string,
  /** How it ended, on stop. */
  stop_reason?: StopReason, };

/**
 * A part of a reasoning.
 */
export type PartialThinking = {
  /** Always `assistant`. */
  role: Role,
  /** Which part this is. */
  event_type: PartialEvent,
  /** The added text; empty on start and stop. */
  thinking: string,
  /** How it ended, on stop. */
  stop_reason?: StopReason, };

/**
 * A part of a tool call. The name comes with the start; a delta is known by its id (P-11).
 */
export type PartialToolCall = {
  /** Always `assistant`. */
  role: Role,
  /** Which part this is. */
  event_type: PartialEvent,
  /** The tool's name on start, else empty. */
  name: string,
  /** The added JSON text. */
  arguments: string,
  /** The call. */
  tool_call_id: ToolCallId,
  /** How it ended, on stop. */
  stop_reason?: StopReason, };

/**
 * A part of what a running tool gives.
 */
export type PartialToolCallOutput = {
  /** Always `user`. */
  role: Role,
  /** Which part this is. */
  event_type: PartialEvent,
  /** The added text. */
  output: string,
  /** Images, whole, in a single delta. */
  images?: Array<string>,
  /** The call. */
  tool_call_id: ToolCallId,
  /** How it ended, on stop. */
  stop_reason?: StopReason, };

/**
 * A question of the model that waits (Z-39).
 */
export type PendingQuestion = {
  /** Names it. */
  questionId: QuestionId,
  /** The call that asked. */
  toolCallId: ToolCallId,
  /** The question. */
  question: string,
  /** Answers to choose from. */
  options: Array<string>,
  /** Whether a free text may be given. */
  allowText: boolean,
  /** Whether several options may be chosen. */
  multi: boolean, };

/**
 * A command that a call will run.
 */
export type PlannedCommand = {
  /** The shell text, byte for byte as it will run. */
  command: string,
  /** Where it runs. */
  cwd: ResolvedPath,
  /** After how long it is ended; absent means never. */
  timeoutMs: number | null,
  /** Whether it goes on after the call returns. */
  background: boolean, };

/**
 * One file that a call will write.
 */
export type PlannedWrite = {
  /** The file. */
  path: ResolvedPath,
  /** What happens to it. */
  kind: ChangeKind,
  /** SHA-256 of what is there now, hex; absent when nothing is there. Checked again before the write. */
  beforeSha256: string | null,
  /** The change as a unified diff, whole, when both sides are text. */
  diff: string | null,
  /** Lines added. */
  added: number,
  /** Lines removed. */
  removed: number, };

/**
 * The steps of the decision order, first match decides (Z-45 with the class gates of the security plan).
 */
export type PolicyStep = "hard_deny" | "command_veto" | "deny_rule" | "read_only_mode" | "outside_workspace" | "class_gate" | "ask_rule" | "read_allowed" | "auto_mode" | "shell_policy" | "command_rule" | "tool_rule" | "default";

/**
 * A connection that is being set up; the key goes in and never comes out.
 */
export type ProviderDraft = {
  /** The name. */
  name: string,
  /** How it is spoken to. */
  api: WireApi,
  /** The address. */
  baseUrl: string,
  /** The model to use. */
  modelId: string,
  /** Tokens, where the user knows it. */
  contextWindow?: number,
  /** Further headers. */
  headers: { [key in string]: string },
  /** The key; absent keeps the stored one. */
  key?: Secret,
  /** Where to keep the key when the OS keychain does not work. */
  fallback: KeyFallback, };

/**
 * `provider.test` and `provider.save`. It holds a key and can't be printed.
 */
export type ProviderDraftParams = {
  /** The connection as it is typed. */
  draft: ProviderDraft, };

/**
 * One provider of the table.
 */
export type ProviderEntry = {
  /** Its name; unique, letters, digits, `.`, `_` and `-`. */
  name: string,
  /** How it is spoken to. */
  api: WireApi,
  /** Without the endpoint's own path: `https://host/v1`. Empty for a script. */
  baseUrl: string,
  /** Further request headers. */
  headers: { [key in string]: string },
  /** Its models. */
  models: Array<ModelEntry>,
  /** Where its key is. */
  key: KeySource, };

/**
 * `provider.delete`.
 */
export type ProviderParams = {
  /** Its name. */
  name: string, };

/**
 * Names one `ask_user` question.
 */
export type QuestionId = string;

/**
 * A text that waits for the running turn to end (P-115).
 */
export type QueuedInput = {
  /** Names it. */
  id: string,
  /** The text. */
  text: string, };

/**
 * A path as it was named, and what it really is: links followed, missing parents resolved.
 */
export type ResolvedPath = {
  /** As the model named it. */
  requested: string,
  /** Absolute, canonical: every existing component resolved, the missing rest appended. */
  real: string,
  /** Relative to the workspace root with `/`, when it is inside it or is the root itself (`.`). */
  relative: string | null, };

/**
 * What happens to a path in a rollback.
 */
export type RestoreAction = "taken_back" | "created_again" | "deleted" | "merged" | "kept_yours" | "unchanged";

/**
 * Names one rollback, or the taking back of one.
 */
export type RestoreId = string;

/**
 * Whether a rollback came out as planned.
 */
export type RestoreOutcome = { "kind": "exact" } | { "kind": "differences",
  /** Each path with what is different. */
  paths: Array<SkippedPath>, };

/**
 * What a rollback would do; nothing has been touched yet.
 */
export type RestorePlan = {
  /** What was asked for. */
  request: RestoreRequest,
  /**
  * Hash over the plan and the present state of its paths. A confirmation must carry it; when anything moved
  * since, the restore is refused as stale.
  */
  token: string,
  /** One per path, sorted. */
  steps: Array<RestoreStep>,
  /** What can't be rolled back because it was not captured. */
  notCovered: Array<SkippedPath>, };

/**
 * A restore as the timeline shows it.
 */
export type RestoreRecord = {
  /** What it did. */
  report: RestoreReport,
  /** The restore that took this one back. */
  undoneBy: RestoreId | null, };

/**
 * What a rollback did. A restore is a recorded step of its own.
 */
export type RestoreReport = {
  /** Names the restore. */
  restore_id: RestoreId,
  /** The session. */
  session_id: SessionId,
  /** The turn. */
  turn_id: TurnId,
  /** Which state was asked for; absent when this brings back an earlier restore. */
  target?: RestoreTarget,
  /** The restore that this one takes back. */
  undoes?: RestoreId,
  /** `exact`, or each difference. */
  outcome: RestoreOutcome,
  /** What was done, one per path, sorted. */
  steps: Array<RestoreStep>,
  /** What could not be rolled back because it was not captured. */
  not_covered: Array<SkippedPath>,
  /** The state before the restore, from which it can be undone. */
  safety: SnapshotId,
  /** When it was done. */
  at: string, };

/**
 * What is to be rolled back.
 */
export type RestoreRequest = {
  /** The session. */
  sessionId: SessionId,
  /** The turn. */
  turnId: TurnId,
  /** Which state. */
  target: RestoreTarget,
  /** Only these paths; absent means all. */
  paths: Array<string> | null,
  /** Paths where the snapshot's version is to win over the user's. Every other conflict keeps the user's. */
  takeSnapshot: Array<string>, };

/**
 * What happens to one path.
 */
export type RestoreStep = {
  /** The path. */
  path: string,
  /** What happens. */
  action: RestoreAction,
  /** Why, where it is not obvious. */
  note: string | null,
  /** Lines that come back. */
  added: number,
  /** Lines that go. */
  removed: number, };

/**
 * Which state a rollback leads to (D-5).
 */
export type RestoreTarget = "before" | "after" | "revert";

/**
 * Who a message speaks for.
 */
export type Role = "user" | "assistant";

/**
 * A rule of the ledger: one act that is allowed, asked or denied.
 */
export type Rule = {
  /** Names the rule. */
  id: RuleId,
  /** What it does to a match. */
  effect: RuleEffect,
  /** What it matches. */
  matcher: RuleMatcher,
  /** For how long it holds. */
  scope: GrantScope,
  /** When it was made. */
  createdAt: string, };

/**
 * What a rule does to a match.
 */
export type RuleEffect = "deny" | "ask" | "allow";

/**
 * Names a rule of the policy, so that it can be shown and revoked.
 */
export type RuleId = string;

/**
 * What a rule matches: words and tools, never strings (decision 7 of the security plan).
 */
export type RuleMatcher = { "kind": "command_prefix",
  /** At least one word. */
  words: Array<string>, } | { "kind": "tool",
  /** The tool's name. */
  name: string, };

/**
 * What confines commands.
 */
export type SandboxBackend = "bubblewrap" | "seatbelt" | "none";

/**
 * What a command may reach.
 */
export type SandboxPolicy = { "kind": "unconfined" } | { "kind": "workspace",
  /** Whether the workspace may be written. */
  access: WorkspaceAccess,
  /** What it may reach on the network. */
  network: NetworkAccess, };

/**
 * What confines commands on this machine, as it really is (Z-55).
 */
export type SandboxState = {
  /** What does it. */
  backend: SandboxBackend,
  /** Whether the self-test showed that it holds. */
  enforced: boolean,
  /** In one sentence: what is enforced, or why not and what to do. */
  reason: string, };

/**
 * A secret text. It can be received from the window, but never sent to it.
 */
export type Secret = string;

/**
 * Who wrote a user text; absent means the human.
 */
export type Sender = "user" | "parent_agent" | "harness" | "server";

/**
 * What a session is doing.
 */
export type SessionActivity = { "state": "idle" } | { "state": "working",
  /** The turn. */
  turn_id: TurnId,
  /** When it began. */
  started_at: string, } | { "state": "needs_you",
  /** The turn. */
  turn_id: TurnId,
  /** Approvals and questions that wait. */
  waiting: number,
  /** When the turn began. */
  started_at: string, } | { "state": "restoring" } | { "state": "failed",
  /** What happened. */
  message: string, };

/**
 * `session.answer_question`: an empty list declines.
 */
export type SessionAnswerParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The question. */
  questionId: QuestionId,
  /** What the user chose or typed. */
  answers: Array<string>, };

/**
 * `session.create`.
 */
export type SessionCreateParams = {
  /** Where it works. */
  workspaceId: WorkspaceId,
  /** The model; absent takes the default. */
  model?: ModelRef | null,
  /** The mode; absent takes the default. `auto` is asked for natively. */
  mode?: Mode | null, };

/**
 * `session.history`: a page of messages before a place.
 */
export type SessionHistoryParams = {
  /** Which session. */
  sessionId: SessionId,
  /** Messages with a smaller `seq` than this. */
  before: number,
  /** At most so many, 1 … 500. */
  limit: number, };

/**
 * Names a conversation. Lower-case letters, digits and dashes, so that it can be a file name.
 */
export type SessionId = string;

/**
 * What a model context was started with (P-6).
 */
export type SessionMeta = {
  /** The session. */
  session_id: SessionId,
  /** The provider's name; with `model_id` the identity of the model (P-56). */
  provider: string,
  /** The model's id at that provider. */
  model_id: string,
  /** The context window in tokens. */
  model_context_window: ContextWindow,
  /** The fully assembled system prompt. */
  system_prompt: string,
  /** Absolute path of the agent's own folder. */
  agent_state: string,
  /** Absolute path of the workspace. */
  workspace: string,
  /** Who created the session; absent when the user did. */
  source?: SessionSource, };

/**
 * Any command that names only a session.
 */
export type SessionParams = {
  /** Which. */
  sessionId: SessionId, };

/**
 * `session.rename`.
 */
export type SessionRenameParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The title, 1 … 200 characters. */
  title: string, };

/**
 * `session.set_mode`. To `auto` a native dialog asks.
 */
export type SessionSetModeParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The mode. */
  mode: Mode, };

/**
 * `session.set_model`: holds from the next turn on (D-1).
 */
export type SessionSetModelParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The model. */
  model: ModelRef, };

/**
 * Who created a session, where it was not the user.
 */
export type SessionSource = "subagent" | "schedule";

/**
 * `session.start_turn`: starts a turn, or queues the text while one runs.
 */
export type SessionStartTurnParams = {
  /** Which session. */
  sessionId: SessionId,
  /** What the user typed. */
  text: string, };

/**
 * `session.stop_command`: ends one running tool call.
 */
export type SessionStopCommandParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The call. */
  toolCallId: ToolCallId, };

/**
 * A session as a list shows it.
 */
export type SessionSummary = {
  /** Names it. */
  id: SessionId,
  /** Its workspace. */
  workspaceId: WorkspaceId,
  /** Its title. */
  title: string,
  /** The model; absent until one is chosen. */
  model: ModelRef | null,
  /** The mode. */
  mode: Mode,
  /** What it is doing. */
  activity: SessionActivity,
  /** When it was made. */
  createdAt: string,
  /** When something last happened in it. */
  lastActiveAt: string,
  /** Turns so far. */
  turns: number,
  /** Tokens so far. */
  usage: TokenUsage, };

/**
 * `session.unqueue`: takes a waiting text back.
 */
export type SessionUnqueueParams = {
  /** Which session. */
  sessionId: SessionId,
  /** The waiting text. */
  queuedId: string, };

/**
 * All that a window needs to show a session: its last page and what is open now.
 */
export type SessionView = {
  /** The session. */
  summary: SessionSummary,
  /** The last page of its history. */
  page: HistoryPage,
  /** All its turns that the snapshot store knows, oldest first. */
  turns: Array<TurnRecord>,
  /** All its restores, oldest first. */
  restores: Array<RestoreRecord>,
  /** What waits for the user. */
  pending: Array<ApprovalRequest>,
  /** Questions of the model that wait. */
  questions: Array<PendingQuestion>,
  /** The model's task list. */
  todos: Array<TodoItem>,
  /** What confines its commands. */
  sandbox: SandboxState,
  /** Messages typed while a turn runs, to be sent next, in order. */
  queue: Array<QueuedInput>,
  /** Tool calls that were waiting when the app ended; to be resumed or discarded (Z-66). */
  interruptedCalls: Array<ToolCallId>, };

/**
 * The user's settings. Unknown fields of a newer version are kept in the file.
 */
export type Settings = {
  /** The colours of the window. */
  theme: Theme,
  /** Text size, 0.9 … 2.0. */
  textScale: number,
  /** The mode of a new session. `auto` can't be a default. */
  defaultMode: Mode,
  /** The model of a new session. */
  defaultModel: ModelRef | null,
  /** How shell commands are treated. */
  shellPolicy: ShellPolicy,
  /** Whether every approval goes through the native dialog (D-6). */
  nativeApprovals: boolean,
  /** Where turns are captured (D-2). */
  snapshots: SnapshotMode,
  /** The most model requests in one turn (Z-8). */
  maxIterations: number,
  /** Milliseconds of silence after which a model request is ended (P-50); 0 for never. */
  modelIdleTimeoutMs: number,
  /** How diffs are laid out. */
  diffLayout: DiffLayout, };

/**
 * `settings.save`.
 */
export type SettingsSaveParams = {
  /** All settings as they are to be. */
  settings: Settings, };

/**
 * How shell commands are treated (Z-49, D-7).
 */
export type ShellPolicy = "approve" | "sandbox" | "workspace" | "all";

/**
 * A path that a capture left out.
 */
export type SkippedPath = {
  /** The path. */
  path: string,
  /** Why, for a person. */
  reason: string, };

/**
 * One capture of the workspace. A failed capture is shown as such (promise 2).
 */
export type SnapshotEvent = {
  /** The turn. */
  turn_id: TurnId,
  /** Before or after the turn's work. */
  side: SnapshotSide,
  /** The state that was captured; absent when the capture failed or is off. */
  snapshot_id?: SnapshotId,
  /** How much of the workspace it covers. */
  completeness: Completeness,
  /** What changed in the turn; on the `after` side only. */
  changes?: ChangeSummary,
  /** How long the capture took. */
  duration_ms: number, };

/**
 * Names a captured state of the workspace: the hex object id of its tree.
 */
export type SnapshotId = string;

/**
 * Where turns are captured (D-2).
 */
export type SnapshotMode = "off" | "shadow";

/**
 * Which side of a turn was captured (D-4).
 */
export type SnapshotSide = "before" | "after";

/**
 * Which of a turn's changes still stand.
 */
export type Standing = { "state": "active" } | { "state": "partly",
  /** How many paths were rolled back. */
  rolled_back: number, } | { "state": "rolled_back" };

/**
 * How a part or a whole ended (P-22).
 */
export type StopReason = "completed" | "failed" | "aborted" | "timeout" | "malformed" | "auth";

/**
 * One message with its place in the trace.
 */
export type StoredMessage = {
  /** Place in the session, from 1, without gaps. */
  seq: number,
  /** The message. */
  message: Message, };

/**
 * `session.unsubscribe`: ends a stream; one that is over already is fine.
 */
export type SubscriptionParams = {
  /** What `session.subscribe` returned. */
  id: number, };

/**
 * Names a command that goes on in the background: `proc-` and 8 hex digits (P-81).
 */
export type TaskId = string;

/**
 * `terminal.ack`: so many bytes were drawn.
 */
export type TerminalAckParams = {
  /** Which. */
  terminalId: TerminalId,
  /** Bytes since the last acknowledgement. */
  bytes: number, };

/**
 * Names a terminal of the window.
 */
export type TerminalId = string;

/**
 * `terminal.open`.
 */
export type TerminalOpenParams = {
  /** Where. */
  workspaceId: WorkspaceId,
  /** How large. */
  size: TerminalSize, };

/**
 * Any command that names only a terminal.
 */
export type TerminalParams = {
  /** Which. */
  terminalId: TerminalId, };

/**
 * `terminal.resize`.
 */
export type TerminalResizeParams = {
  /** Which. */
  terminalId: TerminalId,
  /** How large. */
  size: TerminalSize, };

/**
 * The size of a terminal in cells: 1 … 1000 each.
 */
export type TerminalSize = {
  /** Columns. */
  cols: number,
  /** Rows. */
  rows: number, };

/**
 * Whether a terminal's shell runs.
 */
export type TerminalState = { "state": "running" } | { "state": "exited",
  /** Its exit code, where it had one. */
  code: number | null, };

/**
 * A terminal.
 */
export type TerminalSummary = {
  /** Names it. */
  id: TerminalId,
  /** The workspace that it was opened in. */
  workspaceId: WorkspaceId,
  /** The shell's name, such as `bash`. */
  title: string,
  /** Whether the shell still runs. */
  state: TerminalState, };

/**
 * `terminal.write`: what the user typed or pasted.
 */
export type TerminalWriteParams = {
  /** Which. */
  terminalId: TerminalId,
  /** UTF-8 text; control characters as they are. */
  data: string, };

/**
 * A text of the user or the model (P-7).
 */
export type Text = {
  /** Who it speaks for. */
  role: Role,
  /** The text. */
  text: string,
  /** Who wrote it, on the user's side; absent means the human. */
  sender?: Sender,
  /** Opaque data of the provider. */
  fidelity?: Fidelity,
  /** How it ended; absent on user texts. */
  stop_reason?: StopReason,
  /**
  * What the blocks are that the text begins with, in order, said by whoever made the message; empty when it
  * begins with none. Only this is shown as a marker: a look-alike in the text is text (P-31).
  */
  markers?: Array<Marker>, };

/**
 * The colours of the window.
 */
export type Theme = "system" | "light" | "dark" | "hc_light" | "hc_dark";

/**
 * Reasoning of the model; may be empty when it only carries opaque data (P-8).
 */
export type Thinking = {
  /** Always `assistant`. */
  role: Role,
  /** The reasoning. */
  thinking: string,
  /** Opaque data of the provider. */
  fidelity?: Fidelity,
  /** How it ended. */
  stop_reason?: StopReason, };

/**
 * How deep a model reasons (P-60).
 */
export type ThinkingLevel = "none" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * Who named a session.
 */
export type TitleSource = "auto" | "user";

/**
 * One task of the model's own list (Z-42).
 */
export type TodoItem = {
  /** Names the task within the list. */
  id: string,
  /** What is to do. */
  text: string,
  /** How far it is. */
  status: TodoStatus, };

/**
 * How far a task is.
 */
export type TodoStatus = "pending" | "in_progress" | "done";

/**
 * Tokens (P-19, P-53). `total` is the sum of the other three.
 */
export type TokenUsage = {
  /** Prompt tokens from the provider's cache. */
  cache_read: number,
  /** The remaining prompt tokens. */
  cache_write: number,
  /** Reasoning and response tokens. */
  output: number,
  /** Their sum. */
  total: number, };

/**
 * A complete tool call (P-9).
 */
export type ToolCall = {
  /** Always `assistant`. */
  role: Role,
  /** The tool's name. */
  name: string,
  /** The arguments as JSON text, exactly as the model sent them. */
  arguments: string,
  /** Names the call. */
  tool_call_id: ToolCallId,
  /** Opaque data of the provider. */
  fidelity?: Fidelity,
  /** How it ended. Only a completed call may run. */
  stop_reason?: StopReason, };

/**
 * Names one tool call; unique within its session (P-54).
 */
export type ToolCallId = string;

/**
 * What a tool call gave (P-9).
 */
export type ToolCallOutput = {
  /** Always `user`. */
  role: Role,
  /** What the model reads. */
  output: string,
  /** Images as `data:` URLs. */
  images?: Array<string>,
  /** The call that it belongs to. */
  tool_call_id: ToolCallId,
  /** How it ended. */
  stop_reason?: StopReason,
  /** Facts for the window that the model does not read: exit code, counts, duration. */
  details?: ToolDetails, };

/**
 * What a tool may do at most (Z-28). The policy decides by it.
 */
export type ToolClass = "read" | "write_local" | "execute" | "external" | "interactive" | "state";

/**
 * A tool as the model is offered it (P-15, P-68).
 */
export type ToolDefinition = {
  /** The name: letters, digits, `_` and `-`. */
  name: string,
  /** What the model reads about it. */
  description: string,
  /** JSON Schema of the arguments: an object without `$ref`. */
  parameters?: unknown, };

/**
 * Facts about a finished call for the window; the model does not read them.
 */
export type ToolDetails = {
  /** How long it ran. */
  duration_ms: number,
  /** The exit code of its command. */
  exit_code?: number,
  /** A short count for the card, such as `312 lines` or `14 matches`. */
  summary?: string,
  /** The files that it changed. */
  edits?: Array<FileEdit>,
  /** The background command that it started. */
  task_id?: TaskId,
  /** Whether the command was really confined. */
  confined?: boolean,
  /** Where the whole output was kept, when it was too long for the model. */
  archive?: string, };

/**
 * What changed in a turn.
 */
export type TurnChanges = {
  /** The turn. */
  turn: TurnRecord,
  /** Each path, sorted. */
  files: Array<ChangedFile>,
  /** What was not captured, with the reason. */
  skipped: Array<SkippedPath>, };

/**
 * Names one turn: one user input and all that it caused. Unique within its session.
 */
export type TurnId = string;

/**
 * One turn as the snapshot store knows it: the data of a stone.
 */
export type TurnRecord = {
  /** The turn. */
  turnId: TurnId,
  /** Its number in the session, from 1. */
  number: number,
  /** The state before it; absent when the capture failed. */
  before: SnapshotId | null,
  /** The state after it; absent while it is open, or when the capture failed. */
  after: SnapshotId | null,
  /** Open, closed, or left open by a crash. */
  state: TurnState,
  /** How much of the workspace was captured. */
  completeness: Completeness,
  /** What changed. */
  summary: ChangeSummary,
  /** Which of its changes are still in the workspace. */
  standing: Standing,
  /** When it began. */
  startedAt: string,
  /** When it was closed. */
  endedAt: string | null, };

/**
 * Whether a turn was closed.
 */
export type TurnState = "open" | "closed" | "crashed";

/**
 * How a turn ended (Z-60).
 */
export type TurnStatus = "completed" | "max_iterations_exceeded" | "interrupted" | "error";

/**
 * The word `unknown`.
 */
export type UnknownWord = "unknown";

/**
 * What is to happen to a call.
 */
export type Verdict = "allow" | { "ask": AskClass } | "deny" | "forbidden";

/**
 * How a provider is spoken to.
 */
export type WireApi = "chat" | "responses" | "anthropic" | "gemini" | "script";

/**
 * Whether a confined command may write the workspace.
 */
export type WorkspaceAccess = "read" | "write";

/**
 * Names a folder that the user picked.
 */
export type WorkspaceId = string;

/**
 * `workspace.forget`: takes a workspace off the list. Files and sessions stay.
 */
export type WorkspaceParams = {
  /** Which. */
  workspaceId: WorkspaceId, };

/**
 * A folder that the user picked.
 */
export type WorkspaceSummary = {
  /** Names it. */
  id: WorkspaceId,
  /** Its last path component, for display. */
  name: string,
  /** Absolute, canonical. */
  path: string,
  /** When it was last used. */
  lastUsedAt: string,
  /** Whether the folder is there now. */
  present: boolean, };
