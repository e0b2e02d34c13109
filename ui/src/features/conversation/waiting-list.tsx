/** Requests that wait behind the open card, one line each. */
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { ApprovalRequest } from "../../protocol";
import { useNavigation } from "../../state/navigation";
import { text } from "../../text/en";
import { approvalTitle, shownPath } from "./approval-content";
import { Lane } from "./lane";

const words = text.conversation.approval;

export function WaitingList({ requests }: { requests: readonly ApprovalRequest[] }) {
  const showApproval = useNavigation((navigation) => navigation.showApproval);
  return (
    <Lane dashed>
      <p className="note">{words.more(requests.length)}</p>
      {requests.map((request, i) => (
        <div key={request.approval_id} className={`step ${i === 0 ? "is-first" : ""} ${i === requests.length - 1 ? "is-last" : ""}`}>
          <div className="step-head">
            <button
              type="button"
              className="step-open"
              aria-label={words.open(approvalTitle(request))}
              onClick={() => showApproval(request.approval_id)}
            >
              <StateSign name="attention" />
              <span className="verb">{approvalTitle(request)}</span>
              <span className="what cut grow">{summary(request)}</span>
              <Icon name="right" className="muted" />
            </button>
          </div>
        </div>
      ))}
    </Lane>
  );
}

function summary(request: ApprovalRequest): string {
  const { command, writes, title } = request.effects;
  if (command) return command.command.split("\n").join(" ⏎ ");
  return writes.length > 1 ? writes.map(shownPath).join(", ") : writes.length === 1 ? "" : title;
}
