/**
 * Asks the user about one call: the whole record for reading, and the answers.
 *
 * Deny and a confined Allow once are sent from here. What widens is decided in the system's dialog that the shell
 * raises from the same record; the window sign says so. Which cards exist is decided in `rows.ts`.
 */
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { ApprovalAnswer, ApprovalRequest } from "../../protocol";
import { useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { useSession } from "../../state/session-store";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { ApprovalContent, approvalTitle } from "./approval-content";
import { ApprovalFacts } from "./approval-facts";
import { Lane } from "./lane";
import { useArmed } from "./use-armed";

const words = text.conversation.approval;

export interface ApprovalCardProps {
  request: ApprovalRequest;
  index: number;
  count: number;
}

/** `sent` until the shell has answered; `declined` when the user said no in the dialog and it still waits. */
type Sending = "no" | "sent" | "declined";

export function ApprovalCard({ request, index, count }: ApprovalCardProps) {
  const card = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const armed = useArmed(request.approval_id, end);
  const [sending, setSending] = useState<Sending>("no");
  const [denying, setDenying] = useState(false);
  const native = useApp((app) => app.state?.settings.nativeApprovals ?? false) || request.class === "widening";
  useTakeFocus(card);

  const answer = useCallback(
    async (given: ApprovalAnswer) => {
      setSending("sent");
      const { approval_id: approvalId, session_id: sessionId, digest } = request;
      let applied = true;
      const worked = await attempt("session", async () => {
        ({ applied } = await shell().approval.answer({ sessionId, approvalId, digest, answer: given }));
      });
      if (!worked) setSending("no");
      else if (!applied) setSending("declined");
    },
    [request],
  );
  const allow = () => {
    if (armed && sending !== "sent") void answer({ kind: "allow_once" });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== card.current || sending === "sent" || event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.altKey) allow();
    else if (event.key === "Escape") void answer({ kind: "deny", reason: "" });
    else if (event.key === "ArrowDown") stepApproval(1);
    else if (event.key === "ArrowUp") stepApproval(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const title = approvalTitle(request);
  return (
    <Lane dashed>
      {/* The card itself takes the focus, so that Enter and Esc answer it and no button is under the finger. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <article ref={card} className="card" tabIndex={0} aria-label={words.label(title)} data-approval={request.approval_id} onKeyDown={onKeyDown}>
        <CardHead request={request} title={title} index={index} count={count} />
        <ApprovalContent request={request} />
        <ApprovalFacts request={request} />
        <div ref={end} style={{ height: 1 }} />
        <Acts
          armed={armed}
          native={native}
          sending={sending}
          canAlways={request.always !== undefined}
          onAllow={allow}
          onAnswer={answer}
          onDeny={() => setDenying(!denying)}
        />
        {denying ? <Reason disabled={sending === "sent"} onAnswer={answer} onBack={() => setDenying(false)} /> : null}
      </article>
    </Lane>
  );
}

/** Takes the focus, once, when the user is not in the middle of writing something. Each request has a card of its own. */
function useTakeFocus(card: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const active = document.activeElement;
    const writing = (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) && active.value !== "";
    const elsewhere = active instanceof HTMLElement && active.closest(".xterm, .dialog, .card, [role=menu]") !== null;
    if (!writing && !elsewhere) card.current?.focus({ preventScroll: true });
  }, [card]);
}

/** Shows the next or the previous request that waits. */
export function stepApproval(step: 1 | -1): void {
  const pending = useSession.getState().state?.pending ?? [];
  const { shownApproval, showApproval } = useNavigation.getState();
  const at = Math.max(0, pending.findIndex((one) => one.approval_id === shownApproval));
  const next = pending[(at + step + pending.length) % pending.length];
  if (next) showApproval(next.approval_id);
}

function CardHead({ request, title, index, count }: { request: ApprovalRequest; title: string; index: number; count: number }) {
  const { writes } = request.effects;
  const added = writes.reduce((sum, write) => sum + write.added, 0);
  const removed = writes.reduce((sum, write) => sum + write.removed, 0);
  return (
    <header>
      <StateSign name="attention" />
      <b>{title}</b>
      {writes.length > 0 ? (
        <span className="num small">
          <span className="add">{words.added(added)}</span> <span className="del">{words.removed(removed)}</span>
        </span>
      ) : null}
      {request.class === "widening" ? (
        <span className="text2 small flex">
          <Icon name="window" />
          {words.widens}
        </span>
      ) : null}
      <span className="grow" />
      {count > 1 ? <span className="muted small num">{words.place(index + 1, count)}</span> : null}
      {count > 1 ? <kbd>Ctrl .</kbd> : null}
    </header>
  );
}

interface ActsProps {
  armed: boolean;
  native: boolean;
  sending: Sending;
  canAlways: boolean;
  onAllow: () => void;
  onAnswer: (answer: ApprovalAnswer) => Promise<void>;
  onDeny: () => void;
}

function Acts({ armed, native, sending, canAlways, onAllow, onAnswer, onDeny }: ActsProps) {
  const busy = sending === "sent";
  return (
    <div className="acts">
      <Button tone="primary" icon={native ? "window" : undefined} keyCap="Enter" disabled={busy || !armed} onClick={onAllow}>
        {words.allowOnce}
        {native ? "…" : ""}
      </Button>
      {canAlways ? (
        <>
          <Button icon="window" disabled={busy || !armed} onClick={() => void onAnswer({ kind: "always", scope: "session" })}>
            {words.allowSession}
          </Button>
          <Button icon="window" disabled={busy || !armed} onClick={() => void onAnswer({ kind: "always", scope: "workspace" })}>
            {words.allowAlways}
          </Button>
        </>
      ) : null}
      <span className="small text2" role="status">
        {busy && native ? words.decideThere : sending === "declined" ? words.declined : ""}
      </span>
      <span className="grow" />
      <Button tone="danger" keyCap="Esc" disabled={busy} onClick={onDeny}>
        {words.deny}
      </Button>
    </div>
  );
}

interface ReasonProps {
  disabled: boolean;
  onAnswer: (answer: ApprovalAnswer) => Promise<void>;
  onBack: () => void;
}

function Reason({ disabled, onAnswer, onBack }: ReasonProps) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const deny = () => void onAnswer({ kind: "deny", reason: reason.trim() });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") deny();
    else if (event.key === "Escape") onBack();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="acts reason">
      <label className="small text2 nowrap" htmlFor="deny-reason">
        {words.reasonLabel}
      </label>
      <input
        id="deny-reason"
        ref={field}
        className="input grow"
        style={{ width: "auto" }}
        value={reason}
        placeholder={words.reasonHint}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button tone="danger" disabled={disabled} onClick={deny}>
        {words.denyNow}
      </Button>
      <Button tone="quiet" icon="stop" disabled={disabled} onClick={() => void onAnswer({ kind: "stop" })}>
        {words.stop}
      </Button>
    </div>
  );
}
