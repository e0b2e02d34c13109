/**
 * The one interface to the shell: every command and every stream of the window, by resource and verb.
 *
 * It knows no transport. `tauri.ts` speaks to the real shell, `scripted.ts` plays it for tests and for `npm run dev`.
 * Features reach it through `state/shell.ts`.
 */
import type * as P from "../protocol";

/** What a command rejects with: an `ErrorInfo` that can be thrown. Decide by `code`, never by text. */
export class ShellError extends Error implements P.ErrorInfo {
  readonly code: P.ErrorCode;

  constructor(info: P.ErrorInfo) {
    super(info.message);
    this.name = "ShellError";
    this.code = info.code;
  }
}

/** Ends a subscription. Safe to call twice. */
export type Unsubscribe = () => void;

/** What came of an answer: false when the user said no in the system's dialog and it still waits. */
export interface Applied {
  applied: boolean;
}

/** What a terminal sends: raw bytes, then its end. */
export type TerminalChunk = { kind: "bytes"; bytes: Uint8Array } | { kind: "exited" };

export interface Backend {
  app: {
    state(): Promise<P.AppState>;
    /** Events of the app in order, in batches. */
    subscribe(listener: (events: readonly P.AppEvent[]) => void): Promise<Unsubscribe>;
    openLink(params: P.OpenLinkParams): Promise<void>;
    /** The first view is drawn: the window may be shown. */
    ready(): Promise<void>;
  };
  workspace: {
    /** Opens the system's folder dialog; null when it was closed. */
    pick(): Promise<P.WorkspaceSummary | null>;
    forget(params: P.WorkspaceParams): Promise<void>;
    /** Makes the sample workspace and a session with the built-in script. */
    startTour(): Promise<P.SessionView>;
  };
  session: {
    create(params: P.SessionCreateParams): Promise<P.SessionView>;
    open(params: P.SessionParams): Promise<P.SessionView>;
    history(params: P.SessionHistoryParams): Promise<P.HistoryPage>;
    /** The feed of a session in order, at most one batch a frame. */
    subscribe(params: P.SessionParams, listener: (items: readonly P.FeedItem[]) => void): Promise<Unsubscribe>;
    startTurn(params: P.SessionStartTurnParams): Promise<void>;
    /** Takes a waiting text back and returns it. */
    unqueue(params: P.SessionUnqueueParams): Promise<string>;
    interrupt(params: P.SessionParams): Promise<void>;
    stopCommand(params: P.SessionStopCommandParams): Promise<void>;
    /** Ends the wait before the next attempt of a model request. */
    retryNow(params: P.SessionParams): Promise<void>;
    /** Returns the mode that holds now. */
    setMode(params: P.SessionSetModeParams): Promise<P.Mode>;
    setModel(params: P.SessionSetModelParams): Promise<void>;
    rename(params: P.SessionRenameParams): Promise<void>;
    /** Asks in the system's dialog first. */
    delete(params: P.SessionParams): Promise<void>;
    answerQuestion(params: P.SessionAnswerParams): Promise<void>;
  };
  approval: {
    answer(params: P.ApprovalAnswerParams): Promise<Applied>;
  };
  changes: {
    list(params: P.ChangesListParams): Promise<P.TurnChanges>;
    diff(params: P.ChangesDiffParams): Promise<P.FileDiff>;
    plan(params: P.ChangesPlanParams): Promise<P.RestorePlan>;
    restore(params: P.ChangesRestoreParams): Promise<P.RestoreReport>;
    bringBack(params: P.ChangesBringBackParams): Promise<P.RestoreReport>;
  };
  terminal: {
    list(): Promise<P.TerminalSummary[]>;
    open(params: P.TerminalOpenParams): Promise<P.TerminalSummary>;
    /** Replays what is on the screen, then streams. Every byte must be acknowledged once it is drawn. */
    attach(params: P.TerminalParams, listener: (chunk: TerminalChunk) => void): Promise<Unsubscribe>;
    write(params: P.TerminalWriteParams): Promise<void>;
    ack(params: P.TerminalAckParams): Promise<void>;
    resize(params: P.TerminalResizeParams): Promise<void>;
    close(params: P.TerminalParams): Promise<void>;
  };
  provider: {
    test(params: { draft: P.ProviderDraft }): Promise<P.ConnectionTest>;
    save(params: { draft: P.ProviderDraft }): Promise<P.KeySource>;
    delete(params: P.ProviderParams): Promise<void>;
  };
  settings: {
    /** Returns what now holds. */
    save(params: { settings: P.Settings }): Promise<P.Settings>;
  };
}
