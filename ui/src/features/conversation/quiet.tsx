/** A quiet line beside the conversation, with more to read when it is opened. */
import { useState } from "react";

import { Icon } from "../../components/icon";
import type { IconName } from "../../components/icons";

export function Quiet({ icon, detail = "", children }: { icon: IconName; detail?: string; children: string }) {
  const [shown, setShown] = useState(false);
  if (detail === "") {
    return (
      <div className="note">
        <Icon name={icon} />
        <span>{children}</span>
      </div>
    );
  }
  return (
    <>
      <button type="button" className="note thought" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name={icon} />
        <span>{children}</span>
        <Icon name={shown ? "down" : "right"} />
      </button>
      {shown ? <div className="thinking">{detail}</div> : null}
    </>
  );
}
