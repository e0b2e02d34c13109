/** Why a turn did not complete, and the one act that helps. */
import { memo } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import type { ErrorInfo } from "../../protocol";
import { send } from "../../state/actions";
import { useNavigation } from "../../state/navigation";
import { useSession } from "../../state/session-store";
import type { TurnBlock } from "../../state/timeline";
import { text } from "../../text/en";
import { Lane } from "./lane";

const words = text.conversation.ending;

export const EndingRow = memo(function EndingRow({ turn }: { turn: TurnBlock }) {
  return <Lane>{turn.ending ? <Body turn={turn} /> : null}</Lane>;
});

function Body({ turn }: { turn: TurnBlock }) {
  const { ending, abortReason } = turn;
  if (!ending) return null;
  switch (ending.status) {
    case "completed":
      return ending.error ? <ErrorBanner error={ending.error} /> : null;
    case "error":
      return <ErrorBanner error={ending.error ?? { code: "internal", message: words.error }} />;
    case "max_iterations_exceeded":
      return (
        <div className="banner" role="note">
          <Icon name="clock" className="muted" />
          <div className="grow">
            <b>{words.capped(ending.iterations)}</b> <span className="text2">{words.cappedMore}</span>
          </div>
          <GoOn />
        </div>
      );
    case "interrupted":
      return (
        <div className="note">
          <Icon name="stop" />
          <span>{ending.error?.message ?? abortReason ?? words.interrupted}</span>
        </div>
      );
  }
}

function ErrorBanner({ error }: { error: ErrorInfo }) {
  return (
    <div className="banner danger" role="note">
      <Icon name={error.code === "auth" ? "key" : "warn"} />
      <div className="grow selectable">{error.message}</div>
      <ErrorAct error={error} />
    </div>
  );
}

/** One act an error. */
function ErrorAct({ error }: { error: ErrorInfo }) {
  const openDialog = useNavigation((navigation) => navigation.openDialog);
  const provider = useSession((session) => session.state?.summary.model?.provider ?? null);
  switch (error.code) {
    case "auth":
      return (
        <span className="acts-in">
          <Button dense tone="primary" onClick={() => openDialog({ kind: "connect_model", name: provider })}>
            {words.replaceKey}
          </Button>
        </span>
      );
    case "no_model":
      return (
        <span className="acts-in">
          <Button dense tone="primary" onClick={() => openDialog({ kind: "connect_model", name: null })}>
            {words.connect}
          </Button>
        </span>
      );
    default:
      return <GoOn />;
  }
}

/** Sends a plain "go on" as the user; only while nothing runs. */
function GoOn() {
  const last = useSession((session) => session.state?.summary.activity.state);
  if (last !== "idle" && last !== "failed") return null;
  const goOn = () => {
    const { id } = useSession.getState();
    if (id) void send(id, words.goOnText);
  };
  return (
    <span className="acts-in">
      <Button dense onClick={goOn}>
        {words.goOn}
      </Button>
    </span>
  );
}
